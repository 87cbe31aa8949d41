import { LRUCache } from 'lru-cache'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { rootCertificates } from 'node:tls'
import type * as Nodemailer from 'nodemailer'
import { credentialsRefused } from '../../db/jobs/index.ts'
import type { Outgoing, SendOutcome, SmtpAccount } from '../../db/ocp/index.ts'
import { settings } from '../../config/env.ts'
import { AddressRefused, placeOf } from '../../config/outgoing-address.ts'
import { saysNoMailbox } from './no-mailbox.ts'

/** A mail to be sent; every part is a value, so that nothing of it can become a header or a second recipient. */
export type Mail = Pick<
  Outgoing,
  | 'to'
  | 'toName'
  | 'fromName'
  | 'fromAddress'
  | 'replyTo'
  | 'subject'
  | 'text'
  | 'html'
  | 'messageId'
  | 'account'
  | 'channelId'
  | 'unsubscribeUrl'
> & {
  /** Machines answer no machine's mail. */
  isAutomatic: boolean
}

const pooled = {
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
} as const

/** Loaded with the first mail: it takes 15 MB, and few processes send any. */
const load = createRequire(import.meta.url)
const mailer = () => load('nodemailer') as typeof Nodemailer

const makeTransport = (url: string) => mailer().createTransport({ url, ...pooled, requireTLS: settings.production })
type Transport = ReturnType<typeof makeTransport>

/** A tenant's own server, at the very address that was judged: its name cannot lead elsewhere the second time. TLS always, with a certificate of its name. */
const makeOwn = ({ host, port, user, password }: SmtpAccount, place: { address: string; port: number }): Transport =>
  mailer().createTransport({
    ...pooled,
    host: place.address,
    port: place.port,
    secure: port === 465,
    requireTLS: true,
    tls: {
      ...(isIP(host) === 0 ? { servername: host } : {}),
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      ...(settings.smtpCa ? { ca: [...rootCertificates, settings.smtpCa] } : {}),
    },
    auth: { user, pass: password },
  })

// Bounded: an idle transport of a tenant makes room for another's.
const transports = new LRUCache<string, Transport>({
  max: 200,
  dispose: (transport) => {
    // What is being sent by it ends first.
    setTimeout(() => transport.close(), 30_000).unref()
  },
})

const kept = (name: string, make: () => Transport): Transport => {
  const found = transports.get(name)
  if (found) return found
  const made = make()
  transports.set(name, made)
  return made
}

const nameOf = (channelId: string, account: SmtpAccount, address: string) =>
  createHash('sha256')
    .update(JSON.stringify([channelId, account, address]))
    .digest('base64url')

/** The transport of a mail: the service's, or the tenant's own. Throws AddressRefused for a server inside our own network. */
const transportOf = async ({ account, channelId }: Pick<Mail, 'account' | 'channelId'>): Promise<Transport | null> => {
  if (account && 'smtp' in account) {
    const { smtp } = account
    const found = await placeOf(new URL(`https://${smtp.host}/`))
    const place =
      typeof found === 'number'
        ? { address: '127.0.0.1', port: found }
        : { address: found[0]?.address ?? smtp.host, port: smtp.port }
    return kept(nameOf(channelId, smtp, place.address), () => makeOwn(smtp, place))
  }
  const url = settings.smtpUrl
  return url === null ? null : kept(url, () => makeTransport(url))
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
/**
 * Codes of a TLS handshake that failed, with which no connection ever carried a mail: a certificate that is not of the server's name or of no known authority,
 * or a server that speaks another version of TLS, or none.
 */
const handshake =
  /CERT|^(INVALID_(CA|PURPOSE)|UNABLE_TO_VERIFY_LEAF_SIGNATURE|HOSTNAME_MISMATCH)$|^ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|\w+_ALERT_(PROTOCOL_VERSION|HANDSHAKE_FAILURE))$/
/** The server wants a login that it accepts, whatever the message. */
const loginRefused = new Set([530, 534, 535])
const ofMessage = /^(MAIL FROM|RCPT TO|DATA)/

/** Tells whether a refusal says that there is no such mailbox, rather than that this message is not wanted. */
const isNoMailbox = ({ command, responseCode, response = '' }: SmtpError) =>
  (command ?? '').startsWith('RCPT TO') && saysNoMailbox(responseCode ?? 0, response)

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
  const isNever = (name = '') => neverConnected.has(name) || handshake.test(name)
  if (isEarly || isNever(error.originalCode) || isNever(error.code)) return { kind: 'not_sent', code, message }
  return { kind: 'unknown', code, message }
}

/** One click ends marketing (RFC 8058): readers of mail show a button for it. */
const listHeaders = (url: string | null): Record<string, string> =>
  url === null ? {} : { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }

/** Sends one mail to one recipient, over the service's SMTP server or the tenant's own. Never throws. */
export const sendMail = async (mail: Mail, signal: AbortSignal): Promise<SendOutcome> => {
  const from = sender()
  const address = mail.fromAddress ?? from.address
  try {
    const transport = await transportOf(mail)
    if (!transport) return { kind: 'not_sent', code: 'smtp_not_set', message: 'SMTP_URL is not set' }
    const info = await transport.sendMail({
      from: { name: mail.fromName ?? from.name, address },
      to: { name: mail.toName, address: mail.to },
      ...(mail.replyTo === null ? {} : { replyTo: { name: '', address: mail.replyTo } }),
      envelope: { from: address, to: [mail.to] },
      subject: mail.subject,
      text: mail.text,
      ...(mail.html === null ? {} : { html: mail.html }),
      messageId: mail.messageId,
      headers: {
        ...(mail.isAutomatic ? { 'Auto-Submitted': 'auto-generated' } : {}),
        ...listHeaders(mail.unsubscribeUrl),
      },
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
    if (error instanceof AddressRefused)
      return { kind: 'refused', code: 'address_refused', message: 'the server is not at a public address' }
    return failed(error instanceof Error ? error : new Error(String(error)))
  }
}
