import type { LocalText } from './local-text.ts'

export const issueKinds = ['complaint', 'request', 'incident', 'maintenance', 'support'] as const
export type IssueKind = (typeof issueKinds)[number]
export const issueTeams = [
  'receptionist',
  'housekeeper',
  'maintenance',
  'finance',
  'stock',
  'relations',
  'manager',
] as const
export type IssueTeam = (typeof issueTeams)[number]
export const issuePriorities = ['urgent', 'high', 'normal', 'low'] as const
export type IssuePriority = (typeof issuePriorities)[number]
export const issueStatuses = ['open', 'in_progress', 'waiting', 'resolved', 'closed'] as const
export const issueSources = ['staff', 'guest', 'channel', 'system'] as const
export const issueCauses = [
  'property',
  'staff',
  'supplier',
  'system',
  'guest',
  'weather',
  'third_party',
  'none',
] as const
export const issueOutcomes = ['resolved', 'duplicate', 'not_actionable', 'withdrawn'] as const
export const lostCategories = ['electronics', 'clothing', 'jewellery', 'document', 'money', 'bag', 'other'] as const
export const lostOutcomes = [
  'returned',
  'shipped',
  'handed_to_authority',
  'donated',
  'discarded',
  'found_by_owner',
  'not_found',
] as const

/** Minutes, around the clock. */
export type Target = { firstResponseMinutes: number; resolutionMinutes: number }
export type Targets = Record<IssuePriority, Target>

export const usualTargets: Targets = {
  urgent: { firstResponseMinutes: 15, resolutionMinutes: 120 },
  high: { firstResponseMinutes: 30, resolutionMinutes: 240 },
  normal: { firstResponseMinutes: 120, resolutionMinutes: 1_440 },
  low: { firstResponseMinutes: 480, resolutionMinutes: 4_320 },
}

type Category = {
  code: string
  name: LocalText
  kind: IssueKind
  team: IssueTeam
  targets: Targets
  guestFacing: boolean
}
const category = (
  code: string,
  [en, pt, es]: readonly [string, string, string],
  kind: IssueKind,
  team: IssueTeam,
  guestFacing = kind === 'complaint',
): Category => ({ code, name: { en, pt, es }, kind, team, targets: usualTargets, guestFacing })

/** Categories that every tenant starts with. */
export const shippedCategories: readonly Category[] = [
  category('noise', ['Noise', 'Barulho', 'Ruido'], 'complaint', 'receptionist'),
  category('cleanliness', ['Cleanliness', 'Limpeza', 'Limpieza'], 'complaint', 'housekeeper'),
  category('equipment', ['Equipment', 'Equipamento', 'Equipamiento'], 'maintenance', 'maintenance'),
  category('comfort', ['Comfort', 'Conforto', 'Comodidad'], 'complaint', 'receptionist'),
  category('food', ['Food and drink', 'Alimentos e bebidas', 'Comida y bebida'], 'complaint', 'manager'),
  category('staff', ['Staff', 'Equipe', 'Personal'], 'complaint', 'manager'),
  category('billing', ['Billing', 'Cobrança', 'Facturación'], 'support', 'finance'),
  category('booking', ['Booking', 'Reserva', 'Reserva'], 'support', 'receptionist'),
  category('safety', ['Safety', 'Segurança', 'Seguridad'], 'incident', 'manager'),
  category('accessibility', ['Accessibility', 'Acessibilidade', 'Accesibilidad'], 'request', 'receptionist', true),
  category('parking', ['Parking', 'Estacionamento', 'Aparcamiento'], 'request', 'receptionist', true),
  category(
    'lost_property',
    ['Lost property', 'Achados e perdidos', 'Objetos perdidos'],
    'request',
    'receptionist',
    true,
  ),
  category('access', ['Keys and access', 'Chaves e acesso', 'Llaves y acceso'], 'incident', 'receptionist', true),
  category('system', ['Systems', 'Sistemas', 'Sistemas'], 'support', 'manager'),
  category('other', ['Other', 'Outros', 'Otros'], 'request', 'receptionist'),
]

type Opening = {
  /** Code of the category. */
  category: string
  kind?: IssueKind
  priority: IssuePriority
  title: string
  /** Names what the issue is about, from the data of the event: one open issue for one key. */
  key: (data: Readonly<Record<string, unknown>>, entityId: string) => string
  /** Links that the data of the event hold. */
  links?: readonly ('reservationId' | 'unitId' | 'paymentId' | 'guestId')[]
  /** Opens only where this holds. */
  when?: (data: Readonly<Record<string, unknown>>) => boolean
}
const of =
  (prefix: string, ...fields: string[]) =>
  (data: Readonly<Record<string, unknown>>, entityId: string) =>
    [prefix, ...(fields.length === 0 ? [entityId] : fields.map((field) => String(data[field])))].join(':')

const exceptionKinds = new Set(['late_payment', 'amount_differs', 'duplicate_payment'])

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
    links: ['paymentId'],
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
}

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
}
