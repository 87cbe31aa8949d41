/** A provider's answer to one call. Only `accepted` counts as sent, and only with the provider's own reference. */
export type SendOutcome =
  | { kind: 'accepted'; reference: string; segments?: number | undefined; proof: string }
  | {
      /** Refused for good: this address on this channel. */
      kind: 'refused'
      code: string
      message: string
      suppress?: 'hard_bounce' | 'invalid' | 'stop' | undefined
    }
  /** Certainly not sent: it may be tried again. */
  | { kind: 'not_sent'; code: string; message: string; httpStatus?: number | undefined; afterMs?: number | undefined }
  /** The outcome is unknown: never repeated blindly. */
  | { kind: 'unknown'; code: string; message: string; httpStatus?: number | undefined }

/** A message as it leaves the house. The parts are values, never assembled headers. */
export type Outgoing = {
  attemptId: string
  kind: 'email' | 'sms' | 'whatsapp'
  transport: 'platform' | 'sandbox'
  /** An e-mail address or E.164. */
  to: string
  toName: string
  fromName: string | null
  replyTo: string | null
  subject: string
  text: string
  html: string | null
  contentSid: string | null
  contentVariables: Record<string, string> | null
  /** Equal for every try of a step, so that a mail sent twice is shown once. */
  messageId: string
  /** Before this instant nothing of it was sent; for the search of what became of it. */
  startedAt: Date
}

/** Gate of the provider that carries a message: one account of the service each. The sandbox has none. */
export const carrierGate = ({ kind, transport }: { kind: string | null; transport: string | null }): string => {
  if (kind === null || transport !== 'platform') return ''
  return kind === 'email' ? 'smtp' : 'twilio'
}

/** A provider's words without the addresses that it repeats in them: they are kept in clear. */
export const withoutAddresses = (kind: Outgoing['kind'], text: string): string =>
  kind === 'email'
    ? text.replace(/[^\s<>"'(),:;]+@[^\s<>"'(),:;]+/g, '•••')
    : text.replace(/\+?\d[\d\s().-]{6,}\d/g, '•••')
