import { pixConnectionStatuses, pixKeyTypes } from '../../config/pix.ts'
import { isBuiltInRole, isLimited } from '../../config/roles.ts'
import { largestBooking, movementKinds } from '../../config/cash.ts'
import {
  Actor,
  Amount,
  Bool,
  Count,
  Currency,
  Day,
  Instant,
  Int,
  List,
  MapOf,
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
import type { Sight } from '../../db/cash/index.ts'
import type { SubjectName } from '../../config/subjects.ts'
import { Attempts } from '../lib/attempts.ts'
import type { Admission, Caller } from '../lib/caller.ts'

export const path = '/api/tenants/:tenantId/cash'
/** Minor units, more than none. */
export const Money = Int(1, largestBooking)
/** Minor units: more than 0 comes in, less than 0 goes out. */
export const SignedMoney = Int(-largestBooking, largestBooking)
export const Document = Text(1, 30, { cardNumber: 'document' })
export const Description = Words(1, 300)
export const MovementKind = OneOf([...movementKinds])
/** Pieces of each coin and note by their value in minor units, such as `{"10000": 3, "500": 2}`. */
export const Denominations = MapOf(Int(0, 100_000), { max: 50, pattern: '^[1-9][0-9]{0,8}$' })

const Rule = Obj(
  {
    name: Words(1, 60),
    when: Obj({
      direction: OneOf(['in', 'out', 'any']),
      textContains: List(Words(1, 60), { min: 1, max: 5 }),
      amountFrom: Opt(Money),
      amountTo: Opt(Money),
      counterpartyDocument: Opt(Document),
    }),
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the contract; its value is no function
    then: Obj({ accountId: Uuid, costCenterId: Opt(Nullable(Uuid)), description: Opt(Description) }),
    automatic: Bool,
  },
  { title: 'MatchRule' },
)
export const MatchRules = List(Rule, { max: 50 })

export const AccountCode = Matching('^[A-Z0-9-]{1,20}$', 20)
export const ofBank = {
  ispb: Opt(Nullable(Matching('^[0-9]{8}$', 8))),
  bankCode: Opt(Nullable(Matching('^[0-9]{3}$', 3))),
  branch: Opt(Nullable(Text(1, 20, { cardNumber: 'exempt' }))),
  number: Opt(Nullable(Text(1, 30, { cardNumber: 'exempt' }))),
  holderName: Opt(Nullable(Words(1, 120))),
  holderDocument: Opt(Nullable(Document)),
}
export const ofRegister = {
  blind: Opt(Bool),
  differenceLimit: Opt(Int(0, largestBooking)),
  safeAccountId: Opt(Nullable(Uuid)),
}

export const Movement = {
  id: Uuid,
  cashAccountId: Uuid,
  sessionId: Nullable(Uuid),
  /** Orders the movements of a day. */
  seq: Count,
  amount: SignedAmount,
  currency: Currency,
  bookedOn: Day,
  occurredAt: Instant,
  kind: MovementKind,
  sourceType: Text(1, 60),
  sourceId: Uuid,
  bookId: Uuid,
  accountId: Nullable(Uuid),
  costCenterId: Nullable(Uuid),
  propertyId: Nullable(Uuid),
  counterBookId: Nullable(Uuid),
  description: Text(1, 300),
  voucher: Text(0, 60),
  counterpartyName: Nullable(Text(0, 200)),
  /** Masked without the permission to reveal. */
  counterpartyDocument: Nullable(Text(0, 30, { cardNumber: 'exempt' })),
  endToEndId: Nullable(Text(0, 60)),
  txid: Nullable(Text(0, 35)),
  reversesId: Nullable(Uuid),
  reversedById: Nullable(Uuid),
  transferId: Nullable(Uuid),
  /** Minor units of it that statements of the bank have proven. */
  matched: Count,
  createdBy: Actor,
  createdAt: Instant,
}

export const PixReturns = List(
  Obj(
    {
      id: Uuid,
      amount: Amount,
      /** `bank`: the bank has returned it by itself. */
      origin: OneOf(['request', 'bank']),
      status: OneOf(['requested', 'sending', 'succeeded', 'failed']),
      failure: Nullable(Obj({ code: Text(1, 60), message: Text(0, 300) })),
      cashMovementId: Nullable(Uuid),
      createdAt: Instant,
      /** Calls to the bank about it; none of one that the bank made. */
      attempts: Attempts,
    },
    { title: 'PixReturn' },
  ),
  { max: 1_000 },
)

/** Keys and connection of an account to the Pix of its bank. */
const Url = Matching('^https://[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$', 300, { cardNumber: 'exempt' })
/** Address of a bank: the base of its paths, and the place that gives out tokens. */
export const PixAddress = Obj({ baseUrl: Url, tokenUrl: Url }, { title: 'PixAddress' })

export const PixState = {
  keys: List(
    Obj({
      id: Uuid,
      type: OneOf([...pixKeyTypes]),
      /** That of a person is masked without the permission to reveal. */
      key: Text(1, 77, { cardNumber: 'exempt' }),
    }),
    { max: 20 },
  ),
  provider: Nullable(Text(1, 20)),
  address: Nullable(PixAddress),
  status: Nullable(OneOf([...pixConnectionStatuses])),
  capabilities: List(OneOf(['charge', 'return', 'send']), { max: 3 }),
  lastError: Nullable(Text(0, 300)),
}

const isOwnAlone = ({ role }: Admission, subject: SubjectName, action: string): boolean =>
  role !== null && isBuiltInRole(role) && isLimited(role, subject, action)

/** Users as their own cashiers; keys are nobody's. */
export const sightOf = (admission: Admission, caller: Caller, subject: SubjectName, action: string): Sight => ({
  mayApprove: admission.can('approve', 'CashSession'),
  ownOf:
    caller.kind === 'user' && isOwnAlone(admission, subject, action) && !admission.isMasked(subject)
      ? caller.userId
      : null,
  reveals: admission.can('reveal', 'CashMovement'),
})
