import { randomUUID } from 'node:crypto'
import { notFound, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { unitPoolChanged, unitPoolCreated, unitPoolDeleted } from '../../config/events/units.ts'
import type { Condition } from '../lib/conditions.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { lockForChange } from '../lib/locked-property.ts'
import { model } from '../lib/models.ts'
import { inScope, readPage, where } from '../lib/paging.ts'
import type { Paging } from '../lib/paging.ts'
import { changeRow, insertRow } from '../lib/records.ts'
import { dropNights, extendNights } from './nights.ts'
import type { Counters } from './rules/availability.ts'
import { presentDay } from './state.ts'

const UnitPool = model('unit_pool')

export type UnitPoolRecord = {
  id: string
  propertyId: string
  name: string
  /** Active units. */
  unitIds: string[]
  /** Active types that take from it. */
  unitTypeIds: string[]
  /** Counters of the night that the property is on; null where it has none. */
  today: (Counters & { night: string }) | null
  version: number
  createdAt: Date
  updatedAt: Date
}

const columns = `p.id, p.property_id, p.name, p.version, p.created_at, p.updated_at,
  array(select u.id from unit u where u.tenant_id = p.tenant_id and u.unit_pool_id = p.id and u.status = 'active' order by u.position, u.name, u.id) as unit_ids,
  array(select s.unit_type_id from unit_type_pool s join unit_type t on t.tenant_id = s.tenant_id and t.id = s.unit_type_id and t.status = 'active'
    where s.tenant_id = p.tenant_id and s.unit_pool_id = p.id order by t.position, t.code) as unit_type_ids,
  (select jsonb_build_object('night', n.night, 'capacity', n.capacity, 'sold', n.sold, 'held', n.held, 'allotted', n.allotted, 'blocked', n.blocked,
     'oversell', n.oversell, 'forced', n.forced)
   from pool_night n where n.tenant_id = p.tenant_id and n.pool_id = p.id and n.night = d.today) as today`
// The day is worked out before nights are looked at, since no index serves a condition that computes with rows under row-level security.
const from = `unit_pool p join property y on y.tenant_id = p.tenant_id and y.id = p.property_id
  cross join lateral (select ${presentDay('y')} as today offset 0) d`
// Pools of limited extras are counters only and are not listed.
const ofUnits = { text: `p.kind = 'unit'`, values: [] }

type Filter = Paging & { propertyId?: string | undefined; scope: Condition }

export const listPools = (trx: Trx, { propertyId, scope, ...paging }: Filter) =>
  readPage<UnitPoolRecord>(
    trx,
    {
      columns,
      from,
      conditions: [ofUnits, ...inScope(scope, 'p.property_id'), ...where('p.property_id = ?', propertyId)],
      order: 'p.name, p.id',
    },
    paging,
  )

/** 404. */
export const readPool = async (trx: Trx, id: string): Promise<UnitPoolRecord> => {
  const row = await sqlOne<UnitPoolRecord>(trx, `select ${columns} from ${from} where ${ofUnits.text} and p.id = ?`, [
    id,
  ])
  if (!row) throw notFound()
  return row
}

/** A pool with its nights up to the horizon, for a command that holds the property. */
export const insertPool = async (
  trx: Trx,
  pool: { id?: string; propertyId: string; name: string; kind?: 'unit' | 'extra' },
): Promise<string> => {
  const id = pool.id ?? randomUUID()
  await insertRow(trx, UnitPool, { ...pool, id })
  await extendNights(trx, [id])
  await emit(trx, unitPoolCreated, {
    propertyId: pool.propertyId,
    id,
    version: 1,
    data: { unitPoolId: id, name: pool.name },
  })
  return id
}

/** 409 `duplicate_name`. */
export const createPool = async (trx: Trx, pool: { propertyId: string; name: string }): Promise<string> => {
  await lockForChange(trx, pool.propertyId)
  return insertPool(trx, pool)
}

/** The caller holds its row. 409 `duplicate_name`. */
export const changePool = async (trx: Trx, id: string, change: { name?: string | undefined }): Promise<void> => {
  const { propertyId, name } = await readPool(trx, id)
  await lockForChange(trx, propertyId)
  if (name === change.name || change.name === undefined) return
  const version = await changeRow(trx, UnitPool, id, change)
  await emit(trx, unitPoolChanged, {
    propertyId,
    id,
    version,
    data: { unitPoolId: id, name: change.name },
    changed: [{ field: 'name', before: name, after: change.name }],
  })
}

/** Deletes a pool that no unit and no type was ever in, with its counters; answers it as it was. 422 `in_use`. The caller holds its row. */
export const deletePool = async (trx: Trx, id: string): Promise<UnitPoolRecord> => {
  const pool = await readPool(trx, id)
  const { propertyId } = pool
  await lockForChange(trx, propertyId)
  // Waits for commands that are just adding a unit or type to it.
  await sql(trx, `select 1 from unit_pool where id = ? for update`, [id])
  const users = await sql<{ field: string; name: string; status: string }>(
    trx,
    `select 'unit' as field, name, status from unit where unit_pool_id = :id
     union all select 'unitType', t.code, t.status from unit_type_pool s join unit_type t on t.tenant_id = s.tenant_id and t.id = s.unit_type_id where s.unit_pool_id = :id
     order by 1, 2 limit 50`,
    { id },
  )
  const errors: FieldError[] = users.map(({ field, name, status }) => ({
    field,
    message: status === 'archived' ? `${name} (archived)` : name,
  }))
  if (errors.length > 0) throw unprocessable('in_use', 'The pool has units or unit types', errors)
  await dropNights(trx, id)
  await sql(trx, `delete from unit_pool where id = ?`, [id])
  await emit(trx, unitPoolDeleted, {
    propertyId,
    id,
    version: pool.version,
    data: { unitPoolId: id, name: pool.name },
  })
  return pool
}
