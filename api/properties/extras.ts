import { extraBases } from '../../config/quote.ts'
import { Bool, Int, List, LocalName, LocalText, Nullable, Obj, OneOf, Opt, Sparse, Uuid } from '../../config/schema.ts'
import { archiveExtra, changeExtra, createExtra, listExtras, readExtra } from '../../db/properties/extras.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
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

const path = '/api/tenants/:tenantId/extras'
const record = { table: 'extra', param: 'extraId' }

const list = paged({
  id: 'extras.list',
  path,
  summary: 'List extras',
  access: can('read', 'Extra'),
  query: { propertyId: Opt(Uuid), category: Opt(Category), status: Opt(Lifecycle) },
  of: Extra,
  find: ({ trx, query, admission }) => listExtras(trx, { ...query, scope: admission.scope('read', 'Extra') }),
})

const create = route({
  id: 'extras.create',
  method: 'POST',
  path,
  summary: 'Create an extra',
  description: 'With a daily limit it has counters of its own, which guard it as those of units guard nights.',
  access: can('create', 'Extra'),
  status: 201,
  errors: ['duplicate_code', 'reference_not_found', 'not_found', 'invalid_transition'],
  body: Obj({ propertyId: Uuid, code: Code, ...needed, ...Sparse(Obj(optional)).properties }),
  returns: Extra,
  handle: async ({ trx, body }) => {
    return readExtra(trx, await createExtra(trx, body))
  },
})

const change = route({
  id: 'extras.update',
  method: 'PATCH',
  path: `${path}/:extraId`,
  summary: 'Change an extra or its daily limit',
  access: can('update', 'Extra'),
  record,
  errors: ['duplicate_code', 'in_use', 'sold_out', 'invalid_transition', 'reference_not_found'],
  body: Sparse(Obj({ code: Code, ...needed, ...optional })),
  returns: Extra,
  handle: async ({ trx, params, body }) => {
    await changeExtra(trx, params.extraId, body)
    return readExtra(trx, params.extraId)
  },
})

const archive = route({
  id: 'extras.archive',
  method: 'POST',
  path: `${path}/:extraId/archive`,
  summary: 'Stop selling an extra',
  access: can('delete', 'Extra'),
  record,
  errors: ['in_use', 'invalid_transition'],
  returns: Extra,
  handle: async ({ trx, params }) => {
    await archiveExtra(trx, params.extraId)
    return readExtra(trx, params.extraId)
  },
})

export const routes = [list, create, change, archive]
