import {
  Amount,
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
} from '../../config/schema.ts'
import { reportKeys } from '../../config/reports.ts'
import type { Properties, Schema } from '../../config/schema.ts'

export const ReportKeys = OneOf([...reportKeys])

const meta = {
  report: ReportKeys,
  propertyIds: List(Uuid, { max: 1000 }),
  bookId: Nullable(Uuid),
  bookIds: Opt(List(Uuid, { max: 20 })),
  startDate: Nullable(Day),
  endDate: Day,
  currency: Currency,
  asOf: Instant,
  ledgerSequence: Count,
  pendingEvents: Count,
  provisional: Bool,
  openDays: List(Obj({ propertyId: Uuid, date: Day }), { max: 5000 }),
  drifts: Opt(List(Obj({ propertyId: Uuid, report: ReportKeys, from: Day, to: Day }), { max: 60 })),
  formulaVersion: Int(1, 1000),
}
const paging = { page: Int(1, 100_000), limit: Int(1, 1000), total: Count, totalPages: Count }
const columnNames = { columns: List(Obj({ key: Text(1, 60), name: Text(1, 200) }), { max: 500 }) }

/** Facts of the reading, rows and totals: the reply of every report. */
export const reply = (row: Schema, totals: Properties, extra: Properties = {}) =>
  Obj({ meta: Obj({ ...meta, ...extra }), data: List(row, { max: 5000 }), totals: Obj(totals) })
export const pagedReply = (row: Schema, totals: Properties) => reply(row, totals, paging)
export const statementReply = (totals: Properties) => reply(StatementRow, totals, columnNames)

const StatementRow = Obj(
  {
    key: Text(1, 80),
    name: Text(1, 200),
    level: Int(0, 9),
    accountId: Nullable(Uuid),
    code: Nullable(Text(1, 20)),
    amount: SignedAmount,
    columns: Opt(
      List(
        Obj({
          key: Text(1, 60),
          amount: SignedAmount,
          difference: Opt(SignedAmount),
          ratio: Opt(Nullable(Text(1, 30))),
        }),
        { max: 500 },
      ),
    ),
  },
  { title: 'StatementRow' },
)

const sides = { debit: Amount, credit: Amount }

export const TrialBalanceRow = Obj(
  {
    key: Text(1, 80),
    accountId: Nullable(Uuid),
    code: Nullable(Text(1, 20)),
    name: Text(1, 200),
    class: Nullable(OneOf(['asset', 'liability', 'equity', 'revenue', 'expense'])),
    level: Int(0, 9),
    opening: SignedAmount,
    ...sides,
    closing: SignedAmount,
    usaliCode: Text(0, 20),
    referentialCode: Text(0, 20),
  },
  { title: 'TrialBalanceRow' },
)
export const balances = { opening: SignedAmount, ...sides, closing: SignedAmount }

export const LedgerRow = Obj(
  {
    accountId: Uuid,
    code: Text(1, 20),
    accountName: Text(1, 120),
    entryId: Uuid,
    lineNo: Int(1, 32_000),
    postingDate: Day,
    number: Nullable(Count),
    sequence: Count,
    description: Text(1, 300),
    memo: Text(0, 200),
    ...sides,
    balance: SignedAmount,
    propertyId: Nullable(Uuid),
    costCenterId: Nullable(Uuid),
  },
  { title: 'GeneralLedgerRow' },
)
export const ledgerTotals = {
  ...sides,
  accounts: List(
    Obj(
      { accountId: Uuid, code: Text(1, 20), name: Text(1, 120), ...balances, lines: Count },
      { title: 'LedgerAccountTotal' },
    ),
    { max: 5000 },
  ),
}

export const JournalRow = Obj(
  {
    entryId: Uuid,
    number: Nullable(Count),
    year: Nullable(Int(1900, 2300)),
    sequence: Count,
    postingDate: Day,
    journalId: Uuid,
    journalCode: Text(1, 20),
    kind: OneOf(['standard', 'reversal', 'opening', 'closing']),
    description: Text(1, 300),
    total: Amount,
    lines: List(
      Obj({
        lineNo: Int(1, 32_000),
        accountId: Uuid,
        accountCode: Text(1, 20),
        accountName: Text(1, 120),
        ...sides,
        propertyId: Nullable(Uuid),
        costCenterId: Nullable(Uuid),
        memo: Text(0, 200),
      }),
      { max: 32_000 },
    ),
  },
  { title: 'JournalRow' },
)

export const TaxRow = Obj(
  {
    kind: OneOf(['period', 'document', 'withheld_from_suppliers', 'withheld_by_customers', 'rule']),
    code: Text(1, 20),
    name: Text(1, 200),
    propertyId: Nullable(Uuid),
    period: Nullable(Text(7, 7)),
    base: SignedAmount,
    rate: Nullable(Text(1, 20)),
    tax: SignedAmount,
    payable: Nullable(SignedAmount),
  },
  { title: 'TaxRow' },
)

export const HotelLedgerRow = Obj(
  {
    date: Day,
    propertyId: Uuid,
    ledger: Text(1, 40),
    opening: SignedAmount,
    ...sides,
    closing: SignedAmount,
    frozen: Bool,
  },
  { title: 'HotelLedgerRow' },
)
