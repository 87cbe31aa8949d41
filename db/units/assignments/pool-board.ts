import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { widestGap } from '../rules/unit-packing.ts'
import type { FitUnit } from '../rules/unit-packing.ts'
import { presentDay } from '../state.ts'
import { live } from './occupy.ts'

export type BoardUnit = FitUnit & { poolId: string; propertyId: string }
export type BoardRow = {
  id: string
  unitId: string
  poolId: string
  reservationId: string | null
  unitBlockId: string | null
  status: 'proposed' | 'locked' | 'occupied' | 'blocked'
  /** Id of the stay; '' for a block. */
  unitTypeId: string
  from: string
  /** Departure of a guest who should have left: tomorrow, since the unit is taken tonight. */
  to: string
  /** All that stands beside it is on the board: where else it would be free can be told. */
  isWhole: boolean
}
export type Board = { units: BoardUnit[]; rows: BoardRow[] }

/** Later than any stay. */
export const forever = '9999-12-31'

/**
 * Active units of pools, and what stands in them on `[from, to)`, on all other days of the stays that do, and so far around that gaps can be told. A stay that
 * reaches beyond is in the way, and is not to be moved.
 */
export const readBoard = async (trx: Trx, poolIds: readonly string[], from: string, to: string): Promise<Board> => ({
  units: await sql<BoardUnit>(
    trx,
    `select id, unit_type_id, unit_pool_id as pool_id, property_id, position, name, active_from, active_until from unit
     where unit_pool_id = any(?::uuid[]) and status = 'active'`,
    [poolIds],
  ),
  rows: await sql<BoardRow>(
    trx,
    `with span as (
       select least(cast(:from as date), min(a.starts_on)) - cast(:gap as int) as first, greatest(cast(:to as date), max(a.ends_on)) + cast(:gap as int) as last
       from unit u join unit_assignment a on a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status in ('proposed', 'locked')
         and a.ends_on > :from and a.starts_on < :to
       where u.unit_pool_id = any(:poolIds))
     select a.id, a.unit_id, u.unit_pool_id as pool_id, a.reservation_id, a.unit_block_id, a.status, coalesce(r.unit_type_id::text, '') as unit_type_id,
       a.starts_on as "from", case when a.status = 'occupied' then greatest(a.ends_on, case when a.ends_on < d.today then d.today + 1 end) else a.ends_on end as "to",
       a.starts_on >= w.first and a.ends_on <= w.last as is_whole
     from span w cross join unit u
     join property y on y.tenant_id = u.tenant_id and y.id = u.property_id
     cross join lateral (select ${presentDay('y')} as today) d
     join unit_assignment a on a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status in ${live}
       and (a.ends_on > w.first or a.status = 'occupied') and a.starts_on < w.last
     left join reservation r on r.tenant_id = a.tenant_id and r.id = a.reservation_id
     where u.unit_pool_id = any(:poolIds) order by a.starts_on, a.id`,
    { from, to, gap: widestGap, poolIds },
  ),
})
