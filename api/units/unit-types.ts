import { amenities, bedKinds } from '../../config/amenities.ts'
import { sampleId } from '../../config/samples.ts'
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
import {
  archiveUnitType,
  changeUnitType,
  restoreUnitType,
  createUnitType,
  listUnitTypes,
  readUnitType,
} from '../../db/units/index.ts'
import { resource } from '../lib/resource.ts'
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
  /** Quantities that one sale takes from each pool on each night. */
  pools: List(Obj({ unitPoolId: Uuid, quantity: Int(1, 200) }), { min: 1, max: 20 }),
}
const UnitType = Obj(
  { id: Uuid, propertyId: Uuid, ...needed, ...optional, status: Lifecycle, ...stamps },
  { title: 'UnitType' },
)

type Shares = { unitPoolId: string; quantity: number }[]
/** A body as commands know it. */
const sent = <T extends { pools?: Shares }>({ pools, ...type }: T) => ({
  ...type,
  ...(pools ? { pools: pools.map(({ unitPoolId, quantity }) => ({ poolId: unitPoolId, quantity })) } : {}),
})

const unitTypes = resource({
  name: 'unitTypes',
  subject: 'UnitType',
  table: 'unit_type',
  path: '/api/tenants/:tenantId/unit-types',
  param: 'unitTypeId',
  record: UnitType,
  read: readUnitType,
  show: ({ pools, ...type }) => ({
    ...type,
    pools: pools.map(({ poolId, quantity }) => ({ unitPoolId: poolId, quantity })),
  }),
})

const list = unitTypes.list({
  summary: 'List unit types',
  query: { propertyId: Opt(Uuid), status: Opt(Lifecycle), kind: Opt(UnitKind), q: Opt(Text(1, 120)) },
  example: { propertyId: sampleId('propertyId'), kind: 'private', q: 'room' },
  find: ({ trx, filter }) => listUnitTypes(trx, filter),
})

const create = unitTypes.create({
  summary: 'Create a unit type with its pool',
  description:
    'Without `pools` it gets a pool of its own, of which one sale takes one unit. Types that share a pool sell the same units: a dormitory of eight beds is one pool, with a type of quantity 1 and one of quantity 8.',
  errors: ['duplicate_code', 'occupancy_invalid', 'reference_not_found', 'invalid_transition', 'not_found'],
  body: Obj({ propertyId: Uuid, ...needed, ...Sparse(Obj(optional)).properties }),
  example: {
    propertyId: sampleId('propertyId'),
    code: 'DBL',
    name: { 'pt-BR': 'Quarto duplo', en: 'Double room' },
    kind: 'private',
    baseOccupancy: 2,
    maxAdults: 2,
    maxChildren: 1,
    maxOccupancy: 3,
  },
  command: async ({ trx, body }) => (await createUnitType(trx, sent(body))).id,
})

const read = unitTypes.read({ summary: 'Read a unit type' })

const change = unitTypes.change({
  summary: 'Change texts, occupancy, beds, amenities or pools',
  description:
    'Texts and lists are replaced whole. Pools change only while no stay, hold or allotment of the type is ahead; a lower occupancy changes no stay that is sold.',
  errors: ['duplicate_code', 'occupancy_invalid', 'reference_not_found', 'in_use', 'invalid_transition'],
  body: Sparse(Obj({ ...needed, ...optional })),
  example: { maxOccupancy: 4, maxChildren: 2 },
  command: ({ trx, id, body }) => changeUnitType(trx, id, sent(body)),
})

const archive = unitTypes.act('archive', {
  summary: 'Stop selling a unit type',
  action: 'delete',
  errors: ['in_use', 'invalid_transition'],
  command: ({ trx, id }) => archiveUnitType(trx, id),
})

const restore = unitTypes.act('restore', {
  summary: 'Sell an archived unit type again',
  action: 'update',
  errors: ['invalid_transition'],
  command: ({ trx, id }) => restoreUnitType(trx, id),
})

export const routes = [list, create, read, change, archive, restore]
