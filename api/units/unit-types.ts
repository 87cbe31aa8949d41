import { amenities, bedKinds } from '../../config/amenities.ts'
import {
  Between,
  Bool,
  Int,
  List,
  LocalName,
  LocalText,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { lockForChange } from '../../db/properties/editing.ts'
import { archiveUnitType, changeUnitType, restoreUnitType } from '../../db/units/type-changes.ts'
import { createUnitType, judgeUnitType, listUnitTypes, readUnitType } from '../../db/units/types.ts'
import type { UnitTypeRecord } from '../../db/units/types.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { Lifecycle, stamps } from '../properties/schemas.ts'
import { UnitKind } from './schemas.ts'

const needed = {
  code: Matching('^[A-Z0-9-]{1,12}$', 12),
  name: LocalName,
  kind: UnitKind,
  baseOccupancy: Int(1, 40),
  maxAdults: Int(1, 40),
  maxChildren: Int(0, 40),
  maxOccupancy: Int(1, 40),
}
const optional = {
  description: LocalText,
  beds: List(Obj({ kind: OneOf([...bedKinds]), count: Int(1, 40) }), { max: 20 }),
  sizeM2: Nullable(Between(1, 10_000)),
  amenities: List(OneOf([...amenities]), { max: 100 }, { uniqueItems: true }),
  position: Int(0, 100_000),
  bookable: Bool,
  /** What one sale takes on each night. */
  pools: List(Obj({ unitPoolId: Uuid, quantity: Int(1, 200) }), { min: 1, max: 20 }),
}
const UnitType = Obj(
  { id: Uuid, propertyId: Uuid, ...needed, ...optional, status: Lifecycle, ...stamps },
  { title: 'UnitType' },
)

type Shares = { unitPoolId: string; quantity: number }[]
const sharesOf = (pools: Shares) => pools.map(({ unitPoolId, quantity }) => ({ poolId: unitPoolId, quantity }))
const shown = (type: UnitTypeRecord) => ({
  ...type,
  pools: type.pools.map(({ poolId, quantity }) => ({ unitPoolId: poolId, quantity })),
})

const path = '/api/tenants/:tenantId/unit-types'
const record = { table: 'unit_type', param: 'unitTypeId' }

const list = paged({
  id: 'unitTypes.list',
  path,
  summary: 'List unit types',
  access: can('read', 'UnitType'),
  query: { propertyId: Opt(Uuid), status: Opt(Lifecycle), kind: Opt(UnitKind), q: Opt(Text(1, 120)) },
  of: UnitType,
  find: async ({ trx, query, admission }) => {
    const { total, rows } = await listUnitTypes(trx, { ...query, scope: admission.scope('read', 'UnitType') })
    return { total, rows: rows.map(shown) }
  },
})

const create = route({
  id: 'unitTypes.create',
  method: 'POST',
  path,
  summary: 'Create a unit type with its pool',
  description:
    'Without `pools` it gets a pool of its own, of which one sale takes one unit. Types that share a pool sell the same units: a dormitory of eight beds is one pool, with a type of quantity 1 and one of quantity 8.',
  access: can('create', 'UnitType'),
  status: 201,
  errors: ['duplicate_code', 'occupancy_invalid', 'reference_not_found', 'invalid_transition', 'not_found'],
  body: Obj({ propertyId: Uuid, ...needed, ...Sparse(Obj(optional)).properties }),
  returns: UnitType,
  handle: async ({ trx, body: { pools, ...body } }) => {
    const type = { ...body, ...(pools ? { pools: sharesOf(pools) } : {}) }
    await judgeUnitType(trx, await lockForChange(trx, body.propertyId), type)
    return shown(await readUnitType(trx, (await createUnitType(trx, type)).id))
  },
})

const read = route({
  id: 'unitTypes.read',
  method: 'GET',
  path: `${path}/:unitTypeId`,
  summary: 'Read a unit type',
  access: can('read', 'UnitType'),
  returns: UnitType,
  handle: async ({ trx, params, admission }) =>
    shown(await readUnitType(trx, params.unitTypeId, admission.scope('read', 'UnitType'))),
})

const change = route({
  id: 'unitTypes.update',
  method: 'PATCH',
  path: `${path}/:unitTypeId`,
  summary: 'Change texts, occupancy, beds, amenities or pools',
  description:
    'Texts and lists are replaced whole. Pools change only while no stay, hold or allotment of the type is ahead; a lower occupancy changes no stay that is sold.',
  access: can('update', 'UnitType'),
  record,
  errors: ['duplicate_code', 'occupancy_invalid', 'reference_not_found', 'in_use', 'invalid_transition'],
  body: Sparse(Obj({ ...needed, ...optional })),
  returns: UnitType,
  handle: async ({ trx, params, body: { pools, ...change } }) => {
    await changeUnitType(trx, params.unitTypeId, { ...change, ...(pools ? { pools: sharesOf(pools) } : {}) })
    return shown(await readUnitType(trx, params.unitTypeId))
  },
})

const archive = route({
  id: 'unitTypes.archive',
  method: 'POST',
  path: `${path}/:unitTypeId/archive`,
  summary: 'Stop selling a unit type',
  access: can('delete', 'UnitType'),
  record,
  errors: ['in_use', 'invalid_transition'],
  returns: UnitType,
  handle: async ({ trx, params }) => {
    await archiveUnitType(trx, params.unitTypeId)
    return shown(await readUnitType(trx, params.unitTypeId))
  },
})

const restore = route({
  id: 'unitTypes.restore',
  method: 'POST',
  path: `${path}/:unitTypeId/restore`,
  summary: 'Sell an archived unit type again',
  access: can('update', 'UnitType'),
  record,
  errors: ['invalid_transition'],
  returns: UnitType,
  handle: async ({ trx, params }) => {
    await restoreUnitType(trx, params.unitTypeId)
    return shown(await readUnitType(trx, params.unitTypeId))
  },
})

export const routes = [list, create, read, change, archive, restore]
