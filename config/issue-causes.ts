import type { IssueKind, IssuePriority } from './issues.ts'

export type Opening = {
  /** Code of the category. */
  category: string
  kind?: IssueKind
  priority: IssuePriority
  title: string
  /** Names what the issue is about, from the data of the event: one open issue for one key. */
  key: (data: Readonly<Record<string, unknown>>, entityId: string) => string
  /** A key of each business date of the house: the same cause on another day is another issue. */
  daily?: true
  /** Links that the data of the event hold. */
  links?: readonly ('reservationId' | 'unitId' | 'paymentId' | 'guestId')[]
  /** The link that is the entity of the event. */
  entity?: 'reservationId'
  /** Opens only where this holds. */
  when?: (data: Readonly<Record<string, unknown>>) => boolean
}
const of =
  (prefix: string, ...fields: string[]) =>
  (data: Readonly<Record<string, unknown>>, entityId: string) =>
    [prefix, ...(fields.length === 0 ? [entityId] : fields.map((field) => String(data[field])))].join(':')

const exceptionKinds = new Set([
  'late_payment',
  'amount_differs',
  'duplicate_payment',
  'over_returned',
  'capture_refused',
])

/** Events on which the system opens an issue (R10). A house switches single ones off by `issues.automaticOff`. */
export const openingEvents: Readonly<Record<string, Opening>> = {
  'reservation.overbooked': {
    category: 'booking',
    priority: 'urgent',
    title: 'A stay is overbooked',
    key: of('reservation'),
    links: ['reservationId'],
  },
  'assignment.stranded': {
    category: 'booking',
    priority: 'high',
    title: 'A stay has lost its unit',
    key: of('reservation'),
    entity: 'reservationId',
  },
  'channel_booking.mapping_needed': {
    category: 'booking',
    priority: 'urgent',
    title: 'A booking of a channel cannot be taken in: its room or rate is not mapped',
    key: of('channel_booking', 'channelBookingId'),
  },
  'channel_booking.failed': {
    category: 'booking',
    priority: 'urgent',
    title: 'A booking of a channel cannot be taken in',
    key: of('channel_booking', 'channelBookingId'),
  },
  'channel.attention_needed': {
    category: 'system',
    priority: 'high',
    title: 'A channel needs attention',
    key: of('channel', 'channelConnectionId'),
  },
  'channel.failed': {
    category: 'system',
    priority: 'high',
    title: 'A channel has failed',
    key: of('channel', 'channelConnectionId'),
  },
  'night_audit.failed': {
    category: 'system',
    priority: 'urgent',
    title: 'The night audit has failed',
    key: of('night_audit', 'nightAuditId'),
  },
  'unit.discrepancy_detected': {
    category: 'safety',
    priority: 'high',
    title: 'A unit is not as the front desk knows it',
    key: of('discrepancy', 'unitId'),
    daily: true,
    links: ['unitId'],
  },
  'refund.failed': {
    category: 'billing',
    priority: 'high',
    title: 'A refund has failed',
    key: of('refund', 'refundId'),
    links: ['paymentId'],
  },
  'payment_exception.opened': {
    category: 'billing',
    priority: 'high',
    title: 'A payment needs a decision',
    key: of('payment_exception', 'paymentExceptionId'),
    when: ({ kind }) => exceptionKinds.has(String(kind)),
  },
  'dispute.opened': {
    category: 'billing',
    priority: 'urgent',
    title: 'A payment is disputed',
    key: of('dispute', 'disputeId'),
    links: ['paymentId'],
  },
  'guest_registration.rejected': {
    category: 'booking',
    priority: 'normal',
    title: 'The registration of a guest was rejected',
    key: of('registration', 'guestRegistrationId'),
    links: ['reservationId'],
  },
  'message_channel.failed': {
    category: 'system',
    priority: 'normal',
    title: 'A channel of messages has failed',
    key: of('message_channel', 'messageChannelId'),
  },
  'webhook_endpoint.paused': {
    category: 'system',
    priority: 'normal',
    title: 'A webhook endpoint was paused after failures',
    key: of('webhook_endpoint', 'webhookEndpointId'),
  },
  'bank_statement.rejected': {
    category: 'billing',
    priority: 'normal',
    title: 'A bank statement cannot be read',
    key: of('bank_statements', 'cashAccountId'),
  },
  'cash_transfer.failed': {
    category: 'billing',
    priority: 'high',
    title: 'A transfer of money has failed',
    key: of('cash_transfer'),
  },
  'cash_transfer.attention_needed': {
    category: 'billing',
    priority: 'high',
    title: 'Nobody knows whether a transfer of money was carried out',
    key: of('cash_transfer'),
  },
  'pix_connection.failed': {
    category: 'system',
    priority: 'high',
    title: 'The bank does not answer for Pix',
    key: of('pix_connection', 'cashAccountId'),
  },
  'pix.return_failed': {
    category: 'billing',
    priority: 'high',
    title: 'A Pix could not be returned',
    key: of('pix_return'),
  },
  'payout.failed': {
    category: 'billing',
    priority: 'urgent',
    title: 'A payout of the gateway has failed',
    key: of('payout'),
  },
  'payable_payment.item_failed': {
    category: 'billing',
    priority: 'high',
    title: 'A payment to a supplier has failed',
    key: of('payable_payment'),
  },
  'receipt.refund_failed': {
    category: 'billing',
    priority: 'high',
    title: 'A refund to a customer has failed',
    key: of('receipt'),
  },
  'dunning_notice.failed': {
    category: 'billing',
    priority: 'normal',
    title: 'A reminder of a debt could not be sent',
    key: of('dunning_notice'),
  },
  'fiscal_document.rejected': {
    category: 'billing',
    priority: 'high',
    title: 'The authority has rejected a fiscal document',
    key: of('fiscal_document'),
  },
  'fiscal_document.cancel_refused': {
    category: 'billing',
    priority: 'high',
    title: 'The authority does not cancel a fiscal document',
    key: of('fiscal_document'),
  },
  // A rule that is missing parks many at once: they are one issue with a count.
  'posting_event.parked': {
    category: 'billing',
    priority: 'high',
    title: 'Postings wait for a rule or an account',
    key: of('posting', 'event'),
  },
  'integrity_check.failed': {
    category: 'system',
    priority: 'urgent',
    title: 'The books do not agree with the records',
    key: of('integrity', 'bookId'),
  },
  'stock.drift_found': {
    category: 'system',
    priority: 'high',
    title: 'Stock does not agree with its movements or with the books',
    key: of('stock'),
  },
}

/** Findings of the system without an event: jobs of the tenant that wait for an operator. */
export const jobsDied = 'job.died'
export const deadJobs = {
  category: 'system',
  priority: 'high',
  title: 'Work of the service has stopped and waits for an operator',
} as const
export const deadJobsPrefix = 'dead_jobs:'

/** Names by which a house switches off what opens issues by itself. */
export const openings: readonly string[] = [...Object.keys(openingEvents), jobsDied]

/** Events that end what the system has opened, by the same keys. */
export const endingEvents: Readonly<Record<string, Opening['key']>> = {
  'reservation.unit_assigned': of('reservation', 'reservationId'),
  'reservation.cancelled': of('reservation', 'reservationId'),
  'reservation.no_show_recorded': of('reservation', 'reservationId'),
  'reservation.checked_out': of('reservation', 'reservationId'),
  'channel_booking.applied': of('channel_booking', 'channelBookingId'),
  'channel_booking.dismissed': of('channel_booking', 'channelBookingId'),
  'channel.connected': of('channel', 'channelConnectionId'),
  'night_audit.succeeded': of('night_audit', 'nightAuditId'),
  'refund.succeeded': of('refund', 'refundId'),
  'payment_exception.resolved': of('payment_exception', 'paymentExceptionId'),
  'dispute.submitted': of('dispute', 'disputeId'),
  'guest_registration.accepted': of('registration', 'guestRegistrationId'),
  'guest_registration.cancelled': of('registration', 'guestRegistrationId'),
  'message_channel.verified': of('message_channel', 'messageChannelId'),
  'webhook_endpoint.resumed': of('webhook_endpoint', 'webhookEndpointId'),
  'bank_statement.imported': of('bank_statements', 'cashAccountId'),
  'cash_transfer.completed': of('cash_transfer'),
  'cash_transfer.cancelled': of('cash_transfer'),
  'pix_connection.recovered': of('pix_connection', 'cashAccountId'),
  'pix.returned': of('pix_return'),
  'payable_payment.paid': of('payable_payment'),
  'receipt.refunded': of('receipt'),
  'fiscal_document.authorised': of('fiscal_document'),
  'fiscal_document.cancelled': of('fiscal_document'),
}
