import { LRUCache } from 'lru-cache'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type twilioSdk from 'twilio'
import { credentialsRefused } from '../../db/jobs/index.ts'
import { fitsBlotted, twilioReport } from '../../db/ocp/index.ts'
import type { FoundText, Outgoing, SendOutcome } from '../../db/ocp/index.ts'
import { required, settings } from '../../config/env.ts'

const load = createRequire(import.meta.url)

type Client = ReturnType<typeof twilioSdk>
const clients = new LRUCache<string, Client>({ max: 100 })

/** The account that carries a message: the tenant's own, or the service's. The SDK is loaded on its first use: it is large, and most processes never send an SMS. */
const clientOf = ({ account }: Pick<Outgoing, 'account'>): Client => {
  const { baseUrl } = settings.twilio
  const own = account && 'twilio' in account ? account.twilio : null
  const accountSid = own?.accountSid ?? required(settings.twilio.accountSid, 'TWILIO_ACCOUNT_SID')
  const authToken = own?.authToken ?? required(settings.twilio.authToken, 'TWILIO_AUTH_TOKEN')
  const key = createHash('sha256').update(`${accountSid} ${authToken} ${baseUrl}`).digest('base64url')
  const found = clients.get(key)
  if (found) return found
  const twilio = load('twilio') as typeof twilioSdk
  const client = twilio(accountSid, authToken, { timeout: 12_000, autoRetry: false, keepAlive: false })
  if (baseUrl) client.api.baseUrl = baseUrl
  clients.set(key, client)
  return client
}

type Sender = { from: string } | { messagingServiceSid: string }

const senderOf = ({ kind, account, fromAddress }: Pick<Outgoing, 'kind' | 'account' | 'fromAddress'>): Sender => {
  const named = (number: string) => ({ from: kind === 'whatsapp' ? `whatsapp:${number}` : number })
  if (account && 'twilio' in account) {
    const { messagingServiceSid, from } = account.twilio
    if (fromAddress !== null) return named(fromAddress)
    return messagingServiceSid ? { messagingServiceSid } : named(from ?? '')
  }
  return named(
    kind === 'whatsapp'
      ? required(settings.twilio.whatsappFrom, 'TWILIO_WHATSAPP_FROM')
      : required(settings.twilio.from, 'TWILIO_FROM'),
  )
}
const recipientOf = ({ kind, to }: Outgoing) => (kind === 'whatsapp' ? `whatsapp:${to}` : to)

const isSid = (sid: unknown): sid is string => typeof sid === 'string' && /^(SM|MM)[0-9a-fA-F]{32}$/.test(sid)

const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT_CONNECT',
])
const stopped = 21610
/** Numbers that cannot be written to at all. */
const invalidNumbers = new Set([21211, 21214, 21217, 21401, 21407, 21421, 21614])

/**
 * Codes by which Twilio refuses the account or its sender, whatever the message: a wrong token, an account that is suspended or not active, an
 * account that is not found, credentials of tests, a sender that the account does not own or that cannot send.
 */
const accountRefused = new Set([
  10001, 20003, 20005, 20006, 20008, 20101, 20404, 30002, 90010, 21212, 21603, 21606, 21659, 21660, 21661, 63007,
]) // oxfmt-ignore

/** Classifies a failure of the API (R10). Only an answer with a code of Twilio counts as its own. */
const failed = (error: unknown): SendOutcome => {
  const { status, code, message } = error as { status?: number; code?: unknown; message?: string }
  const text = (message ?? String(error)).slice(0, 300)
  if (typeof status !== 'number') {
    const name = typeof code === 'string' ? code : 'call_failed'
    return { kind: neverConnected.has(name) ? 'not_sent' : 'unknown', code: name, message: text }
  }
  // Nothing was sent: the account is at its limit, or blocked, or its id or token is wrong, which an operator must mend.
  if (status === 401)
    return { kind: 'not_sent', code: credentialsRefused, httpStatus: status, message: `HTTP 401: ${text}` }
  if (status === 429) return { kind: 'not_sent', code: 'http_429', httpStatus: status, message: text }
  if (typeof code !== 'number')
    return {
      kind: 'unknown',
      code: `http_${status}`,
      httpStatus: status,
      message: `HTTP ${status} without a code of the provider`,
    }
  if (status < 500 && accountRefused.has(code))
    return { kind: 'not_sent', code: credentialsRefused, httpStatus: status, message: `twilio_${code}: ${text}` }
  if (status >= 400 && status < 500) {
    const suppress = code === stopped ? 'stop' : invalidNumbers.has(code) ? 'invalid' : undefined
    return { kind: 'refused', code: `twilio_${code}`, message: text, suppress }
  }
  return { kind: 'unknown', code: `http_${status}`, httpStatus: status, message: text }
}

const segmentsOf = (value: unknown) => {
  const count = Number(value)
  return Number.isSafeInteger(count) && count > 0 ? count : undefined
}

const isReachable = (url: string) => /^https?:\/\/[^/]+\.[^/]+\//.test(url)

/** Sends an SMS or a WhatsApp message. Never throws. A 200 without a well-formed id is not a sent message. */
export const sendText = async (message: Outgoing): Promise<SendOutcome> => {
  try {
    const content =
      message.contentSid === null
        ? { body: message.text }
        : { contentSid: message.contentSid, contentVariables: JSON.stringify(message.contentVariables ?? {}) }
    const reply = await clientOf(message).messages.create({
      to: recipientOf(message),
      ...senderOf(message),
      ...content,
      // Twilio takes none that it could not reach.
      ...(isReachable(message.callbackUrl) ? { statusCallback: message.callbackUrl } : {}),
    })
    if (!isSid(reply.sid)) return { kind: 'unknown', code: 'reply_malformed', message: 'the reply has no message id' }
    return {
      kind: 'accepted',
      reference: reply.sid,
      segments: segmentsOf(reply.numSegments),
      proof: String(reply.status).slice(0, 60),
    }
  } catch (error) {
    return failed(error)
  }
}

const minuteMs = 60_000

/**
 * Looks for a message of which no answer came: by recipient, time and `wrote`, its text as it is kept. Answers all that it may be, the oldest first;
 * throws where Twilio cannot be asked. The texts of approved contents are Twilio's: of those it answers all that went to the recipient in the time.
 */
export const findTexts = async (message: Outgoing, wrote: string): Promise<FoundText[]> => {
  const sender = senderOf(message)
  const list = await clientOf(message).messages.list({
    to: recipientOf(message),
    dateSentAfter: new Date(message.startedAt.getTime() - 24 * 60 * minuteMs),
    pageSize: 50,
    limit: 50,
  })
  const found = list.filter(
    (candidate) =>
      isSid(candidate.sid) &&
      ('from' in sender
        ? candidate.from === sender.from
        : candidate.messagingServiceSid === sender.messagingServiceSid) &&
      candidate.dateCreated instanceof Date &&
      candidate.dateCreated.getTime() >= message.startedAt.getTime() - minuteMs &&
      // The body of a message without text is null.
      (message.contentSid !== null || fitsBlotted(wrote, (candidate.body as string | null) ?? '')),
  )
  return found.reverse().map(({ sid, numSegments, status, errorCode }) => ({
    kind: 'accepted',
    reference: sid,
    segments: segmentsOf(numSegments),
    proof: `found: ${String(status).slice(0, 60)}`,
    report: twilioReport(status, Number.isSafeInteger(errorCode) && errorCode !== 0 ? String(errorCode) : undefined),
  }))
}
