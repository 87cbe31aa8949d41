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

/** A tenant's own SMTP server. TLS always. */
export type SmtpAccount = { host: string; port: 465 | 587 | 2525; user: string; password: string }
/** A tenant's own account at Twilio, and what it sends from: a number or a messaging service. */
export type TwilioAccount = {
  accountSid: string
  authToken: string
  from: string | null
  messagingServiceSid: string | null
}
/** By what a message is carried where that is not the service's own account. */
export type Account = { smtp: SmtpAccount } | { twilio: TwilioAccount }

/** A message as it leaves the house. The parts are values, never assembled headers. */
export type Outgoing = {
  attemptId: string
  kind: 'email' | 'sms' | 'whatsapp'
  channelId: string
  transport: 'platform' | 'own' | 'sandbox'
  account: Account | null
  /** An e-mail address or E.164. */
  to: string
  toName: string
  fromName: string | null
  /** The sender of the tenant's own, where it is proven; null is that of the account. */
  fromAddress: string | null
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
  /** The address that the provider reports to. */
  callbackUrl: string
  /** Ends marketing to the address, by one click; null for all else. */
  unsubscribeUrl: string | null
  /** Staff wrote it: machines may answer it. */
  isPersonal: boolean
}

/** Gate of the account that carries a message: one of the service each, and one for each channel with an account of its own. The sandbox has none. */
export const carrierGate = ({
  kind,
  transport,
  channelId,
}: {
  kind: string | null
  transport: string | null
  channelId: string
}): string => {
  if (kind === null || transport === null || transport === 'sandbox') return ''
  const provider = kind === 'email' ? 'smtp' : 'twilio'
  return transport === 'own' ? `${provider}:${channelId}` : provider
}

/** A provider's words without the addresses that it repeats in them, since they are kept in clear, and without what no record can hold. */
export const withoutAddresses = (kind: Outgoing['kind'], text: string): string => {
  const storable = text.replaceAll('\0', ' ').toWellFormed()
  return kind === 'email'
    ? storable.replace(/[^\s<>"'(),:;]+@[^\s<>"'(),:;]+/g, '•••')
    : storable.replace(/\+?\d[\d\s().-]{6,}\d/g, '•••')
}
