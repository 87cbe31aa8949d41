import {
  Actor,
  Amount,
  Bool,
  Currency,
  Day,
  Instant,
  Int,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  SignedAmount,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { folioKinds } from '../../db/reservations/index.ts'
import { Price, stamps } from '../properties/schemas.ts'

export const FolioNumber = Text(1, 20)
export const FolioStatus = OneOf(['open', 'closed'])
export const Label = Words(1, 60)
const Category = Text(1, 40)

const folioFields = {
  id: Uuid,
  propertyId: Uuid,
  number: FolioNumber,
  kind: OneOf([...folioKinds]),
  reservationId: Nullable(Uuid),
  groupId: Nullable(Uuid),
  /** The folio of its stay that takes what no route sends elsewhere. */
  isPrimary: Bool,
  payerGuestId: Nullable(Uuid),
  payerCompanyId: Nullable(Uuid),
  label: Text(0, 60),
  stage: OneOf(['deposit', 'guest']),
  status: FolioStatus,
  currency: Currency,
  charges: SignedAmount,
  credits: SignedAmount,
  /** Charges less credits; positive is to be paid. */
  balance: SignedAmount,
  creditLimit: Nullable(Price),
  locked: Bool,
  /** The document that bills it. */
  receivableId: Nullable(Uuid),
  ...stamps,
}

export const FolioListed = Obj(folioFields, { title: 'FolioListed' })

export const Folio = Obj(
  {
    ...folioFields,
    /** The amount that its routes will bring up to the business date. */
    unposted: Amount,
    /** Balance at the end of the stays that it pays for. */
    projected: SignedAmount,
    /** `payments` are its credits. */
    totals: List(Obj({ category: Category, amount: SignedAmount }), { max: 50 }),
    taxes: List(Obj({ code: Text(1, 40), included: Bool, amount: SignedAmount }), { max: 100 }),
  },
  { title: 'Folio' },
)

export const FolioLine = Obj(
  {
    id: Uuid,
    folioId: Uuid,
    kind: OneOf(['charge', 'adjustment', 'fee', 'payment', 'refund', 'transfer_in', 'transfer_out', 'receivable']),
    category: Nullable(Category),
    description: Text(1, 200),
    quantity: Text(1, 20),
    unitAmount: SignedAmount,
    /** Positive raises the balance. */
    amount: SignedAmount,
    /** Included ones are part of the amount; those on top have a line of their own. */
    taxes: List(Obj({ taxRuleId: Uuid, code: Text(1, 40), included: Bool, amount: SignedAmount }), { max: 50 }),
    businessDate: Day,
    /** The charge that a tax belongs to, that an adjustment lowers, or that a transfer moves. */
    originalLineId: Nullable(Uuid),
    transferId: Nullable(Uuid),
    paymentId: Nullable(Uuid),
    /** The receipt of a customer whose money it is. */
    receiptId: Nullable(Uuid),
    taxRuleId: Nullable(Uuid),
    postedBy: Actor,
    createdAt: Instant,
  },
  { title: 'FolioLine' },
)

/** A folio after a command, with the lines that it wrote. */
export const PostedLines = Obj({ folio: Folio, lines: List(FolioLine, { max: 10_000 }) }, { title: 'PostedLines' })
export const TransferredLines = Obj(
  { folio: Folio, toFolio: Folio, transferId: Uuid, lines: List(FolioLine, { max: 10_000 }) },
  { title: 'TransferredLines' },
)

/** A decimal with up to 4 places. */
export const Quantity = Matching('^\\d{1,6}(\\.\\d{1,4})?$', 11)
export const Minor = Int(1, 100_000_000_000)
