import { inventoryDriftRepaired } from '../../config/events/units.ts'
import { mostNights } from '../../config/events/event.ts'
import { addDays, daysBetween } from '../../config/time.ts'
import { logOf, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import { requestMarks } from '../lib/channel-marks.ts'
import { freeOf, lockPoolNights, writePoolNights } from './inventory.ts'
import type { PoolNight } from './rules/availability.ts'
import { presentDay } from './state.ts'

const nightsAtOnce = 31

/** Properties that have counters, of every tenant; by id, beyond `after`. */
export const propertiesWithCounters = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string; propertyId: string }>(
    trx,
    `select tenant_id, property_id from properties_with_counters(?, ?)`,
    [after, most],
  )

/** The stretches of a property's nights from its business date on (past ones stay as they were sold), each short enough for one transaction. */
export const recountRange = async (trx: Trx, propertyId: string): Promise<{ from: string; until: string }[]> => {
  const range = await sqlOne<{ first: string | null; last: string | null }>(
    trx,
    `select min(n.night) as first, max(n.night) as last from pool_night n
     join unit_pool p on p.tenant_id = n.tenant_id and p.id = n.pool_id
     join property y on y.tenant_id = p.tenant_id and y.id = p.property_id
     where p.property_id = ? and n.night >= ${presentDay('y')}`,
    [propertyId],
  )
  if (!range?.first || !range.last) return []
  const end = addDays(range.last, 1)
  const start = range.first
  return Array.from({ length: Math.ceil(daysBetween(start, end) / nightsAtOnce) }, (_, index) => {
    const from = addDays(start, index * nightsAtOnce)
    const until = addDays(from, nightsAtOnce)
    return { from, until: until < end ? until : end }
  })
}

type Counted = Pick<PoolNight, 'poolId' | 'night' | 'capacity' | 'sold' | 'held' | 'allotted' | 'blocked'>

/** Counts the records that the counters stand for, without locks: nights, days of limited extras, rooms of groups, units and blocks. */
export const countNights = (trx: Trx, propertyId: string, from: string, until: string) =>
  sql<Counted>(
    trx,
    `with day as (
       select p.tenant_id, p.id as pool_id, p.kind, n.night from unit_pool p
       join pool_night n on n.tenant_id = p.tenant_id and n.pool_id = p.id and n.night >= cast(:from as date) and n.night < cast(:until as date)
       where p.property_id = :propertyId),
     taken as (
       select s.unit_pool_id as pool_id, n.date as night, s.quantity, r.status = 'held' as held
       from reservation r
       join reservation_night n on n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status <> 'released'
         and n.date >= cast(:from as date) and n.date < cast(:until as date)
       join unit_type_pool s on s.tenant_id = n.tenant_id and s.unit_type_id = n.unit_type_id
       where r.property_id = :propertyId
       union all
       select e.pool_id, d.day::date, x.quantity, r.status = 'held'
       from reservation r
       join reservation_extra x on x.tenant_id = r.tenant_id and x.reservation_id = r.id and x.status = 'active'
       join extra e on e.tenant_id = x.tenant_id and e.id = x.extra_id and e.pool_id is not null
       cross join lateral generate_series(x."from"::timestamp, x."until"::timestamp, interval '1 day') as d (day)
       where r.property_id = :propertyId and r.status in ('held', 'confirmed', 'checked_in', 'checked_out')
         and d.day >= cast(:from as timestamp) and d.day < cast(:until as timestamp)),
     sums as (
       select pool_id, night, sum(quantity) filter (where held)::int as held, sum(quantity) filter (where not held)::int as sold from taken group by pool_id, night)
     select d.pool_id, d.night, coalesce(s.held, 0) as held, coalesce(s.sold, 0) as sold,
       (select coalesce(sum((x.allotted - x.picked_up) * u.quantity), 0)::int from unit_type_pool u
        join booking_group_night x on x.tenant_id = u.tenant_id and x.unit_type_id = u.unit_type_id and x.night = d.night
        join booking_group g on g.tenant_id = x.tenant_id and g.id = x.group_id and g.status in ('optional', 'confirmed')
        where u.tenant_id = d.tenant_id and u.unit_pool_id = d.pool_id) as allotted,
       case d.kind
         when 'unit' then (select count(*)::int from unit u where u.tenant_id = d.tenant_id and u.unit_pool_id = d.pool_id and u.status = 'active'
           and u.active_from <= d.night and (u.active_until is null or u.active_until > d.night))
         else coalesce((select e.daily_limit from extra e where e.tenant_id = d.tenant_id and e.pool_id = d.pool_id), 0)
       end as capacity,
       (select count(*)::int from unit_assignment a
        join unit_block b on b.tenant_id = a.tenant_id and b.id = a.unit_block_id and b.kind = 'out_of_order'
        join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id and u.unit_pool_id = d.pool_id
        where a.tenant_id = d.tenant_id and a.status in ('blocked', 'ended') and a.during @> d.night) as blocked
     from day d left join sums s on s.pool_id = d.pool_id and s.night = d.night`,
    { propertyId, from, until },
  )

export const compared = ['capacity', 'sold', 'held', 'allotted', 'blocked'] as const

/**
 * Counts `[from, until)` anew under the locks of the nights: commands that move them wait, and earlier moves are seen.
 * Answers the nights that were wrong; the expected number is none.
 */
export const recountNights = async (
  trx: Trx,
  propertyId: string,
  from: string,
  until: string,
): Promise<PoolNight[]> => {
  const keys = await sql<{ poolId: string; night: string }>(
    trx,
    `select n.pool_id, n.night from pool_night n join unit_pool p on p.tenant_id = n.tenant_id and p.id = n.pool_id
     where p.property_id = ? and n.night >= ?::date and n.night < ?::date`,
    [propertyId, from, until],
  )
  const locked = await lockPoolNights(trx, keys)
  const counted = new Map(
    (await countNights(trx, propertyId, from, until)).map((row) => [`${row.poolId} ${row.night}`, row]),
  )
  const wrong = locked.flatMap((row) => {
    const truth = counted.get(`${row.poolId} ${row.night}`)
    if (!truth || compared.every((kind) => truth[kind] === row[kind])) return []
    const usage = truth.sold + truth.held + truth.allotted + truth.blocked
    return [{ before: row, after: { ...row, ...truth, forced: Math.max(0, usage - truth.capacity - row.oversell) } }]
  })
  if (wrong.length === 0) return []
  writePoolNights(
    trx,
    wrong.map((one) => one.after),
  )
  const differences = wrong.map(({ before, after }) => ({
    poolId: before.poolId,
    night: before.night,
    ...Object.fromEntries(
      compared.filter((kind) => before[kind] !== after[kind]).map((kind) => [kind, [before[kind], after[kind]]]),
    ),
  }))
  if (locked.some((row) => row.hasChannels))
    await requestMarks(trx, { propertyId, kind: 'availability', from, to: addDays(until, -1) })
  logOf(trx).error({ propertyId, differences }, 'counters differed from what they stand for')
  await emitAll(
    trx,
    inventoryDriftRepaired,
    [...new Set(wrong.map(({ after }) => after.poolId))].map((unitPoolId) => {
      const ofPool = wrong.filter(({ after }) => after.poolId === unitPoolId)
      const nights = ofPool.map(({ before, after }) => ({ date: after.night, units: freeOf(after) - freeOf(before) }))
      return { propertyId, id: unitPoolId, version: null, data: { unitPoolId, nights: nights.slice(0, mostNights) } }
    }),
  )
  return wrong.map((one) => one.after)
}
