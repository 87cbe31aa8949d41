import {
  Amount,
  Count,
  Day,
  Instant,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'

/** Code of an account, journal or cost centre. */
export const LedgerCode = Text(1, 20, { pattern: '^[0-9A-Z.]{1,20}$' })
export const Name = Words(1, 120)
export const stamps = { version: Int(1, 2_147_483_647), createdAt: Instant, updatedAt: Instant }
export const ledgerState = { ledgerSequence: Count, pendingEvents: Count }

const partyTypes = OneOf(['guest', 'company', 'customer', 'supplier', 'book'])

/** Minor units of one line: 500 of them stay exact. */
const LineAmount = Int(0, 10_000_000_000_000)

/** A line as a person writes it. */
export const GivenLine = Obj(
  {
    accountId: Opt(Uuid),
    accountCode: Opt(LedgerCode),
    debit: Opt(LineAmount),
    credit: Opt(LineAmount),
    propertyId: Opt(Nullable(Uuid)),
    costCenterId: Opt(Nullable(Uuid)),
    partyType: Opt(Nullable(partyTypes)),
    partyId: Opt(Nullable(Uuid)),
    taxCodeId: Opt(Nullable(Uuid)),
    taxBase: Opt(Nullable(SignedAmount)),
    memo: Opt(Words(0, 200)),
  },
  { title: 'EntryLineInput' },
)

/** Fields of a line as it is posted, beside those of its entry. */
export const postedLine = {
  lineNo: Int(1, 32_000),
  accountId: Uuid,
  debit: Amount,
  credit: Amount,
  propertyId: Nullable(Uuid),
  costCenterId: Nullable(Uuid),
  partyType: Nullable(Text(1, 20)),
  partyId: Nullable(Uuid),
  documentType: Nullable(Text(1, 40)),
  documentId: Nullable(Uuid),
  taxCodeId: Nullable(Uuid),
  taxBase: Nullable(SignedAmount),
  memo: Text(0, 200),
}

export const Problems = List(Obj({ field: Text(1, 200), code: Text(1, 60), message: Text(1, 300) }), { max: 100 })

/** Fields of an entry as a person writes it. */
export const givenEntry = {
  journalId: Opt(Nullable(Uuid)),
  postingDate: Opt(Day),
  kind: Opt(OneOf(['standard', 'opening'])),
  description: Words(1, 300),
  reverseOn: Opt(Nullable(Day)),
}
