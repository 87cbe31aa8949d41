import type { MessageContext } from '../message-variables.ts'

type BuiltIn = {
  key: string
  name: string
  urgency: 'immediate' | 'normal'
  context: MessageContext
  /** It carries a document that the guest keeps: e-mail comes first, whatever the order of the property's channels. */
  document?: true
}

/** Templates that every tenant starts with. */
export const builtInTemplates = [
  {
    key: 'reservation-confirmed',
    name: 'Reservation confirmed',
    urgency: 'immediate',
    context: 'reservation',
    document: true,
  },
  {
    key: 'reservation-cancelled',
    name: 'Reservation cancelled',
    urgency: 'immediate',
    context: 'reservation',
    document: true,
  },
  { key: 'payment-captured', name: 'Payment received', urgency: 'immediate', context: 'payment', document: true },
  {
    key: 'payment-returned',
    name: 'Late payment returned',
    urgency: 'immediate',
    context: 'reservation',
    document: true,
  },
  { key: 'pre-arrival', name: 'Before arrival', urgency: 'normal', context: 'reservation', document: true },
  { key: 'arrival-day', name: 'How to find us', urgency: 'normal', context: 'reservation' },
  { key: 'thank-you', name: 'Thanks after the stay', urgency: 'normal', context: 'reservation', document: true },
  { key: 'booking-access-code', name: 'Access code for a booking', urgency: 'immediate', context: 'reservation' },
  { key: 'payment-link', name: 'Payment link', urgency: 'immediate', context: 'payment' },
  { key: 'registration-link', name: 'Registration link', urgency: 'immediate', context: 'reservation' },
  { key: 'issue-opened', name: 'Request or complaint received', urgency: 'immediate', context: 'issue' },
  { key: 'bank-details-changed', name: 'Bank details of a supplier', urgency: 'immediate', context: 'purchase_order' },
  { key: 'purchase-order', name: 'Purchase order', urgency: 'immediate', context: 'purchase_order', document: true },
  { key: 'receivable-invoice', name: 'Invoice', urgency: 'immediate', context: 'receivable', document: true },
  { key: 'dunning-notice', name: 'Reminder of what is due', urgency: 'normal', context: 'receivable', document: true },
  { key: 'issue-comment', name: 'Answer on a request or complaint', urgency: 'immediate', context: 'issue' },
  { key: 'issue-satisfaction', name: 'How we handled it', urgency: 'normal', context: 'issue' },
] as const satisfies readonly BuiltIn[]

export type BuiltInKey = (typeof builtInTemplates)[number]['key']
export type MessageTexts = Record<BuiltInKey, { subject: string; text: string; sms: string }>

const documents: ReadonlySet<string> = new Set(
  builtInTemplates.flatMap((template) => ('document' in template ? [template.key] : [])),
)

/** Tells whether a template carries a document, which goes by e-mail where there is an address. */
export const isDocument = (key: string): boolean => documents.has(key)
