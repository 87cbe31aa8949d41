import { Count, Day, List, Nullable, Obj, Opt, Sparse, Uuid, Words } from '../../config/schema.ts'
import { lockForChange } from '../../db/properties/editing.ts'
import { changePool, createPool, deletePool, listPools, readPool } from '../../db/units/pools.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'

const Name = Words(1, 60)
/** Counters of one night. */
const Night = Obj({
  night: Day,
  capacity: Count,
  sold: Count,
  held: Count,
  allotted: Count,
  blocked: Count,
  oversell: Count,
  forced: Count,
})
const UnitPool = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    name: Name,
    /** Active units, and active types that take from the pool. */
    unitIds: List(Uuid, { max: 5000 }),
    unitTypeIds: List(Uuid, { max: 1000 }),
    /** Of the business date; null where the pool has none for it. */
    today: Nullable(Night),
    ...stamps,
  },
  { title: 'UnitPool' },
)

const path = '/api/tenants/:tenantId/unit-pools'
const record = { table: 'unit_pool', param: 'unitPoolId' }

const list = paged({
  id: 'unitPools.list',
  path,
  summary: 'List pools with their units and unit types',
  access: can('read', 'UnitPool'),
  query: { propertyId: Opt(Uuid) },
  of: UnitPool,
  find: ({ trx, query, admission }) => listPools(trx, { ...query, scope: admission.scope('read', 'UnitPool') }),
})

const create = route({
  id: 'unitPools.create',
  method: 'POST',
  path,
  summary: 'Create a pool that unit types can share',
  access: can('create', 'UnitPool'),
  status: 201,
  errors: ['duplicate_name', 'invalid_transition'],
  body: Obj({ propertyId: Uuid, name: Name }),
  returns: UnitPool,
  handle: async ({ trx, body }) => {
    await lockForChange(trx, body.propertyId)
    return readPool(trx, await createPool(trx, body))
  },
})

const change = route({
  id: 'unitPools.update',
  method: 'PATCH',
  path: `${path}/:unitPoolId`,
  summary: 'Rename a pool',
  access: can('update', 'UnitPool'),
  record,
  errors: ['duplicate_name', 'invalid_transition'],
  body: Sparse(Obj({ name: Name })),
  returns: UnitPool,
  handle: async ({ trx, params, body }) => {
    await changePool(trx, params.unitPoolId, body)
    return readPool(trx, params.unitPoolId)
  },
})

const remove = route({
  id: 'unitPools.delete',
  method: 'DELETE',
  path: `${path}/:unitPoolId`,
  summary: 'Delete a pool without units and unit types',
  description: 'Archived ones count: their past nights were sold from it. The reply is the pool as it was.',
  access: can('delete', 'UnitPool'),
  record,
  errors: ['in_use', 'invalid_transition'],
  returns: UnitPool,
  handle: ({ trx, params }) => deletePool(trx, params.unitPoolId),
})

export const routes = [list, create, change, remove]
