import { createHmac, timingSafeEqual } from 'node:crypto'
import { openBytes, sealBytes } from '../../config/derived-secrets.ts'
import { required, settings } from '../../config/env.ts'
import { contextOf } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { channelKinds } from './rules/contents.ts'
import type { ChannelKind } from './rules/contents.ts'

// Kind, tenant, message.
const length = 1 + 16 + 16
const purpose = 'unsubscribe'
/** Links of mails that went before tokens were sealed have the proof that we made them behind. They are good for ever. */
const provenLength = length + 20

const mark = (bytes: Buffer): Buffer =>
  createHmac('sha256', required(settings.tokenKey, 'TOKEN_KEY'))
    .update('unsubscribe|')
    .update(bytes)
    .digest()
    .subarray(0, 20)
const bytesOf = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex')
const idOf = (bytes: Buffer) => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** Names one message and the channel it went by, and so one address. Its bearer reads nothing of it, and makes none. */
const unsubscribeToken = (tenantId: string, messageId: string, kind: ChannelKind): string =>
  sealBytes(purpose, Buffer.concat([Buffer.from([channelKinds.indexOf(kind)]), bytesOf(tenantId), bytesOf(messageId)]))

export const unsubscribePath = '/api/public/unsubscribe'

/** The page that ends marketing to the address of a message. */
export const unsubscribeUrl = (trx: Trx, messageId: string, kind: ChannelKind): string =>
  `${settings.publicBaseUrl}${unsubscribePath}/${unsubscribeToken(contextOf(trx).tenantId ?? '', messageId, kind)}`

export type Unsubscribing = { tenantId: string; messageId: string; kind: ChannelKind }

const opened = (token: string): Buffer | null => {
  try {
    return openBytes(purpose, token)
  } catch {
    return null
  }
}

const proven = (bytes: Buffer): Buffer | null => {
  const named = bytes.subarray(0, length)
  return bytes.length === provenLength && timingSafeEqual(mark(named), bytes.subarray(length)) ? named : null
}

/** The content of a token; null for one that was not made here. */
export const readUnsubscribeToken = (token: string): Unsubscribing | null => {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.toString('base64url') !== token) return null
  const named = proven(bytes) ?? opened(token)
  const kind = channelKinds[named?.[0] ?? -1]
  if (named?.length !== length || !kind) return null
  return { kind, tenantId: idOf(named.subarray(1, 17)), messageId: idOf(named.subarray(17, 33)) }
}
