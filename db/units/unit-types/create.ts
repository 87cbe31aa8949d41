import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { unitTypeCreated } from '../../../config/events/units.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lockForChange, requireTexts } from '../../lib/locked-property.ts'
import type { LockedProperty } from '../../lib/locked-property.ts'
import { changePortal } from '../../lib/public-version.ts'
import { insertRow } from '../../lib/records.ts'
import type { PoolShare } from '../rules/availability.ts'
import { insertPool } from '../unit-pools.ts'
import { UnitType } from './read.ts'
import type { NewUnitType } from './read.ts'

type Judged = Pick<NewUnitType, 'baseOccupancy' | 'maxAdults' | 'maxOccupancy' | 'pools'> &
  Partial<Pick<NewUnitType, 'name' | 'description'>>

const refuseOccupancy = ({ baseOccupancy, maxAdults, maxOccupancy }: Judged) => {
  if (!(baseOccupancy <= maxAdults && maxAdults <= maxOccupancy))
    throw unprocessable('occupancy_invalid', 'Base occupancy, adults and occupancy must rise', [
      { field: 'maxOccupancy', message: 'must not be below maxAdults, nor maxAdults below baseOccupancy' },
    ])
}

/** Validates a unit type before it is created or changed: texts, occupancy, and pools of its own property, each once. */
export const judgeUnitType = async (trx: Trx, property: LockedProperty, type: Judged): Promise<void> => {
  requireTexts(property, { name: type.name, description: type.description })
  refuseOccupancy(type)
  const ids = (type.pools ?? []).map((pool) => pool.poolId)
  if (ids.length === 0) return
  const twice = ids.flatMap((id, index) =>
    ids.indexOf(id) === index ? [] : [{ field: `pools.${index}.unitPoolId`, message: 'is named twice' }],
  )
  if (twice.length > 0) throw invalid(twice)
  const rows = await sql<{ id: string }>(
    trx,
    `select id from unit_pool where property_id = ? and kind = 'unit' and id = any(?::uuid[])`,
    [property.id, ids],
  )
  const known = new Set(rows.map((row) => row.id))
  const errors: FieldError[] = ids.flatMap((id, index) =>
    known.has(id) ? [] : [{ field: `pools.${index}.unitPoolId`, message: 'is no pool of units of this property' }],
  )
  if (errors.length > 0) throw unprocessable('reference_not_found', 'A pool is not of this property', errors)
}

/** The code of the type; where another pool has that name, with a number behind it. */
const nameForPool = async (trx: Trx, propertyId: string, code: string): Promise<string> => {
  const rows = await sql<{ name: string }>(
    trx,
    `select name from unit_pool where property_id = ? and starts_with(name, ?)`,
    [propertyId, code],
  )
  const taken = new Set(rows.map((row) => row.name))
  for (let name = code, next = 2; ; name = `${code} ${next}`, next += 1) if (!taken.has(name)) return name
}

/** Adds pools to those of a type, or changes what it takes of them. */
export const writePools = (trx: Trx, id: string, pools: readonly PoolShare[]) =>
  sql(
    trx,
    `insert into unit_type_pool (unit_type_id, unit_pool_id, quantity)
     select ?, pool_id, quantity from unnest(?::uuid[], ?::int[]) as p (pool_id, quantity)
     on conflict (tenant_id, unit_type_id, unit_pool_id) do update set quantity = excluded.quantity`,
    [id, pools.map((pool) => pool.poolId), pools.map((pool) => pool.quantity)],
  )

/** 409 `duplicate_code`, 422 `occupancy_invalid` and `reference_not_found`. */
export const createUnitType = async (trx: Trx, type: NewUnitType): Promise<{ id: string; pools: PoolShare[] }> => {
  const id = type.id ?? randomUUID()
  await judgeUnitType(trx, await lockForChange(trx, type.propertyId), type)
  const { pools: given, ...row } = type
  await insertRow(trx, UnitType, { ...row, id })
  const { propertyId } = type
  const pools = given ?? [
    {
      poolId: await insertPool(trx, { propertyId, name: await nameForPool(trx, propertyId, type.code) }),
      quantity: 1,
    },
  ]
  await writePools(trx, id, pools)
  await changePortal(trx, type.propertyId)
  await emit(trx, unitTypeCreated, {
    propertyId: type.propertyId,
    id,
    version: 1,
    data: { unitTypeId: id, code: type.code },
  })
  return { id, pools }
}
