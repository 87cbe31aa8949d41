import { Int, List, LocalText, Nullable, Obj, OneOf, Opt, Sparse, Uuid } from '../../config/schema.ts'
import { readPaymentMethods, replacePaymentMethods } from '../../db/properties/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { ofProperty, propertyRow } from './schemas.ts'

const needed = {
  method: OneOf(['card', 'pix', 'boleto', 'bank_transfer', 'cash', 'pay_at_property']),
  offeredTo: OneOf(['portal', 'staff', 'both']),
}
const optional = {
  gatewayAccountId: Nullable(Uuid),
  minDaysBeforeArrival: Int(0, 365),
  maxAmount: Nullable(Int(1, 100_000_000_000)),
  maxInstallments: Int(1, 12),
  instructions: LocalText,
}
/** `version` is the property's. */
const PaymentMethods = Obj(
  {
    data: List(Obj({ id: Uuid, ...needed, position: Int(0, 50), ...optional }), { max: 20 }),
    version: propertyRow.version,
  },
  { title: 'PropertyPaymentMethods' },
)
const path = `${ofProperty}/payment-methods` as const

const list = route({
  id: 'propertyPaymentMethods.list',
  method: 'GET',
  path,
  summary: 'List payment methods that the property accepts',
  access: can('read', 'PropertyPaymentMethod'),
  returns: PaymentMethods,
  handle: ({ trx, params }) => readPaymentMethods(trx, params.propertyId),
})

const replace = route({
  id: 'propertyPaymentMethods.replace',
  method: 'PUT',
  path,
  summary: 'Replace the set of accepted payment methods',
  description:
    'They are offered in this order. Card, pix and boleto on the portal need a gateway account of the property’s book; a boleto five days. `If-Match` is the version of the property.',
  access: can('update', 'PropertyPaymentMethod'),
  record: { table: 'property', param: 'propertyId' },
  errors: ['reference_not_found', 'invalid_transition'],
  body: Obj({
    paymentMethods: List(Obj({ id: Opt(Uuid), ...needed, ...Sparse(Obj(optional)).properties }), { max: 20 }),
  }),
  example: {
    paymentMethods: [
      { method: 'pay_at_property', offeredTo: 'both' },
      { method: 'cash', offeredTo: 'staff' },
    ],
  },
  returns: PaymentMethods,
  handle: async ({ trx, params, body }) => {
    await replacePaymentMethods(trx, params.propertyId, body.paymentMethods)
    return readPaymentMethods(trx, params.propertyId)
  },
})

export const routes = [list, replace]
