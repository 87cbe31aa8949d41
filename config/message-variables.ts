/** Variables of templates, by context. The types say which filters fit; `nullable` ones need a default before publishing. */
export type VariableType = 'text' | 'integer' | 'day' | 'instant' | 'clock' | 'money' | 'link'
export type MessageVariable = {
  path: string
  type: VariableType
  nullable: boolean
  example: string | number
  /** Grants access to its reader: kept as ••• wherever the message is stored. */
  secret?: true
}

export const messageContexts = [
  'reservation',
  'payment',
  'guest',
  'issue',
  'group',
  'receivable',
  'purchase_order',
] as const
export type MessageContext = (typeof messageContexts)[number]

const of = (path: string, type: VariableType, example: string | number, nullable = false): MessageVariable => ({
  path,
  type,
  nullable,
  example,
})

const property = [
  of('property.name', 'text', 'Pousada do Sol'),
  of('property.phone', 'text', '+55 24 3371 0000', true),
  of('property.email', 'text', 'reservas@sol.example', true),
  of('property.website', 'link', 'https://sol.example', true),
  of('property.address', 'text', 'Rua do Comércio 10, Paraty', true),
  of('property.checkInFrom', 'clock', '14:00', true),
  of('property.checkOutUntil', 'clock', '11:00', true),
]
const guest = [
  of('guest.firstName', 'text', 'Ana', true),
  of('guest.lastName', 'text', 'Souza', true),
  of('guest.name', 'text', 'Ana Souza', true),
  { ...of('code', 'text', '123456', true), secret: true as const },
  { ...of('link', 'link', 'https://example.com/', true), secret: true as const },
]
/** The registration form of the guest who reads the message, for their stay: empty where the house keeps no forms. */
const registration = [{ ...of('registration.link', 'link', 'https://example.com/', true), secret: true as const }]
/** Ends marketing to the address that the message goes to. It works for its reader alone, so it is kept as ••• too. */
const unsubscribe = [{ ...of('unsubscribe.link', 'link', 'https://example.com/unsubscribe'), secret: true as const }]
const reservation = [
  of('booking.number', 'text', '7K3M9QXA'),
  of('booking.total', 'money', 106_000),
  of('booking.paid', 'money', 31_800),
  of('booking.balance', 'money', 74_200),
  of('booking.returned', 'money', 0),
  of('reservation.number', 'text', '7K3M9QXA-1', true),
  of('reservation.arrival', 'day', '2026-12-24', true),
  of('reservation.departure', 'day', '2026-12-26', true),
  of('reservation.nights', 'integer', 2, true),
  of('reservation.adults', 'integer', 2, true),
  of('reservation.children', 'integer', 1, true),
  of('reservation.unitType', 'text', 'Suíte Jardim', true),
  of('reservation.ratePlan', 'text', 'Flexible rate', true),
  of('reservation.total', 'money', 53_000, true),
  of('reservation.fee', 'money', 0, true),
  of('reservation.cancellation', 'text', 'Free until 17 December 2026.', true),
  ...registration,
]
const issue = [
  of('issue.number', 'integer', 12),
  of('issue.title', 'text', 'Noise next door', true),
  of('issue.comment', 'text', 'We have asked your neighbours to be quiet.', true),
]
const group = [
  of('group.code', 'text', 'WEDDING26', true),
  of('group.name', 'text', 'Souza wedding', true),
  of('group.arrival', 'day', '2026-12-24', true),
  of('group.departure', 'day', '2026-12-26', true),
]
const payment = [
  of('payment.amount', 'money', 31_800),
  of('payment.method', 'text', 'card'),
  of('payment.capturedAt', 'instant', '2026-11-20T12:00:00.000Z', true),
  of('payment.refunded', 'money', 0),
]

const order = [
  of('order.number', 'integer', 41),
  of('order.supplier', 'text', 'Lavanderia Espuma'),
  of('order.lines', 'text', '12 x Paint for the façade'),
  of('order.total', 'money', 54_000),
  of('order.expectedOn', 'day', '2026-12-01', true),
  of('order.notes', 'text', 'Ring the bell at the back', true),
]

const receivable = [
  of('receivable.customer', 'text', 'Viagens Mar Azul Ltda', true),
  of('receivable.number', 'text', 'F-41', true),
  of('receivable.reference', 'text', 'PO 7781', true),
  of('receivable.issuedOn', 'day', '2026-11-02', true),
  of('receivable.dueOn', 'day', '2026-12-02', true),
  of('receivable.total', 'money', 318_000, true),
  of('receivable.open', 'money', 318_000, true),
  of('receivable.installments', 'text', '12/2/26  R$ 3,180.00', true),
  of('receivable.pix', 'text', '00020126580014br.gov.bcb.pix', true),
  of('receivable.message', 'text', 'Thank you for staying with us.', true),
  of('dunning.level', 'integer', 2, true),
  of('dunning.installments', 'text', 'F-41  12/2/26  R$ 3,180.00', true),
  of('dunning.total', 'money', 318_000, true),
]

export const messageVariables: Readonly<Record<MessageContext, readonly MessageVariable[]>> = {
  guest: [...property, ...guest, ...unsubscribe],
  reservation: [...property, ...guest, ...unsubscribe, ...reservation],
  payment: [...property, ...guest, ...unsubscribe, ...reservation, ...payment],
  issue: [...property, ...guest, ...unsubscribe, ...issue],
  group: [...property, ...guest, ...unsubscribe, ...group],
  receivable: [...property, ...guest, ...unsubscribe, ...receivable],
  purchase_order: [...property, ...order],
}
