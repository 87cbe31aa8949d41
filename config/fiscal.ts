/** Authorities that a book may send service invoices to; `none` sends nothing. */
export const fiscalAdapters = ['none', 'sandbox'] as const
export type FiscalAdapter = (typeof fiscalAdapters)[number]

export const fiscalStatuses = [
  'queued',
  'sending',
  'unknown',
  'authorised',
  'rejected',
  'cancel_requested',
  'cancelled',
] as const
export type FiscalStatus = (typeof fiscalStatuses)[number]

export const fiscalOperations = ['send', 'read', 'cancel'] as const
export type FiscalOperation = (typeof fiscalOperations)[number]
export const fiscalOutcomes = [
  'authorised',
  'cancelled',
  'processing',
  'rejected',
  'refused',
  'not_found',
  'not_sent',
  'unknown',
] as const
export type FiscalOutcome = (typeof fiscalOutcomes)[number]

/** For so many hours after it was authorised a document may be cancelled at its authority. */
export const cancelWindowHours: Readonly<Record<Exclude<FiscalAdapter, 'none'>, number>> = { sandbox: 24 }
