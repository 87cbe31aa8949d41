import { receiptRefundWays, receiptSources, recordedReceiptMethods } from '../../config/receipts.ts'
import { sampleId } from '../../config/samples.ts'
import { AnyOf, Bool, Day, Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import { refuseAccountElsewhere } from '../../db/cash/index.ts'
import {
  allocateReceipt,
  createReceipt,
  listReceipts,
  readReceipt,
  refundReceipt,
  reverseReceipt,
  tryAllocation,
  tryReceipt,
  undoAllocation,
} from '../../db/accounts-receivable/index.ts'
import type { ReceiptSight } from '../../db/accounts-receivable/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { sightOf } from '../cash/schemas.ts'
import { Payee } from '../cash/transfers.ts'
import { DocumentNumber } from '../documents/parties.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission } from '../lib/caller.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { Reply, route } from '../lib/route.ts'
import {
  allocationErrors,
  cardless,
  exempt,
  GivenAllocations,
  head,
  moneyErrors,
  path,
  Receipt,
  ReceiptTried,
  Sum,
} from './receipt-schemas.ts'

const seen = (admission: Admission): ReceiptSight => ({ reveals: admission.can('reveal', 'Customer') })

const judging =
  (admission: Admission, action: string) =>
  (place: { propertyId: string | null }): void =>
    admission.check(action, 'Receipt', { propertyId: place.propertyId })

const shown = async (trx: Trx, id: string, admission: Admission) =>
  (await readReceipt(trx, id, seen(admission))) as never

const receipts = resource({
  name: 'receipts',
  subject: 'Receipt',
  table: 'receipt',
  path: `${path}/receipts`,
  param: 'receiptId',
  record: Receipt,
  lockedBy: 'command',
  read: ((trx: Trx, id: string) => readReceipt(trx, id, { reveals: false })) as never,
  show: (found) => found as never,
})

const list = receipts.list({
  summary: 'List receipts, unallocated first',
  description:
    'Those with money left come first, and of these the ones whose customer is not known; then the latest. `q` is a part of the reference, or of the name or number of the payer.',
  query: {
    bookId: Opt(Uuid),
    customerId: Opt(Uuid),
    unidentified: Opt(Bool),
    available: Opt(Bool),
    cashAccountId: Opt(Uuid),
    sourceType: Opt(OneOf([...receiptSources])),
    from: Opt(Day),
    to: Opt(Day),
    amount: Opt(Sum),
    q: Opt(Text(1, 100, exempt)),
  },
  of: Obj(head, { title: 'ReceiptListed' }),
  example: { available: true },
  find: ({ trx, filter, admission }) => listReceipts(trx, filter, seen(admission)) as never,
})

const create = route({
  id: 'receipts.create',
  method: 'POST',
  path: `${path}/receipts`,
  summary: 'Record money received, allocated or in advance',
  description:
    'Money without an owner is identified later. `allocations` say what it pays; `auto` pays what the customer owes, the oldest due first. Discount, fee and withheld taxes lower an installment without money. Cash lies in a register (on its business day), a safe or petty cash, any other method in another account. With `dryRun=true` nothing is written.',
  access: can('create', 'Receipt'),
  part: { resource: 'receipts', verb: 'create' },
  status: 201,
  ok: 'With `dryRun`: what the receipt would pay',
  idempotency: 'required',
  query: Obj({ dryRun: Opt(Bool) }),
  body: Obj({
    customerId: Opt(Uuid),
    cashAccountId: Uuid,
    method: OneOf([...recordedReceiptMethods]),
    amount: Sum,
    receivedOn: Day,
    reference: Opt(Text(0, 60, cardless)),
    payerName: Opt(Words(1, 200)),
    payerDocument: Opt(DocumentNumber),
    allocations: Opt(GivenAllocations),
    auto: Opt(Bool),
    thirdParty: Opt(Bool),
  }),
  example: {
    customerId: sampleId('customerId'),
    cashAccountId: sampleId('bankAccountId'),
    method: 'bank',
    amount: 100,
    receivedOn: '2026-11-10',
    reference: 'TED 4711',
  },
  returns: AnyOf([Receipt, ReceiptTried]),
  errors: [...new Set([...moneyErrors, ...allocationErrors])],
  handle: async ({ trx, body, query, admission, caller }) => {
    const own = { ownOf: sightOf(admission, caller, 'Receipt', 'create').ownOf, judge: judging(admission, 'create') }
    if (query.dryRun) return new Reply((await tryReceipt(trx, body, own)) as never, { status: 200 })
    const id = await createReceipt(trx, body, own)
    return shown(trx, id, admission)
  },
})

const read = route({
  id: 'receipts.read',
  method: 'GET',
  path: receipts.one,
  summary: 'Read a receipt with allocations and refunds',
  access: can('read', 'Receipt'),
  part: { resource: 'receipts', verb: 'read' },
  returns: Receipt,
  handle: async ({ trx, params, admission }) => {
    const receipt = await readReceipt(trx, params.receiptId, seen(admission))
    admission.check('read', 'Receipt', asJudged('receipt', receipt.id, receipt))
    return receipt as never
  },
})

const allocate = route({
  id: 'receipts.allocate',
  method: 'POST',
  path: `${receipts.one}/allocations`,
  summary: 'Identify the payer and allocate a receipt',
  description:
    '`customerId` alone says whose an unidentified receipt is. Installments of other customers need `thirdParty`. A folio, or a reservation by its primary folio, is paid on its open business day. A receipt of a payment is allocated by that payment. With `dryRun=true` nothing is written.',
  access: can('allocate', 'Receipt'),
  record: receipts.lock,
  ok: 'With `dryRun`: what would be allocated',
  idempotency: 'required',
  query: Obj({ dryRun: Opt(Bool) }),
  body: Obj({
    customerId: Opt(Uuid),
    thirdParty: Opt(Bool),
    on: Opt(Day),
    allocations: Opt(GivenAllocations),
    auto: Opt(Bool),
  }),
  example: { allocations: [{ installmentId: sampleId('receivableInstallmentId'), principal: 100 }] },
  returns: AnyOf([Receipt, ReceiptTried]),
  errors: ['invalid_transition', 'managed_by_payments', ...allocationErrors],
  handle: async ({ trx, params: { receiptId: id }, body, query, expectedVersion, admission }) => {
    const asked = { expected: expectedVersion, judge: judging(admission, 'allocate') }
    if (query.dryRun) return new Reply((await tryAllocation(trx, id, body, asked)) as never, { status: 200 })
    await allocateReceipt(trx, id, body, asked)
    return shown(trx, id, admission)
  },
})

const undo = route({
  id: 'receipts.undoAllocation',
  method: 'DELETE',
  path: `${receipts.one}/allocations/:receiptAllocationId`,
  summary: 'Undo an allocation by reversal',
  description:
    'Writes the opposite row, dated today, or of a folio on its open business day: what was paid is open again, and the money available. An allocation that is undone stays so.',
  access: can('allocate', 'Receipt'),
  record: receipts.lock,
  returns: Receipt,
  errors: [
    'invalid_transition',
    'managed_by_payments',
    'target_closed',
    'receivable_busy',
    'period_missing',
    'period_closed',
    'date_locked',
    'business_day_changed',
  ],
  handle: async ({ trx, params, expectedVersion, admission }) => {
    await undoAllocation(trx, params.receiptId, params.receiptAllocationId, expectedVersion)
    return shown(trx, params.receiptId, admission)
  },
})

const refund = route({
  id: 'receipts.refund',
  method: 'POST',
  path: `${receipts.one}/refund`,
  summary: 'Give back the unallocated part of a receipt',
  description:
    'The amount is reserved before anything is sent. `manual` books the money out at once; `transfer` is a Pix to `payee` that another person approves; `pix_return` sends a received Pix back, within 90 days. The account that took the money pays unless `cashAccountId` says another.',
  access: can('refund', 'Receipt'),
  record: receipts.lock,
  idempotency: 'required',
  body: Obj({
    amount: Opt(Sum),
    via: OneOf([...receiptRefundWays]),
    cashAccountId: Opt(Uuid),
    payee: Opt(Payee),
    reason: Reason,
  }),
  example: { amount: 100, via: 'manual', reason: 'Paid twice' },
  returns: Receipt,
  errors: [
    ...moneyErrors,
    'invalid_transition',
    'managed_by_payments',
    'receivable_busy',
    'reference_not_found',
    'amount_exceeds_available',
    'not_refundable',
    'return_window_passed',
    'cash_short',
    'pix_not_ready',
    'pix_send_unsupported',
  ],
  handle: async ({ trx, params: { receiptId: id }, body, expectedVersion, admission }) => {
    const asked = { expected: expectedVersion, judge: judging(admission, 'refund') }
    await refuseAccountElsewhere(trx, body.cashAccountId, admission.propertyIds)
    await refundReceipt(trx, id, { ...body, reason: trimmed(body.reason) }, asked)
    return shown(trx, id, admission)
  },
})

const reverse = route({
  id: 'receipts.reverse',
  method: 'POST',
  path: `${receipts.one}/reverse`,
  summary: 'Reverse a receipt that bounced or was mistaken',
  description:
    'For money that a person has recorded, of which nothing was given back: its allocations are undone, its movement and posting turned, today unless `on` says another day.',
  access: can('reverse', 'Receipt'),
  record: receipts.lock,
  body: Obj({ reason: Reason, on: Opt(Day) }),
  example: { reason: 'The cheque bounced' },
  returns: Receipt,
  errors: [
    ...moneyErrors.filter((code) => code !== 'currency_mismatch'),
    'invalid_transition',
    'managed_by_payments',
    'movement_reconciled',
    'already_reversed',
    'cash_short',
    'target_closed',
    'receivable_busy',
    'folio_busy',
  ],
  handle: async ({ trx, params: { receiptId: id }, body, expectedVersion, admission }) => {
    await reverseReceipt(trx, id, { ...body, reason: trimmed(body.reason) }, expectedVersion)
    return shown(trx, id, admission)
  },
})

export const routes = [list, create, read, allocate, undo, refund, reverse]
