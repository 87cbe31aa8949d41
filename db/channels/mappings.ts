import { mostRatesPerType } from '../../config/channels.ts'
import { invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

export type MappingEntry = {
  unitTypeId: string
  /** Null maps availability alone. */
  ratePlanId: string | null
  externalUnitTypeId: string
  externalRatePlanId: string | null
  /** Signed basis points upon the plan's price. */
  modifierRate?: number | undefined
  enabled?: boolean | undefined
}
export type Mapping = Omit<MappingEntry, 'modifierRate' | 'enabled'> & { modifierRate: number; enabled: boolean }

const columns = `unit_type_id, rate_plan_id, external_unit_type_id, external_rate_plan_id, modifier_rate, enabled`

/** The set of a connection, without what was left out of it. */
export const readMappings = (trx: Trx, connectionId: string) =>
  sql<Mapping>(
    trx,
    `select ${columns} from channel_mapping where channel_connection_id = ? and left_at is null
     order by external_unit_type_id, external_rate_plan_id nulls first`,
    [connectionId],
  )

/** Number of removed mappings kept per connection, newest first. */
const mostLeft = 1_600

type Left = Mapping & { leftAt: Date | null }

/** Tells whether the channel may have received anything. A push under way counts, since its outcome is unknown. */
const mayHaveHeard = async (trx: Trx, { id, lastPushAt }: { id: string; lastPushAt: Date | null }) =>
  lastPushAt !== null ||
  (await sqlOne(trx, `select 1 as one from channel_push where channel_connection_id = ? limit 1`, [id])) !== null

const ours = (entry: MappingEntry) => `${entry.unitTypeId} ${entry.ratePlanId}`
const theirs = (entry: MappingEntry) => `${entry.externalUnitTypeId}\n${entry.externalRatePlanId}`

const judge = (entries: readonly MappingEntry[]) => {
  const field = (index: number, name: string) => `mappings.${index}.${name}`
  const errors: FieldError[] = entries.flatMap((entry, index) => {
    const before = entries.slice(0, index)
    const named = { ratePlanId: entry.ratePlanId, externalRatePlanId: entry.externalRatePlanId }
    return [
      ...((named.ratePlanId === null) === (named.externalRatePlanId === null)
        ? []
        : [{ field: field(index, 'externalRatePlanId'), message: 'stands with ratePlanId, or neither does' }]),
      ...(before.some((other) => ours(other) === ours(entry))
        ? [{ field: field(index, 'unitTypeId'), message: 'type and plan are mapped twice' }]
        : []),
      ...(before.some((other) => theirs(other) === theirs(entry))
        ? [{ field: field(index, 'externalUnitTypeId'), message: 'is mapped twice with this rate' }]
        : []),
      ...(before.some(
        (other) => other.externalUnitTypeId === entry.externalUnitTypeId && other.unitTypeId !== entry.unitTypeId,
      )
        ? [{ field: field(index, 'externalUnitTypeId'), message: 'belongs to another unit type already' }]
        : []),
      ...(before.filter((other) => other.unitTypeId === entry.unitTypeId).length >= mostRatesPerType
        ? [{ field: field(index, 'unitTypeId'), message: `has at most ${mostRatesPerType} rates` }]
        : []),
    ]
  })
  if (errors.length > 0) throw invalid(errors)
}

/** 422 for types and plans that are not the property's, not active, or not sold together. */
const refuseStrangers = async (trx: Trx, propertyId: string, entries: readonly MappingEntry[]) => {
  const known = await sqlOne<{ types: string[]; plans: string[] }>(
    trx,
    `select coalesce((select array_agg(t.id::text) from unit_type t where t.property_id = :propertyId and t.status = 'active'), '{}') as types,
       coalesce((select array_agg(r.id || ' ' || u.unit_type_id) from rate_plan r
         join rate_plan_unit_type u on u.tenant_id = r.tenant_id and u.rate_plan_id = r.id
         where r.property_id = :propertyId and r.status = 'active'), '{}') as plans`,
    { propertyId },
  )
  const [types, plans] = [new Set(known?.types), new Set(known?.plans)]
  const errors = entries.flatMap(({ unitTypeId, ratePlanId }, index): FieldError[] => {
    if (!types.has(unitTypeId)) return [{ field: `mappings.${index}.unitTypeId`, message: 'is no unit type sold here' }]
    if (ratePlanId !== null && !plans.has(`${ratePlanId} ${unitTypeId}`))
      return [{ field: `mappings.${index}.ratePlanId`, message: 'is no plan sold for this type' }]
    return []
  })
  if (errors.length > 0)
    throw unprocessable('reference_not_found', 'A mapping names what is not sold here', errors.slice(0, 50))
}

/**
 * Replaces the mappings of a connection, which is locked. What its channel was told of and that is left out is kept beside the set, disabled, for two reasons:
 * the channel must hear that it is closed, or it would go on selling it. Guests with bookings under its names may still change them, which without
 * it would wait for a person (`apply.ts`). `forgetLeft` drops it when both are over.
 */
export const replaceMappings = async (
  trx: Trx,
  connection: { id: string; propertyId: string; lastPushAt: Date | null },
  entries: readonly MappingEntry[],
): Promise<void> => {
  judge(entries)
  const stored = await sql<Left>(
    trx,
    `select ${columns}, left_at from channel_mapping where channel_connection_id = ? order by left_at desc nulls first`,
    [connection.id],
  )
  // A mapping kept as it was may name a type or plan that is not sold any more.
  const known = new Set(stored.filter((one) => one.leftAt === null).map(ours))
  const fresh = entries.map((entry) => (known.has(ours(entry)) ? null : entry))
  await refuseStrangers(
    trx,
    connection.propertyId,
    fresh.filter((entry) => entry !== null),
  )
  const named = new Set(entries.map(theirs))
  // A room of theirs is one type of ours, also by its rates of before: its nights are told once.
  const meant = new Map(entries.map((entry) => [entry.externalUnitTypeId, entry.unitTypeId]))
  const left = (await mayHaveHeard(trx, connection)) ? stored.filter((one) => !named.has(theirs(one))) : []
  const kept = left.slice(0, mostLeft).map((one) => ({
    ...one,
    unitTypeId: meant.get(one.externalUnitTypeId) ?? one.unitTypeId,
    enabled: false,
    isLeft: true,
  }))
  await sql(trx, `delete from channel_mapping where channel_connection_id = ?`, [connection.id])
  await sql(
    trx,
    `insert into channel_mapping (channel_connection_id, unit_type_id, rate_plan_id, external_unit_type_id, external_rate_plan_id, modifier_rate, enabled, left_at)
     select ?::uuid, m."unitTypeId", m."ratePlanId", m."externalUnitTypeId", m."externalRatePlanId", coalesce(m."modifierRate", 0), coalesce(m.enabled, true),
       case when m."isLeft" then coalesce(m."leftAt", now()) end
     from jsonb_to_recordset(?::jsonb) as m ("unitTypeId" uuid, "ratePlanId" uuid, "externalUnitTypeId" text, "externalRatePlanId" text,
       "modifierRate" int, enabled boolean, "isLeft" boolean, "leftAt" timestamptz)`,
    [connection.id, JSON.stringify([...entries, ...kept])],
  )
}

/** So long after it was left out whatever was sold by a mapping meanwhile has come, and the channel has heard that it is closed. */
const settlingDays = 7

/**
 * Drops removed mappings of a connection that are no longer needed: the channel took everything that was to be said of that time, and
 * no booking that it made by then is still to come or in the house, or waits to be applied.
 */
export const forgetLeft = (trx: Trx, connectionId: string) =>
  sql(
    trx,
    `with settled as (
       select m.id, m.left_at + make_interval(days => :days) as at from channel_mapping m
       join channel_connection c on c.tenant_id = m.tenant_id and c.id = m.channel_connection_id
       where c.id = :connectionId and m.left_at is not null and c.last_push_at >= m.left_at + make_interval(days => :days))
     delete from channel_mapping where id in (
       select s.id from settled s
       where not exists (select from channel_dirty d where d.channel_connection_id = :connectionId and d.changed_at < s.at)
         and not exists (select from channel_booking n where n.channel_connection_id = :connectionId
           and n.status in ('received', 'needs_mapping', 'failed') and n.created_at < s.at)
         and not exists (select from booking b join reservation r on r.tenant_id = b.tenant_id and r.booking_id = b.id
           where b.channel_connection_id = :connectionId and b.created_at < s.at and r.status in ('held', 'confirmed', 'checked_in')))`,
    { connectionId, days: settlingDays },
  )
