/** Events on which an automation may write to a guest; `emit()` asks for messages.trigger for these and no others. */
export const messageTriggerEvents = [
  'reservation.held',
  'reservation.confirmed',
  'reservation.amended',
  'reservation.moved',
  'reservation.checked_in',
  'reservation.checked_out',
  'reservation.cancelled',
  'reservation.no_show_recorded',
  'reservation.expired',
  'reservation.reinstated',
  'deposit.due_date_reached',
  'payment.captured',
  'payment.failed',
  'refund.succeeded',
  'unit.made_ready',
  'group.confirmed',
  'issue.opened',
  'issue.resolved',
] as const

export const messageTriggers: ReadonlySet<string> = new Set(messageTriggerEvents)
