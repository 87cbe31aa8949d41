import { routes as attachments } from './attachments.ts'
import { routes as accrualSchedules } from './accrual-schedules.ts'
import { routes as books } from './books.ts'
import { routes as budgets } from './budgets.ts'
import { routes as chartOfAccounts } from './chart-of-accounts.ts'
import { routes as costCenters } from './cost-centers.ts'
import { routes as entryDrafts } from './entry-drafts.ts'
import { routes as entryTemplates } from './entry-templates.ts'
import { routes as exchangeRates } from './exchange-rates.ts'
import { routes as integrityChecks } from './integrity-checks.ts'
import { routes as journals } from './journals.ts'
import { routes as ledgerEntries } from './ledger-entries.ts'
import { routes as periods } from './periods.ts'
import { routes as postingEvents } from './posting-events.ts'
import { routes as postingRules } from './posting-rules.ts'
import { routes as taxAssessments } from './tax-assessments.ts'
import { routes as taxCodes } from './tax-codes.ts'

export const routes = [
  ...books,
  ...journals,
  ...chartOfAccounts,
  ...ledgerEntries,
  ...entryDrafts,
  ...entryTemplates,
  ...accrualSchedules,
  ...budgets,
  ...postingRules,
  ...postingEvents,
  ...periods,
  ...costCenters,
  ...taxCodes,
  ...taxAssessments,
  ...exchangeRates,
  ...integrityChecks,
  ...attachments,
]
