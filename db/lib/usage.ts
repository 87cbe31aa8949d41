import type { Meter } from '../../config/meters.ts'
import { later, sql } from './connection.ts'
import type { AnyTrx } from './connection.ts'

/** Units that a tenant used up to `at`. */
export type Used = { tenantId: string; quantity: number; at: Date }

const recording = `with open_period as (
       select s.tenant_id, s.period_start from subscription s where s.tenant_id = any(cast(:tenantIds as uuid[])) order by s.tenant_id for share),
     fact as (
       insert into usage_event (tenant_id, meter, key, quantity, at)
       select t.id, :meter, :key, u.quantity, u.at
       from unnest(cast(:tenantIds as uuid[]), cast(:quantities as bigint[]), cast(:instants as timestamptz[])) as u (tenant_id, quantity, at)
       join tenant t on t.id = u.tenant_id order by t.id
       on conflict (tenant_id, meter, key) do nothing returning tenant_id, quantity, at)
     insert into usage_day (tenant_id, meter, day, quantity)
     select fact.tenant_id, :meter, greatest((fact.at at time zone t.time_zone)::date, coalesce(s.period_start, '-infinity')), sum(fact.quantity)
     from fact join tenant t on t.id = fact.tenant_id left join open_period s on s.tenant_id = fact.tenant_id
     group by 1, 3 order by 1, 3
     on conflict (tenant_id, meter, day) do update set quantity = usage_day.quantity + excluded.quantity
     returning tenant_id`

const bound = (meter: Meter, key: string, used: readonly Used[]) => ({
  meter,
  key,
  tenantIds: used.map((each) => each.tenantId),
  quantities: used.map((each) => each.quantity),
  instants: used.map((each) => each.at.toISOString()),
})

/**
 * Writes facts of use and adds them to the tenants' days, which are those of their own zones. A fact whose key a tenant has for the meter
 * already changes nothing, so a write whose fate is unknown may be repeated. A fact of a period that is closed counts on the first day of the present one:
 * the subscription is held, so that no period closes between. Answers how many were new.
 */
export const recordUsage = async (trx: AnyTrx, meter: Meter, key: string, used: readonly Used[]): Promise<number> =>
  (await sql(trx, recording, bound(meter, key, used))).length

/**
 * Writes a fact of use with the end of the transaction. The day of a meter is one row, which every fact of the tenant holds until its commit: a fact that is
 * written early lets the others wait for all that follows it.
 */
export const recordUsageLast = (trx: AnyTrx, meter: Meter, key: string, used: Used): void =>
  later(trx, recording, bound(meter, key, [used]))
