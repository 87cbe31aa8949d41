import {
  receiptMethods,
  receiptRefundStatuses,
  receiptRefundWays,
  receiptSources,
  receiptStatuses,
  receiptTargets,
} from '../../config/receipts.ts'
import {
  Amount,
  AnyOf,
  Currency,
  Day,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { stamps } from '../financial/schemas.ts'

export const path = '/api/tenants/:tenantId/accounts-receivable'
/** Minor units of a document, more than 0. */
export const Sum = Int(1, 10_000_000_000_000)
const Part = Int(0, 10_000_000_000_000)
export const exempt = { cardNumber: 'exempt' }
/** A reference may hold the digits of a card, and may not be a card's alone. */
export const cardless = { cardNumber: 'document' }

const Withheld = Obj({ taxCodeId: Uuid, amount: Amount, code: Text(1, 40) }, { title: 'WithheldTax' })
const pays = {
  receivableId: Nullable(Uuid),
  installmentId: Nullable(Uuid),
  targetType: Nullable(OneOf([...receiptTargets])),
  targetId: Nullable(Uuid),
}

export const head = {
  id: Uuid,
  bookId: Uuid,
  propertyId: Nullable(Uuid),
  customerId: Nullable(Uuid),
  sourceType: OneOf([...receiptSources]),
  sourceId: Uuid,
  method: OneOf([...receiptMethods]),
  cashAccountId: Nullable(Uuid),
  cashSessionId: Nullable(Uuid),
  cashMovementId: Nullable(Uuid),
  currency: Currency,
  amount: Amount,
  receivedOn: Day,
  allocated: Amount,
  refundReserved: Amount,
  refunded: Amount,
  /** Below 0 where a bank took more back than was left. */
  available: SignedAmount,
  overReturned: Amount,
  series: Nullable(Text(1, 40)),
  number: Nullable(Int(1, 2_147_483_647)),
  numberPrefix: Text(0, 10),
  payerName: Nullable(Text(0, 200)),
  /** The last characters alone for those who may not see personal data of customers. */
  payerDocument: Nullable(Text(0, 40, exempt)),
  reference: Text(0, 60, exempt),
  status: OneOf([...receiptStatuses]),
  reversedOn: Nullable(Day),
  reverseReason: Nullable(Text(0, 500)),
  createdBy: Nullable(Uuid),
  ...stamps,
}

/** Amounts of a row that undoes another are below 0. */
const Allocation = Obj(
  {
    id: Uuid,
    on: Day,
    ...pays,
    receivableNumber: Nullable(Text(0, 40)),
    principal: SignedAmount,
    interest: SignedAmount,
    fine: SignedAmount,
    discount: SignedAmount,
    fee: SignedAmount,
    withheld: List(Withheld, { max: 20 }),
    cash: SignedAmount,
    reversesId: Nullable(Uuid),
    reversedById: Nullable(Uuid),
  },
  { title: 'ReceiptAllocation' },
)
const Refund = Obj(
  {
    id: Uuid,
    amount: Amount,
    via: OneOf([...receiptRefundWays]),
    status: OneOf([...receiptRefundStatuses]),
    requestedOn: Day,
    endedOn: Nullable(Day),
    cashAccountId: Nullable(Uuid),
    cashTransferId: Nullable(Uuid),
    cashMovementId: Nullable(Uuid),
    pixReturnId: Nullable(Uuid),
    failure: Nullable(Obj({ code: Text(1, 60), message: Text(0, 500) })),
    reason: Text(0, 500),
    requestedBy: Nullable(Uuid),
    ...stamps,
  },
  { title: 'ReceiptRefund' },
)
export const Receipt = Obj(
  { ...head, allocations: List(Allocation, { max: 10_000 }), refunds: List(Refund, { max: 1_000 }) },
  { title: 'Receipt' },
)
export const ReceiptTried = Obj(
  {
    customerId: Nullable(Uuid),
    /** The day of the allocations to installments; that of folios is their business day. */
    on: Day,
    allocations: List(
      Obj({
        ...pays,
        principal: Amount,
        interest: Amount,
        fine: Amount,
        discount: Amount,
        fee: Amount,
        withheld: List(Withheld, { max: 20 }),
        cash: Amount,
      }),
      { max: 100 },
    ),
    /** The amounts that it would take from the receipt, and the amount left. */
    cash: Amount,
    available: Amount,
    currency: Currency,
  },
  { title: 'ReceiptTried' },
)

const GivenAllocation = Obj(
  {
    installmentId: Uuid,
    principal: Opt(Sum),
    interest: Opt(Part),
    fine: Opt(Part),
    discount: Opt(Part),
    fee: Opt(Part),
    withheld: Opt(List(Obj({ taxCodeId: Uuid, amount: Sum }), { max: 20 })),
  },
  { title: 'ReceiptAllocationInput' },
)
const GivenTransfer = Obj(
  { targetType: OneOf([...receiptTargets]), targetId: Uuid, amount: Sum },
  { title: 'ReceiptTransferInput' },
)
export const GivenAllocations = List(AnyOf([GivenAllocation, GivenTransfer]), { min: 1, max: 100 })

export const moneyErrors = [
  'account_archived',
  'session_required',
  'session_closed',
  'cash_busy',
  'business_day_changed',
  'period_missing',
  'period_closed',
  'date_locked',
  'date_out_of_range',
  'currency_mismatch',
] as const
export const allocationErrors = [
  'reference_not_found',
  'currency_mismatch',
  'target_closed',
  'amount_exceeds_open',
  'amount_exceeds_available',
  'other_customer',
  'customer_archived',
  'receivable_busy',
  'date_out_of_range',
  'period_missing',
  'period_closed',
  'date_locked',
  'business_day_changed',
] as const
