import { sampleId } from '../../config/samples.ts'
import { Day, Int, List, Matching, Nullable, Obj, OneOf, Opt, Sparse, Text, Uuid } from '../../config/schema.ts'
import {
  archivePromoCode,
  changePromoCode,
  createPromoCode,
  listPromoCodes,
  readPromoCode,
} from '../../db/properties/index.ts'
import { resource } from '../lib/resource.ts'
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
const redeemed = Int(0, 2_147_483_647)
const fields = { id: Uuid, propertyId: Uuid, ...needed, ...optional, redeemed, status: Lifecycle, ...stamps }

const promoCodes = resource({
  name: 'promoCodes',
  subject: 'PromoCode',
  table: 'promo_code',
  path: '/api/tenants/:tenantId/promo-codes',
  param: 'promoCodeId',
  record: Obj(fields, { title: 'PromoCode' }),
  read: readPromoCode,
})

const list = promoCodes.list({
  summary: 'List promo codes with their redemptions',
  query: { propertyId: Opt(Uuid), status: Opt(Lifecycle), q: Opt(Text(1, 30)) },
  example: { q: 'SPRING' },
  find: ({ trx, filter }) => listPromoCodes(trx, filter),
})

const create = promoCodes.create({
  summary: 'Create a promo code',
  errors: ['duplicate_code', 'reference_not_found', 'not_found', 'invalid_transition'],
  body: Obj({ propertyId: Uuid, ...needed, ...Sparse(Obj(optional)).properties }),
  example: { propertyId: sampleId('propertyId'), code: 'SPRING', type: 'percent', value: 500 },
  command: ({ trx, body }) => createPromoCode(trx, body),
})

const change = promoCodes.change({
  summary: 'Change validity, limits or scope of a promo code',
  errors: ['rule_violated', 'reference_not_found', 'invalid_transition'],
  body: Sparse(Obj(optional)),
  example: { minNights: 2, maxRedemptions: 50 },
  command: ({ trx, id, body }) => changePromoCode(trx, id, body),
})

const archive = promoCodes.act('archive', {
  summary: 'End a promo code',
  errors: ['invalid_transition'],
  action: 'delete',
  command: ({ trx, id }) => archivePromoCode(trx, id),
})

export const routes = [list, create, change, archive]
