import { Day, Int, List, Matching, Nullable, Obj, OneOf, Opt, Sparse, Text, Uuid } from '../../config/schema.ts'
import { createPromoCode } from '../../db/properties/charges.ts'
import { lockForChange } from '../../db/properties/editing.ts'
import {
  archivePromoCode,
  changePromoCode,
  judgePromoCode,
  listPromoCodes,
  readPromoCode,
} from '../../db/properties/promo-codes.ts'
import { can } from '../lib/access/kinds.ts'
import { paged } from '../lib/paged.ts'
import { route } from '../lib/route.ts'
import { Lifecycle, stamps } from './schemas.ts'

const needed = {
  code: Matching('^[A-Z0-9-]{3,30}$', 30),
  type: OneOf(['percent', 'amount']),
  /** Basis points, or minor units per stay. */
  value: Int(1, 100_000_000_000),
}
const optional = {
  /** Empty = all. */
  ratePlanIds: List(Uuid, { max: 100 }, { uniqueItems: true }),
  unitTypeIds: List(Uuid, { max: 100 }, { uniqueItems: true }),
  bookableFrom: Nullable(Day),
  bookableUntil: Nullable(Day),
  stayFrom: Nullable(Day),
  stayUntil: Nullable(Day),
  minNights: Nullable(Int(1, 366)),
  maxRedemptions: Nullable(Int(1, 1_000_000)),
  maxPerBooker: Nullable(Int(1, 1_000)),
}
const PromoCode = Obj(
  {
    id: Uuid,
    propertyId: Uuid,
    ...needed,
    ...optional,
    redeemed: Int(0, 2_147_483_647),
    status: Lifecycle,
    ...stamps,
  },
  { title: 'PromoCode' },
)
const path = '/api/tenants/:tenantId/promo-codes'
const record = { table: 'promo_code', param: 'promoCodeId' }

const list = paged({
  id: 'promoCodes.list',
  path,
  summary: 'List promo codes with their redemptions',
  access: can('read', 'PromoCode'),
  query: { propertyId: Opt(Uuid), status: Opt(Lifecycle), q: Opt(Text(1, 30)) },
  of: PromoCode,
  find: ({ trx, query, admission }) => listPromoCodes(trx, { ...query, scope: admission.scope('read', 'PromoCode') }),
})

const create = route({
  id: 'promoCodes.create',
  method: 'POST',
  path,
  summary: 'Create a promo code',
  access: can('create', 'PromoCode'),
  status: 201,
  errors: ['duplicate_code', 'reference_not_found'],
  body: Obj({ propertyId: Uuid, ...needed, ...Sparse(Obj(optional)).properties }),
  returns: PromoCode,
  handle: async ({ trx, body }) => {
    await lockForChange(trx, body.propertyId)
    await judgePromoCode(trx, body.propertyId, body)
    return readPromoCode(trx, await createPromoCode(trx, body))
  },
})

const change = route({
  id: 'promoCodes.update',
  method: 'PATCH',
  path: `${path}/:promoCodeId`,
  summary: 'Change validity, limits or scope of a promo code',
  access: can('update', 'PromoCode'),
  record,
  errors: ['rule_violated', 'reference_not_found', 'invalid_transition'],
  body: Sparse(Obj(optional)),
  returns: PromoCode,
  handle: async ({ trx, params, body }) => {
    await changePromoCode(trx, params.promoCodeId, body)
    return readPromoCode(trx, params.promoCodeId)
  },
})

const archive = route({
  id: 'promoCodes.archive',
  method: 'POST',
  path: `${path}/:promoCodeId/archive`,
  summary: 'End a promo code',
  access: can('delete', 'PromoCode'),
  record,
  returns: PromoCode,
  handle: async ({ trx, params }) => {
    await archivePromoCode(trx, params.promoCodeId)
    return readPromoCode(trx, params.promoCodeId)
  },
})

export const routes = [list, create, change, archive]
