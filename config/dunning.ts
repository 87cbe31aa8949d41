/** Channels by which invoices and reminders go. */
export const reminderChannels = ['email', 'whatsapp'] as const
export type ReminderChannel = (typeof reminderChannels)[number]

/** A reminder: `days` after the due date, before it where they are negative. `stopCredit` puts the customer on hold. */
export type DunningStep = { level: number; days: number; channels: ReminderChannel[]; stopCredit: boolean }

export const dunningRunStatuses = ['queued', 'running', 'done'] as const
export const noticeStatuses = ['queued', 'sent', 'failed', 'skipped'] as const
export type NoticeStatus = (typeof noticeStatuses)[number]
/** Why an installment that has reached a step is not written about. */
export const skipReasons = [
  'exempt',
  'paused',
  'below_minimum',
  'no_address',
  'fiscal_rejected',
  'settled',
  'rescheduled',
] as const
export type SkipReason = (typeof skipReasons)[number]
