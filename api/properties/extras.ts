import { extraBases } from '../../config/quote.ts'
import { sampleId } from '../../config/samples.ts'
import { Bool, Int, List, LocalName, LocalText, Nullable, Obj, OneOf, Opt, Sparse, Uuid } from '../../config/schema.ts'
import { archiveExtra, changeExtra, createExtra, listExtras, readExtra } from '../../db/properties/index.ts'
import { resource } from '../lib/resource.ts'
import { Code, Lifecycle, Price, stamps } from './schemas.ts'

const Category = OneOf([
  'early_check_in',
  'late_check_out',
  'cleaning',
  'meal',
  'transport',
  'parking',
  'pet',
  'bed',
  'activity',
  'other',
])

const needed = {
  name: LocalName,
  category: Category,
  revenueGroup: OneOf(['rooms', 'food', 'beverage', 'laundry', 'spa', 'parking', 'tours', 'other']),
  amount: Price,
  basis: OneOf([...extraBases]),
}
const optional = {
  description: LocalText,
  mandatory: Bool,
  bookableOnline: Bool,
  /** Empty = all types. */
  unitTypeIds: List(Uuid, { max: 100 }, { uniqueItems: true }),
  maxQuantity: Int(1, 99),
  cutoffHours: Int(0, 720),
  dailyLimit: Nullable(Int(1, 10_000)),
}
const Extra = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    code: Code,
    ...needed,
    ...optional,
    poolId: Nullable(Uuid),
    status: Lifecycle,
    ...stamps,
  },
  { title: 'Extra' },
)

const extras = resource({
  name: 'extras',
  subject: 'Extra',
  table: 'extra',
  path: '/api/tenants/:tenantId/extras',
  param: 'extraId',
  record: Extra,
  read: readExtra,
})

const list = extras.list({
  summary: 'List extras',
  query: { propertyId: Opt(Uuid), category: Opt(Category), status: Opt(Lifecycle) },
  example: { category: 'activity' },
  find: ({ trx, filter }) => listExtras(trx, filter),
})

const create = extras.create({
  summary: 'Create an extra',
  description: 'With a daily limit it has counters of its own, which guard it as those of units guard nights.',
  errors: ['duplicate_code', 'reference_not_found', 'not_found', 'invalid_transition'],
  body: Obj({ propertyId: Uuid, code: Code, ...needed, ...Sparse(Obj(optional)).properties }),
  example: {
    propertyId: sampleId('propertyId'),
    code: 'BOAT',
    name: { 'pt-BR': 'Passeio de barco', en: 'Boat trip' },
    category: 'activity',
    revenueGroup: 'tours',
    amount: 5_000,
    basis: 'per_stay',
  },
  command: ({ trx, body }) => createExtra(trx, body),
})

const change = extras.change({
  summary: 'Change an extra or its daily limit',
  errors: ['duplicate_code', 'in_use', 'sold_out', 'invalid_transition', 'reference_not_found'],
  body: Sparse(Obj({ code: Code, ...needed, ...optional })),
  example: { amount: 6_000, dailyLimit: 5 },
  command: ({ trx, id, body }) => changeExtra(trx, id, body),
})

const archive = extras.act('archive', {
  summary: 'Stop selling an extra',
  action: 'delete',
  errors: ['in_use', 'invalid_transition'],
  command: ({ trx, id }) => archiveExtra(trx, id),
})

export const routes = [list, create, change, archive]
