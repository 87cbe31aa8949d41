import { payableKinds, payableStatuses } from '../../config/payables.ts'
import {
  Amount,
  Int,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { DocumentNumber } from '../documents/parties.ts'

export { stamps } from '../financial/schemas.ts'

export const path = '/api/tenants/:tenantId/accounts-payable'
export const Kind = OneOf([...payableKinds])
export const Status = OneOf([...payableStatuses])
/** Minor units of a document, more than 0. */
export const Sum = Int(1, 10_000_000_000_000)
export const Part = Int(0, 10_000_000_000_000)
/** A decimal with up to four places, more than 0. */
export const Quantity = Matching(
  '^(0*[1-9][0-9]{0,10}(\\.[0-9]{1,4})?|0+\\.([1-9][0-9]{0,3}|0[1-9][0-9]{0,2}|00[1-9][0-9]?|000[1-9]))$',
  16,
)
export const Reason = Words(3, 500)
export const exempt = { cardNumber: 'exempt' }
/** Numbers of papers, which may hold the digits of a card, and may not be a card's alone. */
export const cardless = { cardNumber: 'document' }

/** The payee, as it is sent. */
export const givenPayee = {
  supplierId: Opt(Nullable(Uuid)),
  payeeName: Opt(Nullable(Words(1, 200))),
  payeeDocument: Opt(Nullable(DocumentNumber)),
}
export const Payee = Obj(
  { supplierId: Nullable(Uuid), name: Text(0, 400), document: Nullable(Text(1, 40)) },
  { title: 'Payee' },
)
export const buckets = {
  notDue: SignedAmount,
  d1to30: SignedAmount,
  d31to60: SignedAmount,
  d61to90: SignedAmount,
  over90: SignedAmount,
  total: SignedAmount,
  credits: Amount,
}

/** A line of a bill as it is sent. */
export const GivenLine = Obj(
  {
    description: Words(1, 200),
    accountId: Opt(Uuid),
    purchaseOrderLineId: Opt(Uuid),
    inventoryMovementLineId: Opt(Uuid),
    quantity: Opt(Quantity),
    amount: Int(-10_000_000_000_000, 10_000_000_000_000),
    costCenterId: Opt(Nullable(Uuid)),
    propertyId: Opt(Nullable(Uuid)),
  },
  { title: 'PayableLineInput' },
)
export const GivenWithholding = Obj(
  { taxCodeId: Uuid, base: Opt(Sum), rate: Opt(Int(1, 1_000_000)), amount: Opt(Sum) },
  { title: 'PayableWithholdingInput' },
)

/** Errors of what a bill names, is dated by and adds up to. */
export const billErrors = [
  'reference_not_found',
  'account_not_usable',
  'duplicate_payable',
  'supplier_archived',
  'payee_mismatch',
  'order_closed',
  'over_billed',
  'lines_not_equal',
  'installments_not_equal',
  'total_too_large',
  'date_out_of_range',
  'period_missing',
  'period_closed',
  'date_locked',
] as const
/** Errors of the posting of a bill. */
export const postingErrors = [
  'account_not_usable',
  'reference_not_found',
  'not_received',
  'order_closed',
  'over_billed',
  'period_missing',
  'period_closed',
  'date_locked',
] as const
