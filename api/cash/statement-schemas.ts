import { lineStatuses, statementFormats, statementStatuses } from '../../config/cash-statements.ts'
import {
  AnyOf,
  Bool,
  Count,
  Currency,
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
import { stamps } from '../properties/schemas.ts'
import { Description, Money, SignedMoney } from './schemas.ts'

export const StatementStatus = OneOf([...statementStatuses])
const Column = AnyOf([Int(1, 200), Words(1, 60)])
export const CsvMapping = Obj(
  {
    delimiter: OneOf([';', ',', '|', '\t']),
    skipRows: Int(0, 100),
    date: Obj({
      column: Column,
      format: OneOf(['YYYY-MM-DD', 'DD/MM/YYYY', 'MM/DD/YYYY', 'YYYYMMDD', 'DDMMYYYY', 'DD/MM/YY']),
    }),
    amount: AnyOf([
      Obj({ column: Column }, { title: 'CsvAmount' }),
      Obj({ inColumn: Column, outColumn: Column }, { title: 'CsvAmounts' }),
    ]),
    decimal: OneOf([',', '.']),
    textColumns: List(Column, { min: 1, max: 10 }),
    idColumn: Opt(Column),
    closingBalance: Opt(SignedMoney),
  },
  { title: 'CsvMapping' },
)

const statement = {
  id: Uuid,
  cashAccountId: Uuid,
  propertyId: Nullable(Uuid),
  currency: Currency,
  format: OneOf([...statementFormats]),
  fileName: Text(1, 200),
  status: StatementStatus,
  from: Nullable(Day),
  to: Nullable(Day),
  openingBalance: Nullable(SignedAmount),
  closingBalance: Nullable(SignedAmount),
  /** Lines of the file: added, known from an earlier file, added with an id that another line has, left out. */
  counts: Obj({ read: Count, added: Count, known: Count, sameId: Count, leftOut: Count }),
  error: Nullable(
    Obj({ code: OneOf(['file_unreadable', 'wrong_account', 'currency_mismatch']), message: Text(0, 300) }),
  ),
  importedAt: Nullable(Instant),
  reconciledBy: Nullable(Uuid),
  reconciledAt: Nullable(Instant),
  reopenReason: Nullable(Text(0, 500)),
  ...stamps,
}
export const ListedStatement = Obj(statement, { title: 'BankStatementListed' })
export const BankStatement = Obj(
  {
    ...statement,
    /** The state of its proof; null before it is imported. */
    reconciliation: Nullable(
      Obj({
        opening: SignedAmount,
        cleared: SignedAmount,
        closing: Nullable(SignedAmount),
        difference: Nullable(SignedAmount),
        unmatchedLines: Count,
        ignored: SignedAmount,
        unmatchedMovements: Obj({ count: Count, amount: SignedAmount }),
      }),
    ),
  },
  { title: 'BankStatement' },
)

const Suggestion = Obj(
  {
    /** 60 to 100; the higher, the likelier. */
    score: Int(0, 100),
    kind: OneOf(['movement', 'payout', 'payable', 'receivable', 'rule']),
    /** The movement, payout or installment. */
    id: Nullable(Uuid),
    amount: SignedAmount,
    /** The end-to-end id or txid is that of the line, and the amount is another: the rest needs a target of its own. */
    amountDiffers: Bool,
    date: Nullable(Day),
    words: Text(0, 300),
    book: Nullable(
      Obj({ accountId: Uuid, costCenterId: Nullable(Uuid), amount: SignedAmount, description: Text(0, 300) }),
    ),
  },
  { title: 'MatchSuggestion' },
)
export const LineStatus = OneOf([...lineStatuses])
export const StatementLine = Obj(
  {
    id: Uuid,
    bankStatementId: Uuid,
    cashAccountId: Uuid,
    propertyId: Nullable(Uuid),
    currency: Currency,
    position: Count,
    bookedOn: Day,
    amount: SignedAmount,
    externalId: Nullable(Text(0, 255, { cardNumber: 'exempt' })),
    documentNumber: Nullable(Text(0, 60, { cardNumber: 'exempt' })),
    text: Text(0, 500, { cardNumber: 'exempt' }),
    /** Masked without the permission to reveal. */
    counterpartyDocument: Nullable(Text(0, 30, { cardNumber: 'exempt' })),
    endToEndId: Nullable(Text(0, 60, { cardNumber: 'exempt' })),
    status: LineStatus,
    ignoreReason: Nullable(Text(0, 500)),
    /** Another line has its id. */
    sameExternalId: Bool,
    matches: List(Obj({ cashMovementId: Uuid, amount: SignedAmount, made: Bool }), { max: 50 }),
    /** Of an unmatched line: what it may be about. */
    suggestions: List(Suggestion, { max: 5 }),
    ...stamps,
  },
  { title: 'BankStatementLine' },
)

export const MatchTarget = Obj(
  {
    cashMovementId: Opt(Uuid),
    amount: Opt(SignedMoney),
    payoutId: Opt(Uuid),
    payableInstallmentId: Opt(Uuid),
    receivableInstallmentId: Opt(Uuid),
    principal: Opt(Money),
    interest: Opt(Money),
    fine: Opt(Money),
    discount: Opt(Money),
    fee: Opt(Money),
    withheld: Opt(List(Obj({ taxCodeId: Uuid, amount: Money }), { max: 20 })),
    book: Opt(
      Obj({ accountId: Uuid, amount: SignedMoney, description: Description, costCenterId: Opt(Nullable(Uuid)) }),
    ),
  },
  { title: 'MatchTarget' },
)
