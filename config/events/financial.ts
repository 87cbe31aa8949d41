import { Amount, Currency, Day, Int, List, Nullable, Obj, SignedAmount, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const account = {
  entity: 'account',
  subject: 'Account',
  data: Obj({ accountId: Uuid, bookId: Uuid, code: Code }),
} as const
export const accountCreated = event({ type: 'account.created', ...account })
export const accountChanged = event({ type: 'account.changed', ...account })
export const accountArchived = event({ type: 'account.archived', ...account })
export const accountRestored = event({ type: 'account.restored', ...account })

const ledgerEntry = {
  entity: 'ledger_entry',
  subject: 'LedgerEntry',
  data: Obj({
    entryId: Uuid,
    bookId: Uuid,
    date: Day,
    total: Amount,
    currency: Currency,
    sourceType: Code,
    sourceId: Nullable(Uuid),
    reversesId: Nullable(Uuid),
  }),
} as const
export const ledgerEntryPosted = event({ type: 'ledger_entry.posted', ...ledgerEntry })
export const ledgerEntryReversed = event({ type: 'ledger_entry.reversed', ...ledgerEntry })

const entryDraft = {
  entity: 'entry_draft',
  subject: 'EntryDraft',
  data: Obj({ entryDraftId: Uuid, bookId: Uuid, date: Day, total: Amount, currency: Currency }),
} as const
export const entryDraftCreated = event({ type: 'entry_draft.created', ...entryDraft })
export const entryDraftSubmitted = event({ type: 'entry_draft.submitted', ...entryDraft })
export const entryDraftRejected = event({ type: 'entry_draft.rejected', ...entryDraft })

const postingEvent = {
  entity: 'posting_event',
  subject: 'PostingEvent',
  data: Obj({ postingEventId: Uuid, event: Code, errorCode: Nullable(Code) }),
} as const
export const postingEventParked = event({ type: 'posting_event.parked', ...postingEvent, listeners: ['issues'] })
export const postingEventDismissed = event({ type: 'posting_event.dismissed', ...postingEvent })

const spanOfBook = Obj({ bookId: Uuid, fiscalPeriodId: Nullable(Uuid), fiscalYearId: Uuid, from: Day, to: Day })
const fiscalYear = { entity: 'fiscal_year', subject: 'FiscalYear', data: spanOfBook } as const
export const fiscalYearCreated = event({ type: 'fiscal_year.created', ...fiscalYear })
export const fiscalYearClosed = event({ type: 'fiscal_year.closed', ...fiscalYear })
export const fiscalYearReopened = event({ type: 'fiscal_year.reopened', ...fiscalYear })

const period = { entity: 'period', subject: 'FiscalPeriod', data: spanOfBook } as const
export const periodSoftClosed = event({ type: 'period.soft_closed', ...period })
export const periodClosed = event({ type: 'period.closed', ...period })
export const periodReopened = event({ type: 'period.reopened', ...period })

export const taxAssessmentPosted = event({
  type: 'tax_assessment.posted',
  entity: 'tax_assessment',
  subject: 'TaxAssessment',
  data: Obj({
    taxAssessmentId: Uuid,
    taxCodeId: Uuid,
    fiscalPeriodId: Uuid,
    amount: SignedAmount,
    currency: Currency,
  }),
})

const accrual = {
  entity: 'accrual',
  subject: 'AccrualSchedule',
  data: Obj({ accrualScheduleId: Uuid, bookId: Uuid }),
} as const
export const accrualCompleted = event({ type: 'accrual.completed', ...accrual })
export const accrualCancelled = event({ type: 'accrual.cancelled', ...accrual })

export const budgetApproved = event({
  type: 'budget.approved',
  entity: 'budget',
  subject: 'Budget',
  data: Obj({ budgetId: Uuid, bookId: Uuid, year: Int(1900, 9999) }),
})

const businessDay = {
  entity: 'business_day',
  subject: 'BusinessDay',
  data: Obj({ businessDayId: Uuid, date: Day }),
} as const
export const businessDayOpened = event({ type: 'business_day.opened', ...businessDay })
export const businessDayClosed = event({ type: 'business_day.closed', ...businessDay, listeners: ['meals'] })

export const integrityCheckFailed = event({
  type: 'integrity_check.failed',
  entity: 'integrity_run',
  subject: 'IntegrityCheck',
  data: Obj({ integrityRunId: Uuid, bookId: Uuid, checks: List(Code, { max: 50 }) }),
  listeners: ['issues'],
})

export const financialEvents: Event[] = [
  accountCreated,
  accountChanged,
  accountArchived,
  accountRestored,
  ledgerEntryPosted,
  ledgerEntryReversed,
  entryDraftCreated,
  entryDraftSubmitted,
  entryDraftRejected,
  postingEventParked,
  postingEventDismissed,
  fiscalYearCreated,
  fiscalYearClosed,
  fiscalYearReopened,
  periodSoftClosed,
  periodClosed,
  periodReopened,
  taxAssessmentPosted,
  accrualCompleted,
  accrualCancelled,
  budgetApproved,
  businessDayOpened,
  businessDayClosed,
  integrityCheckFailed,
]
