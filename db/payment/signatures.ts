import { createHmac, timingSafeEqual } from 'node:crypto'
import { settings } from '../../config/env.ts'

/** `other`: of a kind that no record here stands for. Such a callback is genuine all the same, and is kept and ignored. */
export const callbackObjects = ['charge', 'link', 'refund', 'account', 'method', 'dispute', 'payout', 'other'] as const
export type CallbackObject = (typeof callbackObjects)[number]

/** The object that a callback names; its content decides nothing (R5). */
export type Callback = {
  accountRef: string
  eventId: string
  eventType: string
  objectType: CallbackObject
  objectRef: string
  ourId: string | null
}

/** The greatest difference between the time in a signature and ours, on either side. */
const toleranceSeconds = 300

const signatureForm = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/

const hmac = (secret: string, seconds: number, rawBody: Buffer) =>
  createHmac('sha256', secret).update(`${seconds}.`).update(rawBody).digest()

/** `t=<seconds>,v1=<HMAC-SHA256 of "t.body">` */
export const signSandbox = (rawBody: Buffer, now: Date, secret = settings.sandboxCallbackSecrets[0] ?? ''): string => {
  const seconds = Math.floor(now.getTime() / 1000)
  return `t=${seconds},v1=${hmac(secret, seconds, rawBody).toString('hex')}`
}

const text = (value: unknown, most = 200): string | null =>
  typeof value === 'string' && value.length > 0 && value.length <= most ? value : null

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const parseSandbox = (rawBody: Buffer): Callback | null => {
  let body: unknown
  try {
    body = JSON.parse(rawBody.toString('utf8'))
  } catch {
    return null
  }
  if (typeof body !== 'object' || body === null) return null
  const { id, type, account, object, ref, ourId } = body as Record<string, unknown>
  const [eventId, eventType, accountRef, objectRef] = [text(id), text(type), text(account), text(ref)]
  const objectType = callbackObjects.find((one) => one === object)
  if (!eventId || !eventType || !accountRef || !objectRef || !objectType) return null
  return {
    accountRef,
    eventId,
    eventType,
    objectType,
    objectRef,
    ourId: typeof ourId === 'string' && uuid.test(ourId) ? ourId : null,
  }
}

/**
 * Judges a callback by its raw bytes (R23): every secret in rotation is tried in constant time, and the signature's time must be
 * near ours. Null: nothing of it is believed.
 */
export const verifySandbox = (
  signature: string,
  rawBody: Buffer,
  now: Date,
  secrets = settings.sandboxCallbackSecrets,
): Callback | null => {
  const [, stamp, given] = signatureForm.exec(signature) ?? []
  if (!stamp || !given) return null
  const seconds = Number(stamp)
  const expected = Buffer.from(given, 'hex')
  let genuine = false
  for (const secret of secrets) if (timingSafeEqual(hmac(secret, seconds, rawBody), expected)) genuine = true
  if (!genuine || Math.abs(now.getTime() / 1000 - seconds) > toleranceSeconds) return null
  return parseSandbox(rawBody)
}

type Json = Record<string, unknown>
const inside = (value: unknown): Json | null => (typeof value === 'object' && value !== null ? (value as Json) : null)

const stripeObjects: Readonly<Record<string, CallbackObject>> = {
  payment_intent: 'charge',
  refund: 'refund',
  dispute: 'dispute',
  payout: 'payout',
  setup_intent: 'method',
  account: 'account',
}
const ourIds = ['paymentId', 'refundId', 'paymentMethodId', 'gatewayAccountId']

/** The account and the object that an event of Stripe names. An event of the platform names no account. */
const parseStripe = (rawBody: Buffer): Callback | null => {
  let event: Json | null = null
  try {
    event = inside(JSON.parse(rawBody.toString('utf8')))
  } catch {
    return null
  }
  const object = inside(inside(event?.['data'])?.['object'])
  const [eventId, eventType, account] = [text(event?.['id']), text(event?.['type']), text(event?.['account'])]
  if (!eventId || !eventType) return null
  const isEnd = eventType === 'account.application.deauthorized'
  const objectType = isEnd ? 'account' : (stripeObjects[String(object?.['object'])] ?? 'other')
  const objectRef = isEnd ? account : (text(object?.['id']) ?? (objectType === 'other' ? eventId : null))
  if (!objectRef) return null
  // Objects of other kinds may bear our id all the same: a charge has a copy of its payment's metadata.
  const metadata = objectType === 'other' ? null : inside(object?.['metadata'])
  const ourId = ourIds.map((name) => metadata?.[name]).find((id) => typeof id === 'string' && uuid.test(id))
  return {
    accountRef: account ?? (objectType === 'account' ? objectRef : 'platform'),
    eventId,
    eventType,
    objectType,
    objectRef,
    ourId: typeof ourId === 'string' ? ourId : null,
  }
}

/**
 * Judges an event of Stripe by its raw bytes, with the secrets of both endpoints. Its time may lie neither too far back nor ahead of ours, while
 * Stripe's own check takes any time ahead.
 */
export const verifyStripe = (
  signature: string,
  rawBody: Buffer,
  now: Date,
  secrets: readonly string[] = [...settings.stripe.webhookSecrets, ...settings.stripe.connectWebhookSecrets],
): Callback | null => {
  const parts = signature.length > 2_000 ? [] : signature.split(',').map((part) => part.trim().split('='))
  const stamp = parts.find(([name]) => name === 't')?.[1] ?? ''
  const given = parts
    .filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value ?? ''))
    .map(([, value]) => value ?? '')
  if (!/^\d{1,12}$/.test(stamp) || given.length === 0 || given.length > 10) return null
  const seconds = Number(stamp)
  let genuine = false
  for (const secret of secrets)
    for (const one of given)
      if (timingSafeEqual(hmac(secret, seconds, rawBody), Buffer.from(one, 'hex'))) genuine = true
  if (!genuine || Math.abs(now.getTime() / 1000 - seconds) > toleranceSeconds) return null
  return parseStripe(rawBody)
}

type Verified = { callback: Callback; headers: Record<string, string> }

/** Judges a callback of any provider that this installation has. Null: forged, too old, or not understood. */
export const verifyCallback = (
  provider: string,
  header: (name: string) => string,
  rawBody: Buffer,
  now: Date,
): Verified | 'no_such_provider' | null => {
  if (provider === 'stripe' && settings.stripe.secretKey !== null) {
    const signature = header('stripe-signature')
    const verified = verifyStripe(signature, rawBody, now)
    return verified && { callback: verified, headers: { 'stripe-signature': signature } }
  }
  if (provider !== 'sandbox' || !settings.sandboxGateway) return 'no_such_provider'
  const signature = header('sandbox-signature')
  const verified = verifySandbox(signature, rawBody, now)
  return verified && { callback: verified, headers: { 'sandbox-signature': signature } }
}
