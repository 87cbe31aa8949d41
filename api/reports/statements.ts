import { Count, Opt, SignedAmount } from '../../config/schema.ts'
import { reportRoute } from './report-route.ts'
import {
  HotelLedgerRow,
  JournalRow,
  LedgerRow,
  TaxRow,
  TrialBalanceRow,
  balances,
  ledgerTotals,
  pagedReply,
  reply,
  statementReply,
} from './schemas.ts'

const sums = { debit: balances.debit, credit: balances.credit }
const positions = {
  assets: SignedAmount,
  liabilities: SignedAmount,
  equity: SignedAmount,
  resultNotClosed: SignedAmount,
  otherProperties: SignedAmount,
}

/** Totals of the statement that was asked for. */
const consolidatedTotals = [
  ...Object.keys(positions),
  'opening',
  'operating',
  'investing',
  'financing',
  'closing',
  'result',
  'translationDifference',
  'eliminationDifference',
]

const trialBalance = reportRoute({
  id: 'reports.trialBalance',
  key: 'trial_balance',
  summary: 'Show opening, movement and closing balance of every account',
  description:
    'Amounts are debits less credits. Revenue and expense count from the first day of the fiscal year of `startDate`; what earlier years left unclosed is the row `prior_result`. The closing balances of a whole book sum to 0. Closing entries of the range count with `includeClosing=true`.',
  returns: reply(TrialBalanceRow, balances),
  example: { level: 'group' },
})

const balanceSheet = reportRoute({
  id: 'reports.balanceSheet',
  key: 'balance_sheet',
  summary: 'Show assets, liabilities and equity at a date',
  description:
    'By section, group and account. Assets are liabilities, equity and the result not closed together. Of one property, `other_properties` is what entries over several properties leave. A member with chosen properties names one of them.',
  returns: statementReply(positions),
})

const incomeStatement = reportRoute({
  id: 'reports.incomeStatement',
  key: 'income_statement',
  summary: 'Show the result by line or department, against budget',
  description:
    'Without closing entries. `view=departments` is in the order of USALI, `view=cost_centers` has revenue and cost of each cost centre. `by` adds columns that sum to the amount; `compare` adds a column with difference and ratio.',
  returns: statementReply({ result: SignedAmount }),
  errors: ['no_budget'],
  example: { view: 'departments', compare: 'last_year' },
})

const cashFlow = reportRoute({
  id: 'reports.cashFlow',
  key: 'cash_flow',
  summary: 'Show cash flows, direct or indirect',
  description:
    'Opening cash, operating, investing and financing flows are the closing cash together. The direct method goes through at most 50,000 lines of cash; a run has no such limit.',
  returns: statementReply({
    opening: SignedAmount,
    operating: SignedAmount,
    investing: SignedAmount,
    financing: SignedAmount,
    closing: SignedAmount,
  }),
  example: { method: 'indirect' },
})

const generalLedger = reportRoute({
  id: 'reports.generalLedger',
  key: 'general_ledger',
  summary: 'List lines by account with opening and closing balances',
  description:
    'In the order of code, date and posting, with the balance after each line on the normal side of its account. `totals.accounts` has opening, movement and closing of each account. A page has 100 lines, at most 1,000.',
  returns: pagedReply(LedgerRow, ledgerTotals),
})

const journal = reportRoute({
  id: 'reports.journal',
  key: 'journal',
  summary: 'List the diary in number order',
  description:
    'Entries without a number follow those that have one, by date. For members of the whole book. A page has 100 entries, at most 1,000; pages reach to the first 5,000.',
  returns: pagedReply(JournalRow, { entries: Count, ...sums }),
})

const taxes = reportRoute({
  id: 'reports.taxes',
  key: 'taxes',
  summary: 'Show base and tax per tax code and period',
  description:
    'Taxes assessed on periods, taxes of documents and withheld ones from the ledger, and taxes of prices (`rule`) from folios. `rate` is in percent. `payable` is the balance of the account that owes the tax, at the end of the range.',
  returns: reply(TaxRow, { tax: SignedAmount }),
  example: { by: 'property' },
})

const ledgers = reportRoute({
  id: 'reports.hotelLedgers',
  key: 'hotel_ledgers',
  summary: 'Show deposit, guest and other hotel ledgers per day',
  description:
    'Per property, ledger and day, on the normal side of its accounts. `frozen` days do not change any more: those of deposits, guests, orders, refunds and disputes, once the business day is closed.',
  returns: reply(HotelLedgerRow, sums),
  example: { ledger: ['deposits', 'guest_ledger'] },
})

const consolidated = reportRoute({
  id: 'reports.consolidatedStatements',
  key: 'consolidated_statements',
  summary: 'Consolidate statements of books in one currency',
  description:
    'A column for each book and one for lines between them, which are eliminated; what their two sides differ by is `eliminationDifference`. Accounts are at the rate of the last day, equity at that of its posting date, income and cash flows at the mean of the range. Rates are at most 7 days old; those that were used do not change any more.',
  returns: statementReply(Object.fromEntries(consolidatedTotals.map((key) => [key, Opt(SignedAmount)]))),
  errors: ['rate_missing'],
  example: { statement: 'balance_sheet' },
})

export const routes = [
  trialBalance,
  balanceSheet,
  incomeStatement,
  cashFlow,
  generalLedger,
  journal,
  taxes,
  ledgers,
  consolidated,
]
