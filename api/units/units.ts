import { invalid } from '../../config/errors.ts'
import { sampleId } from '../../config/samples.ts'
import { Int, List, Obj, OneOf, Opt, Sparse, Text, Uuid } from '../../config/schema.ts'
import type { Static } from '../../config/schema.ts'
import {
  archiveUnit,
  changeUnit,
  restoreUnit,
  createUnits,
  listUnits,
  readUnit,
  readUnits,
  unitSorts,
} from '../../db/units/index.ts'
import type { UnitRecord } from '../../db/units/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { Lifecycle } from '../properties/schemas.ts'
import { Building, Condition, Floor, Occupancy, Service, Unit, UnitName, unitFields } from './schemas.ts'

const sorts = Object.keys(unitSorts) as (keyof typeof unitSorts)[]
const SetByHand = OneOf(['dirty', 'clean', 'inspected'])
const most = 200

/** A unit as the caller may see it. */
export const shownUnit = (unit: UnitRecord, { isMasked }: Pick<Admission, 'isMasked'>) =>
  unit.serviceRefused && isMasked('Unit')
    ? { ...unit, serviceRefused: { ...unit.serviceRefused, evidence: null } }
    : unit

const units = resource({
  name: 'units',
  subject: 'Unit',
  table: 'unit',
  path: '/api/tenants/:tenantId/units',
  param: 'unitId',
  record: Unit,
  lockedBy: 'command',
  read: readUnit,
  show: shownUnit,
})

/** Filters that lists of units have in common. */
export const UnitQuery = {
  propertyId: Opt(Uuid),
  unitTypeId: Opt(Uuid),
  unitPoolId: Opt(Uuid),
  condition: Opt(Condition),
  service: Opt(Service),
  occupancy: Opt(Occupancy),
  floor: Opt(Floor),
  building: Opt(Building),
  status: Opt(Lifecycle),
  q: Opt(Text(1, 120)),
}

const list = units.list({
  summary: 'List units',
  description: 'With the present state of each. Archived units only where `status` asks for them.',
  sort: { by: sorts, usual: 'building,floor,position,name' },
  query: { ...UnitQuery },
  example: { propertyId: sampleId('propertyId'), occupancy: 'vacant', service: 'in_service', sort: '-name,floor' },
  find: ({ trx, filter }) => listUnits(trx, filter),
})

const { activeFrom, activeUntil, ...described } = unitFields
const placed = { unitTypeId: Uuid, unitPoolId: Uuid, activeFrom, activeUntil }
const refusals = [
  'duplicate_name',
  'reference_not_found',
  'unit_type_mismatch',
  'date_out_of_range',
  'invalid_transition',
] as const

const create = units.create({
  summary: 'Create a unit and add it to capacity',
  description:
    'It counts from the business date on unless `activeFrom` says otherwise, and is dirty unless `condition` does. `unitPoolId` is needed where its type has several pools.',
  errors: [...refusals, 'not_found'],
  body: Obj({
    propertyId: Uuid,
    unitTypeId: Uuid,
    name: UnitName,
    ...Sparse(Obj({ unitPoolId: Uuid, ...unitFields, condition: SetByHand })).properties,
  }),
  example: { propertyId: sampleId('propertyId'), unitTypeId: sampleId('unitTypeId'), name: '101', floor: 1 },
  command: async ({ trx, body: { name, ...body } }) =>
    (await createUnits(trx, { ...body, names: [name] }))[0]?.id ?? '',
})

const Pattern = Obj({
  prefix: Text(0, 30),
  first: Int(0, 999_999),
  last: Int(0, 999_999),
  /** Numbers are filled up to so many with zeros. */
  digits: Int(1, 6),
})

/** The names that a pattern stands for: `{ prefix: 'A', first: 1, last: 3, digits: 2 }` is A01, A02 and A03. */
const namesOf = ({ prefix, first, last, digits }: Static<typeof Pattern>): string[] => {
  if (last < first || last - first >= most)
    throw invalid([{ field: 'pattern.last', message: `must be at least first, and less than ${most} above it` }])
  return Array.from({ length: last - first + 1 }, (_, index) => `${prefix}${`${first + index}`.padStart(digits, '0')}`)
}

const bulk = route({
  id: 'units.createBulk',
  method: 'POST',
  path: '/api/tenants/:tenantId/units/bulk',
  summary: 'Create up to 200 units at once',
  description: 'All or none: `errors` names each name that is taken. Send `names`, or a `pattern` of them.',
  access: can('create', 'Unit'),
  status: 201,
  errors: [...refusals, 'not_found'],
  body: Obj({
    propertyId: Uuid,
    unitTypeId: Uuid,
    names: Opt(List(UnitName, { min: 1, max: most })),
    pattern: Opt(Pattern),
    ...Sparse(Obj({ unitPoolId: Uuid, ...unitFields, condition: SetByHand })).properties,
  }),
  example: {
    propertyId: sampleId('propertyId'),
    unitTypeId: sampleId('unitTypeId'),
    pattern: { prefix: 'P', first: 1, last: 5, digits: 2 },
  },
  returns: Obj({ data: List(Unit, { max: most }) }),
  handle: async ({ trx, body: { names, pattern, ...body } }) => {
    if ((names === undefined) === (pattern === undefined))
      throw invalid([{ field: 'names', message: 'send either names or a pattern' }])
    const made = await createUnits(trx, { ...body, names: names ?? (pattern ? namesOf(pattern) : []) })
    return {
      data: await readUnits(
        trx,
        made.map((unit) => unit.id),
      ),
    }
  },
})

const read = units.read({
  summary: 'Read a unit with its present state',
})

const change = units.change({
  summary: 'Change name, place, attributes, type or active dates',
  description:
    'Another type or pool takes the capacity of the unit along, and active dates take it from nights that they leave out: refused where those are sold, or the unit is promised. Stays that were proposed for it go elsewhere.',
  errors: [...refusals, 'capacity_in_use', 'unit_conflict'],
  body: Sparse(Obj({ name: UnitName, ...described, ...placed })),
  example: { floor: 3, notes: 'Quiet' },
  command: ({ trx, id, body, expectedVersion }) => changeUnit(trx, id, body, expectedVersion),
})

const archive = units.act('archive', {
  summary: 'Take a unit out of capacity for good',
  description: 'From the business date on. Stays that were proposed for it go elsewhere.',
  action: 'delete',
  errors: ['capacity_in_use', 'unit_conflict', 'invalid_transition'],
  command: ({ trx, id, expectedVersion }) => archiveUnit(trx, id, expectedVersion),
})

const restore = units.act('restore', {
  summary: 'Bring an archived unit back',
  action: 'update',
  errors: ['duplicate_name', 'invalid_transition'],
  command: ({ trx, id, expectedVersion }) => restoreUnit(trx, id, expectedVersion),
})

export const routes = [list, create, bulk, read, change, archive, restore]
