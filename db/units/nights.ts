import { contextOf, sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'

/** The number of nights ahead that can be sold. Past nights are kept for `keptNights`. */
export const horizonNights = 730
const keptNights = 400

/** Serialises changes of a pool's capacity with the addition of nights. Taken before the nights. */
export const lockCapacity = (trx: Trx, poolIds: readonly string[]) =>
  sql(trx, `select id from unit_pool where id = any(?::uuid[]) order by id for no key update`, [poolIds])

/**
 * Gives pools the nights that they lack up to the horizon, with the capacity and the blocks that are known, and drops nights that
 * are long past. Locks the pools, as commands that add units do, so that neither misses the other.
 */
export const extendNights = async (trx: Trx, poolIds: readonly string[]): Promise<number> => {
  await lockCapacity(trx, poolIds)
  const made = await sql(
    trx,
    `insert into pool_night (tenant_id, pool_id, night, capacity, blocked, forced)
     select :tenantId, n.pool_id, n.night, n.capacity, n.blocked, greatest(0, n.blocked - n.capacity)
     from (
       select p.id as pool_id, d.night::date as night,
         case p.kind
           when 'unit' then (select count(*)::int from unit u where u.tenant_id = p.tenant_id and u.unit_pool_id = p.id and u.status = 'active'
             and u.active_from <= d.night and (u.active_until is null or u.active_until > d.night))
           else coalesce((select e.daily_limit from extra e where e.tenant_id = p.tenant_id and e.pool_id = p.id), 0)
         end as capacity,
         (select count(*)::int from unit_assignment a
          join unit_block b on b.tenant_id = a.tenant_id and b.id = a.unit_block_id and b.kind = 'out_of_order'
          join unit u on u.tenant_id = a.tenant_id and u.id = a.unit_id and u.unit_pool_id = p.id
          where a.tenant_id = p.tenant_id and a.status = 'blocked' and a.during @> d.night::date) as blocked
       from unit_pool p
       join property y on y.tenant_id = p.tenant_id and y.id = p.property_id
       cross join lateral (select (now() at time zone y.timezone)::date as today) t
       cross join lateral (select max(night) as last from pool_night x where x.tenant_id = p.tenant_id and x.pool_id = p.id) l
       cross join lateral generate_series(
         coalesce(l.last + 1, least(coalesce(y.business_date, t.today), t.today))::timestamp,
         (t.today + cast(:horizon as int))::timestamp, interval '1 day') as d (night)
       where p.id = any(:poolIds)) n
     on conflict do nothing returning 1 as one`,
    { tenantId: contextOf(trx).tenantId, poolIds, horizon: horizonNights },
  )
  await sql(trx, `delete from pool_night where pool_id = any(?::uuid[]) and night < current_date - ?::int`, [
    poolIds,
    keptNights,
  ])
  return made.length
}

/** Deletes the counters of a pool that goes. */
export const dropNights = (trx: Trx, poolId: string) => sql(trx, `delete from pool_night where pool_id = ?`, [poolId])

/** The nights from a day on that a pool has counters for, or those before `until`. */
export const nightsFrom = async (trx: Trx, poolId: string, from: string, until: string | null): Promise<string[]> =>
  (
    await sql<{ night: string }>(
      trx,
      `select night from pool_night where pool_id = ? and night >= ?::date and (?::date is null or night < ?::date) order by night`,
      [poolId, from, until, until],
    )
  ).map((row) => row.night)

/** Pools that lack their last night, of every tenant; by id, beyond `after`. */
export const poolsShortOfHorizon = (trx: PlatformTrx, after: string, most: number) =>
  sql<{ tenantId: string; poolId: string }>(trx, `select tenant_id, pool_id from pools_short_of_horizon(?, ?, ?)`, [
    horizonNights,
    after,
    most,
  ])
