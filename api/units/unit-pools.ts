import { sampleId } from '../../config/samples.ts'
import { Count, Day, List, Nullable, Obj, Opt, Sparse, Uuid, Words } from '../../config/schema.ts'
import { changePool, createPool, deletePool, listPools, readPool } from '../../db/units/index.ts'
import { resource } from '../lib/resource.ts'
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
    /** Counters of the business date; null if the pool has none for it. */
    today: Nullable(Night),
    ...stamps,
  },
  { title: 'UnitPool' },
)

const unitPools = resource({
  name: 'unitPools',
  subject: 'UnitPool',
  table: 'unit_pool',
  path: '/api/tenants/:tenantId/unit-pools',
  param: 'unitPoolId',
  record: UnitPool,
  read: readPool,
})

const list = unitPools.list({
  summary: 'List pools with their units and unit types',
  query: { propertyId: Opt(Uuid) },
  example: { propertyId: sampleId('propertyId') },
  find: ({ trx, filter }) => listPools(trx, filter),
})

const create = unitPools.create({
  summary: 'Create a pool that unit types can share',
  errors: ['duplicate_name', 'invalid_transition', 'not_found'],
  body: Obj({ propertyId: Uuid, name: Name }),
  example: { propertyId: sampleId('propertyId'), name: 'Garden' },
  command: ({ trx, body }) => createPool(trx, body),
})

const change = unitPools.change({
  summary: 'Rename a pool',
  errors: ['duplicate_name', 'invalid_transition'],
  body: Sparse(Obj({ name: Name })),
  example: { name: 'Courtyard' },
  command: ({ trx, id, body }) => changePool(trx, id, body),
})

const remove = unitPools.remove({
  summary: 'Delete a pool without units and unit types',
  description: 'Archived ones count: their past nights were sold from it. The reply is the pool as it was.',
  errors: ['in_use', 'invalid_transition'],
  command: ({ trx, id }) => deletePool(trx, id),
})

export const routes = [list, create, change, remove]
