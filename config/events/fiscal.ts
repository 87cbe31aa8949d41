import { Count, Int, Nullable, Obj, OneOf, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const dunning = Obj({
  dunningRunId: Uuid,
  /** Null of a run, as customer and level are. */
  receivableId: Nullable(Uuid),
  customerId: Nullable(Uuid),
  level: Nullable(Int(1, 8)),
})
export const dunningRunCompleted = event({
  type: 'dunning_run.completed',
  entity: 'dunning_run',
  subject: 'DunningRun',
  data: dunning,
})
const notice = { entity: 'dunning_notice', subject: 'DunningRun', data: dunning } as const
export const dunningNoticeSent = event({ type: 'dunning_notice.sent', ...notice })
export const dunningNoticeFailed = event({ type: 'dunning_notice.failed', ...notice, listeners: ['issues'] })

const fiscal = {
  entity: 'fiscal_document',
  subject: 'FiscalDocument',
  data: Obj({
    fiscalDocumentId: Uuid,
    /** Null for the document of a folio. */
    receivableId: Nullable(Uuid),
    kind: OneOf(['nfse']),
    /** The house's own number of it. */
    number: Nullable(Count),
    /** The authority's code, where it refused. */
    code: Nullable(Code),
  }),
} as const
export const fiscalDocumentQueued = event({ type: 'fiscal_document.queued', ...fiscal })
export const fiscalDocumentAuthorised = event({
  type: 'fiscal_document.authorised',
  ...fiscal,
  listeners: ['issues ended'],
})
export const fiscalDocumentRejected = event({ type: 'fiscal_document.rejected', ...fiscal, listeners: ['issues'] })
export const fiscalDocumentOutcomeUnknown = event({ type: 'fiscal_document.outcome_unknown', ...fiscal })
export const fiscalDocumentCancelled = event({
  type: 'fiscal_document.cancelled',
  ...fiscal,
  listeners: ['issues ended'],
})
export const fiscalDocumentCancelRefused = event({
  type: 'fiscal_document.cancel_refused',
  ...fiscal,
  listeners: ['issues'],
})

export const fiscalEvents: Event[] = [
  dunningRunCompleted,
  dunningNoticeSent,
  dunningNoticeFailed,
  fiscalDocumentQueued,
  fiscalDocumentAuthorised,
  fiscalDocumentRejected,
  fiscalDocumentOutcomeUnknown,
  fiscalDocumentCancelled,
  fiscalDocumentCancelRefused,
]
