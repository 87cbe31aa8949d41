import { forbidden } from '../../config/errors.ts'
import { mostOrderLines, orderStatuses } from '../../config/inventory.ts'
import { isBuiltInRole, isLimited } from '../../config/roles.ts'
import { sampleId } from '../../config/samples.ts'
import { Bool, Day, Int, List, Obj, OneOf, Opt, Sparse, Text, Uuid } from '../../config/schema.ts'
import {
  cancelOrder,
  changeOrder,
  closeOrder,
  listPosOrders,
  openOrder,
  orderTerms,
  outletOf,
  posOrderSorts,
  readPosOrder,
} from '../../db/inventory/index.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { trimmed } from '../lib/reason.ts'
import { resource } from '../lib/resource.ts'
import { Reply, route } from '../lib/route.ts'
import { PosOrder, posOrderHead, Settlements } from './order-schemas.ts'
import { Cost, Note, path, PriceCode, Quantity } from './schemas.ts'

const orders = resource({
  name: 'posOrders',
  subject: 'PosOrder',
  table: 'pos_order',
  path: `${path}/orders`,
  param: 'orderId',
  record: PosOrder,
  lockedBy: 'command',
  read: readPosOrder,
})

/** A role that is kept to the minibar has no other outlet. */
const keepToMinibar = ({ role }: Admission, outletKind: string) => {
  if (role !== null && isBuiltInRole(role) && isLimited(role, 'PosOrder', 'close') && outletKind !== 'minibar')
    throw forbidden()
}

/** Closing an order by settlements needs further rights: an override for what the house bears, the right to record money for the rest. */
const judgeSettlements = (admission: Admission, propertyId: string, settlements: Settlements) => {
  if (settlements.some(({ type }) => type === 'house')) admission.check('override', 'PosOrder', { propertyId })
  if (settlements.some(({ type }) => type === 'payment'))
    admission.check('record', 'Payment', { propertyId, targetType: 'pos_order' })
}

const ofClose = [
  'settlement_mismatch',
  'room_charge_not_allowed',
  'not_in_house',
  'folio_closed',
  'folio_locked',
  'folio_busy',
  'credit_limit_exceeded',
  'session_required',
  'session_closed',
  'account_archived',
  'duplicate_reference',
  'currency_mismatch',
  'cash_busy',
  'stock_busy',
  'reference_not_found',
  'rule_violated',
  'period_closed',
  'period_missing',
  'date_locked',
  'business_day_changed',
  'invalid_transition',
] as const

const list = orders.list({
  summary: 'List orders by outlet, day, state or stay',
  description: '`q` looks for a number by its beginning, or for a table.',
  query: {
    propertyId: Opt(Uuid),
    outletId: Opt(Uuid),
    businessDate: Opt(Day),
    status: Opt(OneOf([...orderStatuses])),
    reservationId: Opt(Uuid),
    unitId: Opt(Uuid),
    q: Opt(Text(1, 40)),
  },
  sort: { by: Object.keys(posOrderSorts) as (keyof typeof posOrderSorts)[], usual: '-createdAt' },
  of: Obj(posOrderHead, { title: 'PosOrderListed' }),
  example: { status: 'open' },
  find: ({ trx, filter }) => listPosOrders(trx, filter),
})

const line = Obj({ priceCode: PriceCode, quantity: Quantity, note: Opt(Note) })
const terms = {
  table: Opt(Text(1, 20)),
  covers: Opt(Int(0, 500)),
  discount: Opt(Cost),
  discountReason: Opt(Note),
  serviceCharge: Opt(Bool),
  note: Opt(Note),
}

const create = route({
  id: 'posOrders.create',
  method: 'POST',
  path: `${path}/orders`,
  summary: 'Open an order, or open and close it at once',
  description:
    'At the prices of now. A minibar names the unit; its stay in the house is found. An `externalId` that the outlet has had answers its first order with 200. A discount needs `override`.',
  access: can('create', 'PosOrder'),
  status: 201,
  ok: 'The order that the outlet has had with this `externalId`.',
  part: { resource: 'posOrders', verb: 'create' },
  idempotency: 'required',
  errors: ['price_unknown', 'too_many', 'not_found', ...ofClose],
  body: Obj({
    outletId: Uuid,
    externalId: Opt(Text(1, 100, { cardNumber: 'exempt' })),
    reservationId: Opt(Uuid),
    unitId: Opt(Uuid),
    ...terms,
    lines: List(line, { max: mostOrderLines }),
    close: Opt(Obj({ settlements: Settlements })),
  }),
  example: { outletId: sampleId('outletId'), table: '7', covers: 2, lines: [{ priceCode: 'GIN', quantity: '2' }] },
  returns: PosOrder,
  handle: async ({ trx, body: { close, ...given }, admission }) => {
    const { propertyId, kind } = await outletOf(trx, given.outletId)
    admission.check('create', 'PosOrder', { propertyId })
    keepToMinibar(admission, kind)
    if ((given.discount ?? 0) > 0) admission.check('override', 'PosOrder', { propertyId })
    if (close) {
      admission.check('close', 'PosOrder', { propertyId })
      judgeSettlements(admission, propertyId, close.settlements)
    }
    const { id, repeated } = await openOrder(trx, given)
    if (close && !repeated) await closeOrder(trx, id, close.settlements)
    return new Reply(await readPosOrder(trx, id), { status: repeated ? 200 : 201 })
  },
})

const read = orders.read({ summary: 'Read an order with lines and settlements' })

const change = orders.change({
  summary: 'Add or void lines, change table, covers or discount',
  description:
    'Of an open order. Lines are added at the prices of now; voided ones use nothing up unless they are wasted. Another discount needs `override`.',
  errors: [
    'price_unknown',
    'too_many',
    'reference_not_found',
    'rule_violated',
    'invalid_transition',
    'business_day_changed',
  ],
  body: Sparse(
    Obj({
      ...terms,
      addLines: List(line, { min: 1, max: mostOrderLines }),
      voidLines: List(Obj({ lineId: Uuid, reason: Note, wasted: Opt(Bool) }), { min: 1, max: mostOrderLines }),
    }),
  ),
  example: { covers: 3, note: 'By the window' },
  command: async ({ trx, id, body, admission, expectedVersion }) => {
    const { propertyId, discount } = await orderTerms(trx, id)
    if (body.discount !== undefined && body.discount !== discount)
      admission.check('override', 'PosOrder', { propertyId })
    await changeOrder(trx, id, body, expectedVersion)
  },
})

const close = orders.act('close', {
  summary: 'Charge to folios or take payment, and close',
  description:
    'Settlements and what was paid before come to the total; one may leave out its amount and takes the rest. Folio lines, payments, use of stock and postings commit together. `house` needs `override`.',
  idempotency: 'required',
  errors: ofClose,
  body: Obj({ settlements: Settlements }),
  example: { settlements: [{ type: 'payment', method: 'card', cashAccountId: sampleId('bankAccountId') }] },
  command: async ({ trx, id, body, admission, expectedVersion }) => {
    const { propertyId, outletKind } = await orderTerms(trx, id)
    keepToMinibar(admission, outletKind)
    judgeSettlements(admission, propertyId, body.settlements)
    await closeOrder(trx, id, body.settlements, expectedVersion)
  },
})

const cancel = orders.act('cancel', {
  summary: 'Cancel an open order or void a closed one',
  description:
    'A closed order is voided on its business date: folio lines, payments of open sessions and stock are taken back; other payments stay, unallocated. What is `wasted` does not come back.',
  action: 'void',
  idempotency: 'required',
  errors: [
    'in_use',
    'not_same_business_date',
    'folio_busy',
    'session_closed',
    'cash_short',
    'cash_busy',
    'stock_busy',
    'rule_violated',
    'period_closed',
    'period_missing',
    'date_locked',
    'business_day_changed',
    'invalid_transition',
  ],
  body: Obj({ reason: Note, wasted: Opt(Bool) }),
  example: { reason: 'The guests have left' },
  command: ({ trx, id, body, expectedVersion }) =>
    cancelOrder(trx, id, { reason: trimmed(body.reason), wasted: body.wasted, expectedVersion }),
})

export const routes = [list, create, read, change, close, cancel]
