import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { settings } from '../../config/env.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { callbackPath, callbackToken, sealCredentials } from '../../db/ocp/channel-accounts.ts'
import type { ReceivedMail } from '../../scripts/services/mailbox.ts'
import type { House } from '../support/factories.ts'
import { signTwilio } from './carrier.ts'
import type { Staff } from './staff.ts'

type Kind = 'email' | 'sms' | 'whatsapp'

/** A refusal that a house has taken: by a word that was told to it, or by a request that it has answered. */
export type Refusal = {
  tenantId: string
  kind: Kind
  address: string
  scope: 'all' | 'marketing'
  /** The key of the callback that told it; it counts once that is processed. */
  word?: string
  /** The message whose link was followed. */
  messageId?: string
  suppressionId?: string
  /** The time of the answer, after which it counts. */
  at?: string
}

/** The ways in to a house for what its guests answer. */
export type Door = {
  tenantId: string
  paths: Record<Kind, string>
  /** Signs what is told of mail. */
  secret: string
  /** An API key that may add suppressions. */
  key: string
}

/** Gives the channel for mail of each house a secret, and answers the ways in by property. */
export const openInboxes = async (
  houses: readonly House[],
  { keys }: Pick<Staff, 'keys'>,
): Promise<Map<string, Door>> => {
  const doors = new Map<string, Door>()
  for (const { tenantId, propertyId } of houses)
    await inTenant(tenantId, async (trx) => {
      const channels = await sql<{ id: string; kind: Kind }>(
        trx,
        `select id, kind from message_channel where property_id = ?`,
        [propertyId],
      )
      const idOf = (kind: Kind) => channels.find((one) => one.kind === kind)?.id ?? ''
      const secret = `whsec_${randomBytes(32).toString('base64')}`
      const credentials = await sealCredentials(trx, idOf('email'), { inboundSecret: secret })
      await sql(trx, `update message_channel set credentials = ? where id = ?`, [credentials, idOf('email')])
      const pathOf = (kind: Kind) => callbackPath(callbackToken(idOf(kind)))
      const paths = { email: pathOf('email'), sms: pathOf('sms'), whatsapp: pathOf('whatsapp') }
      const { key = '' } = keys.find((one) => one.tenantId === tenantId) ?? {}
      doors.set(propertyId, { tenantId, paths, secret, key })
    })
  return doors
}

const patienceMs = 25_000

type Asked = { method?: string; headers?: Record<string, string>; body?: string }

/** Asks the processes of the api in turn, until one says yes; null where none did. */
const insist = async (apis: readonly string[], path: string, asked: () => Asked): Promise<string | null> => {
  for (let tries = 0, end = Date.now() + patienceMs; Date.now() < end; tries += 1) {
    const init = { method: 'POST', ...asked(), signal: AbortSignal.timeout(10_000) }
    const reply = await fetch(`${apis[tries % apis.length]}${path}`, init).catch(() => null)
    const text = await reply?.text().catch(() => null)
    if ((reply?.status === 200 || reply?.status === 201) && typeof text === 'string') return text
    await wait(200)
  }
  return null
}

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Tells a house what a guest wrote, as the service that reads its mail does, or Twilio. Answers the key of the callback; null where it was not taken. */
export const tell = async (
  apis: readonly string[],
  { paths, secret }: Door,
  kind: Kind,
  { id, from, text }: { id: string; from: string; text: string },
): Promise<string | null> => {
  const path = paths[kind]
  if (kind === 'email') {
    const body = JSON.stringify({ type: 'inbound', id, from, text })
    const taken = await insist(apis, path, () => {
      const at = new Date()
      const signature = new Webhook(secret).sign(id, at, body)
      const timestamp = String(Math.floor(at.getTime() / 1_000))
      const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
      return { headers: { ...json, ...signed }, body }
    })
    return taken === null ? null : `inbound:${id}`
  }
  const sid = `SM${createHash('md5').update(`${kind} ${id}`).digest('hex')}`
  const told = { MessageSid: sid, From: kind === 'sms' ? from : `whatsapp:${from}`, Body: text }
  const signature = signTwilio(settings.twilio.authToken ?? '', `${settings.publicBaseUrl}${path}`, told)
  const body = new URLSearchParams(told).toString()
  const taken = await insist(apis, path, () => ({ headers: { ...form, 'x-twilio-signature': signature }, body }))
  return taken === null ? null : `in:${sid}`
}

const stopWords = ['STOP', 'Parar', 'SAIR']

/** A guest answers with a stop word, which comes three times, among another word that comes before and after it. Null where none was taken. */
export const sayByWord = async (
  apis: readonly string[],
  door: Door,
  kind: Kind,
  address: string,
): Promise<Refusal | null> => {
  const text = stopWords[address.charCodeAt(address.length - 1) % stopWords.length] ?? 'STOP'
  const say = (id: string, said: string) =>
    tell(apis, door, kind, { id: `${id}-${address}`, from: address, text: said })
  const taken = await Promise.all([say('then', 'Thank you.'), say('no', text), say('no', text)])
  const again = [await say('no', text), await say('then', 'Thank you.')]
  const word = taken[1] ?? taken[2] ?? again[0]
  return word ? { tenantId: door.tenantId, kind, address, scope: 'all', word } : null
}

const linkOf = ({ headers }: ReceivedMail): string | null => {
  const found = headers.find(({ name }) => name.toLowerCase() === 'list-unsubscribe')
  return /<([^>]+)>/.exec(found?.value ?? '')?.[1] ?? null
}

/** The address of an offer's way out, and its message. */
const offerTo = (mails: readonly ReceivedMail[], email: string): { path: string; messageId: string } | null => {
  const offer = mails.find((mail) => mail.to.includes(email) && linkOf(mail) !== null)
  const link = offer && linkOf(offer)
  const messageId = /^<?([0-9a-f-]{36})\./.exec(offer?.messageId ?? '')?.[1]
  return link && messageId ? { path: new URL(link).pathname, messageId } : null
}

const offerWithinMs = 20_000

/** A guest follows the link of an offer and presses the button, or the reader of mail does it by one click, twice. Null where no offer came. */
export const sayByLink = async (
  apis: readonly string[],
  { tenantId }: Pick<Door, 'tenantId'>,
  { email, mails, oneClick }: { email: string; mails: () => readonly ReceivedMail[]; oneClick: boolean },
): Promise<Refusal | null> => {
  let offer = offerTo(mails(), email)
  for (const end = Date.now() + offerWithinMs; offer === null && Date.now() < end; offer = offerTo(mails(), email))
    await wait(500)
  if (!offer) return null
  const { path, messageId } = offer
  if (!oneClick && (await insist(apis, path, () => ({ method: 'GET' }))) === null) return null
  const press = () => insist(apis, path, () => ({ headers: form, body: oneClick ? 'List-Unsubscribe=One-Click' : '' }))
  const pressed = await Promise.all([press(), press()])
  const at = new Date().toISOString()
  return pressed.some((one) => one !== null)
    ? { tenantId, kind: 'email', address: email, scope: 'marketing', messageId, at }
    : null
}

/** A suppression of an address, added twice by staff. Null where no request was accepted. */
export const sayAtDesk = async (
  apis: readonly string[],
  { tenantId, key }: Door,
  kind: Kind,
  address: string,
): Promise<Refusal | null> => {
  const body = JSON.stringify({ kind, address, scope: 'all' })
  const ask = () =>
    insist(apis, `/api/tenants/${tenantId}/ocp/suppressions`, () => ({ headers: { ...json, 'x-api-key': key }, body }))
  const answers = [await ask(), await ask()].filter((one) => one !== null)
  const at = new Date().toISOString()
  const { id } = JSON.parse(answers[0] ?? '{}') as { id?: string }
  return id === undefined ? null : { tenantId, kind, address, scope: 'all', suppressionId: id, at }
}
