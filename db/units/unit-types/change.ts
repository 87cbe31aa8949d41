import { overtaken, unprocessable } from '../../../config/errors.ts'
import { unitTypeChanged } from '../../../config/events/units.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, sentFields } from '../../lib/events.ts'
import { lockForChange } from '../../lib/locked-property.ts'
import type { LockedProperty } from '../../lib/locked-property.ts'
import { changePortal } from '../../lib/public-version.ts'
import { changeRow, fieldsOf } from '../../lib/records.ts'
import type { PoolShare } from '../rules/availability.ts'
import { presentDayOf } from '../state.ts'
import { judgeUnitType, writePools } from './create.ts'
import { readUnitType, UnitType, unitTypeColumns, unitTypeLifecycle } from './read.ts'
import type { NewUnitType, UnitTypeRecord } from './read.ts'

export type UnitTypeChange = {
  [Field in Exclude<keyof NewUnitType, 'id' | 'propertyId'>]?: NewUnitType[Field] | undefined
}

/**
 * The nights of a type that the counters of its pools hold, from a day on: of stays, of holds, of guests who did not come and pay for them, and of groups. Waits
 * for bookings that are being written, and keeps others from naming the type until the commit.
 */
const takenNights = async (trx: Trx, id: string, from: string) => {
  await sql(trx, `select 1 from unit_type where id = ? for update`, [id])
  return sqlOne<{ first: string | null; last: string | null }>(
    trx,
    `select min(x.night) as first, max(x.night) as last from (
       select n.date as night from reservation_night n where n.unit_type_id = ? and n.date >= ?::date and n.status <> 'released'
       union all select n.night from booking_group_night n join booking_group g on g.tenant_id = n.tenant_id and g.id = n.group_id
         where n.unit_type_id = ? and n.night >= ?::date and n.allotted > n.picked_up and g.status in ('optional', 'confirmed')) x`,
    [id, from, id, from],
  )
}

/**
 * Checks that types are still sold as the catalogue of this `publicVersion` said; else the command is repeated on what holds now. Commands that sell ask it in the
 * `check` of `moveInventory`: the rows that name the types are written by then, and keep their pools from changing.
 */
export const requireSoldAs = async (
  trx: Trx,
  publicVersion: number,
  types: readonly { id: string; pools: readonly PoolShare[] }[],
  locked: readonly { publicVersion: number }[],
): Promise<void> => {
  if (locked.every((row) => row.publicVersion === publicVersion)) return
  const rows = await sql<Pick<UnitTypeRecord, 'id' | 'status' | 'pools'>>(
    trx,
    `select ${unitTypeColumns} from unit_type t where t.id = any(?::uuid[])`,
    [types.map((type) => type.id)],
  )
  const now = new Map(rows.map((row) => [row.id, row]))
  const isSold = ({ id, pools }: (typeof types)[number]) =>
    now.get(id)?.status === 'active' && isSame(now.get(id)?.pools ?? [], pools)
  if (!types.every(isSold)) throw overtaken()
}

export const refuseSold = async (trx: Trx, property: LockedProperty, id: string, field: string) => {
  const taken = await takenNights(trx, id, presentDayOf(property))
  if (taken?.first)
    throw unprocessable('in_use', 'Stays, holds or allotments of the type stand in the way', [
      { field, message: `nights are taken from ${taken.first} to ${taken.last}` },
    ])
}

/** Changes what one sale takes: only while nothing of the type is sold, and no unit of it stands in a pool that goes (R14). */
const changePools = async (trx: Trx, property: LockedProperty, type: UnitTypeRecord, pools: readonly PoolShare[]) => {
  await refuseSold(trx, property, type.id, 'pools')
  const kept = pools.map((pool) => pool.poolId)
  const units = await sql<{ name: string }>(
    trx,
    `select name from unit where unit_type_id = ? and unit_pool_id <> all(?::uuid[]) order by name limit 50`,
    [type.id, kept],
  )
  if (units.length > 0)
    throw unprocessable(
      'in_use',
      'Units of the type stand in a pool that it would lose',
      units.map(({ name }) => ({ field: 'unit', message: name })),
    )
  await sql(trx, `delete from unit_type_pool where unit_type_id = ? and unit_pool_id <> all(?::uuid[])`, [
    type.id,
    kept,
  ])
  await writePools(trx, type.id, pools)
}

const isSame = (a: readonly PoolShare[], b: readonly PoolShare[]) =>
  a.length === b.length &&
  a.every(({ poolId, quantity }) => b.some((c) => c.poolId === poolId && c.quantity === quantity))

/** Changes a type; stays keep what they were sold. The caller holds its row. */
export const changeUnitType = async (trx: Trx, id: string, { pools, ...change }: UnitTypeChange): Promise<void> => {
  const type = await readUnitType(trx, id)
  const property = await lockForChange(trx, type.propertyId)
  unitTypeLifecycle.allow('changed', type.status)
  if (fieldsOf({ ...change, pools }).length === 0) return
  await judgeUnitType(trx, property, {
    baseOccupancy: change.baseOccupancy ?? type.baseOccupancy,
    maxAdults: change.maxAdults ?? type.maxAdults,
    maxOccupancy: change.maxOccupancy ?? type.maxOccupancy,
    name: change.name ?? {},
    description: change.description ?? {},
    ...(pools ? { pools } : {}),
  })
  const isRepooled = pools !== undefined && !isSame(pools, type.pools)
  if (isRepooled) await changePools(trx, property, type, pools)
  // The pools stand in a table of their own, and their change is one of the type all the same.
  const row = isRepooled ? { status: type.status, ...change } : change
  const version = await changeRow(trx, UnitType, id, row)
  await changePortal(trx, type.propertyId)
  await emit(trx, unitTypeChanged, {
    propertyId: type.propertyId,
    id,
    version,
    data: { unitTypeId: id, code: change.code ?? type.code },
    changed: sentFields({ ...change, pools }, type),
  })
}
