import { Amount, Currency, Day, List, Nullable, Obj, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

export const ledgerEntryPosted = event({
  type: 'ledger_entry.posted',
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
})

export const postingEventParked = event({
  type: 'posting_event.parked',
  entity: 'posting_event',
  subject: 'PostingEvent',
  data: Obj({ postingEventId: Uuid, event: Code, errorCode: Nullable(Code) }),
})

export const fiscalYearCreated = event({
  type: 'fiscal_year.created',
  entity: 'fiscal_year',
  subject: 'FiscalYear',
  data: Obj({ bookId: Uuid, fiscalPeriodId: Nullable(Uuid), fiscalYearId: Uuid, from: Day, to: Day }),
})

const businessDay = {
  entity: 'business_day',
  subject: 'BusinessDay',
  data: Obj({ businessDayId: Uuid, date: Day }),
} as const
export const businessDayOpened = event({ type: 'business_day.opened', ...businessDay })
export const businessDayClosed = event({ type: 'business_day.closed', ...businessDay })

export const integrityCheckFailed = event({
  type: 'integrity_check.failed',
  entity: 'integrity_run',
  subject: 'IntegrityCheck',
  data: Obj({ integrityRunId: Uuid, bookId: Uuid, checks: List(Code, { max: 50 }) }),
})

export const financialEvents: Event[] = [
  ledgerEntryPosted,
  postingEventParked,
  fiscalYearCreated,
  businessDayOpened,
  businessDayClosed,
  integrityCheckFailed,
]
