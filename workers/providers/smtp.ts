import { createTransport } from 'nodemailer'
import { credentialsRefused } from '../../db/jobs/index.ts'
import type { Outgoing, SendOutcome } from '../../db/ocp/index.ts'
import { settings } from '../../config/env.ts'

/** A mail to be sent; every part is a value, so that nothing of it can become a header or a second recipient. */
export type Mail = Pick<
  Outgoing,
  'to' | 'toName' | 'fromName' | 'replyTo' | 'subject' | 'text' | 'html' | 'messageId'
> & {
  /** Machines answer no machine's mail. */
  isAutomatic: boolean
}

const makeTransport = (url: string) =>
  createTransport({
    url,
    pool: true,
    maxConnections: 5,
    maxMessages: 200,
    // The pool would send again what it lost the connection of; whether it arrived is ours to find out.
    maxRequeues: 0,
    idleTimeout: 30_000,
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    dnsTimeout: 5_000,
    socketTimeout: 12_000,
    disableFileAccess: true,
    disableUrlAccess: true,
    requireTLS: settings.production,
  })

const transports = new Map<string, ReturnType<typeof makeTransport>>()
const transportOf = (url: string) => {
  const found = transports.get(url)
  if (found) return found
  const made = makeTransport(url)
  transports.set(url, made)
  return made
}

/** Ends the idle connections of this process. */
export const closeMail = () => {
  for (const transport of transports.values()) transport.close()
  transports.clear()
}

const sender = (): { name: string; address: string } => {
  const [, name = '', address = ''] = /^\s*"?([^"<]*?)"?\s*<?([^<>\s]+@[^<>\s]+?)>?\s*$/.exec(settings.mailFrom) ?? []
  return { name, address }
}

type SmtpError = Error & {
  code?: string
  originalCode?: string
  command?: string
  responseCode?: number
  response?: string
  timeoutType?: string
}

const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EDNS',
  'ETLS',
  'EAUTH',
])
/** The server wants a login that it accepts, whatever the message. */
const loginRefused = new Set([530, 534, 535])
const ofMessage = /^(MAIL FROM|RCPT TO|DATA)/

/** Whether a refusal says that there is no such mailbox, rather than that this message is not wanted. */
const isNoMailbox = ({ command, responseCode, response = '' }: SmtpError) => {
  const enhanced = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})/.exec(response)?.[1]
  return (
    (command ?? '').startsWith('RCPT TO') &&
    (enhanced ? enhanced.startsWith('5.1.') : [550, 551, 553].includes(responseCode ?? 0))
  )
}

/** Classifies a failure of SMTP (R10): a refused login is ours to mend; a 5xx about the message is final, a 4xx or no connection is not sent, all else is unknown. */
const failed = (error: SmtpError): SendOutcome => {
  const message = error.message.slice(0, 300)
  const code = error.responseCode ? `smtp_${error.responseCode}` : (error.originalCode ?? error.code ?? error.name)
  const isLoginRefused = error.responseCode ? loginRefused.has(error.responseCode) : error.code === 'EAUTH'
  if (isLoginRefused) return { kind: 'not_sent', code: credentialsRefused, message: `${code}: ${message}` }
  if (error.responseCode) {
    const isPermanent = error.responseCode >= 500 && error.code !== 'EAUTH' && ofMessage.test(error.command ?? '')
    return isPermanent
      ? { kind: 'refused', code, message, suppress: isNoMailbox(error) ? 'hard_bounce' : undefined }
      : { kind: 'not_sent', code, message }
  }
  if (error.code === 'EENVELOPE') return { kind: 'refused', code: 'invalid_address', message }
  const isEarly = error.timeoutType === 'CONNECT_TIMEOUT' || error.timeoutType === 'GREETING_TIMEOUT'
  if (isEarly || neverConnected.has(error.originalCode ?? '') || neverConnected.has(error.code ?? ''))
    return { kind: 'not_sent', code, message }
  return { kind: 'unknown', code, message }
}

/** Sends one mail to one recipient over the service's SMTP server. Never throws. */
export const sendMail = async (mail: Mail, signal: AbortSignal): Promise<SendOutcome> => {
  const from = sender()
  if (settings.smtpUrl === null) return { kind: 'not_sent', code: 'smtp_not_set', message: 'SMTP_URL is not set' }
  try {
    const info = await transportOf(settings.smtpUrl).sendMail({
      from: { name: mail.fromName ?? from.name, address: from.address },
      to: { name: mail.toName, address: mail.to },
      ...(mail.replyTo === null ? {} : { replyTo: { name: '', address: mail.replyTo } }),
      envelope: { from: from.address, to: [mail.to] },
      subject: mail.subject,
      text: mail.text,
      ...(mail.html === null ? {} : { html: mail.html }),
      messageId: mail.messageId,
      headers: mail.isAutomatic ? { 'Auto-Submitted': 'auto-generated' } : {},
      xMailer: false,
      disableFileAccess: true,
      disableUrlAccess: true,
      signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
    })
    const isTaken = info.accepted.length === 1 && /^2\d\d/.test(info.response)
    return isTaken
      ? { kind: 'accepted', reference: mail.messageId, proof: info.response }
      : { kind: 'unknown', code: 'no_acceptance', message: info.response.slice(0, 300) }
  } catch (error) {
    return failed(error instanceof Error ? error : new Error(String(error)))
  }
}
