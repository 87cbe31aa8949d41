import { createHash, createHmac } from 'node:crypto'
import { required, settings } from '../../config/env.ts'
import type { Trx } from '../lib/connection.ts'
import { seal, unseal } from '../lib/sealing/index.ts'
import type { MessageChannelRow } from '../rows.ts'
import type { Verification } from './models.ts'
import type { ChannelKind } from './rules/contents.ts'
import type { Account } from './rules/send-outcome.ts'

/** Sealed fields of a channel: its own account, and the secret of services that report on mail. */
export type Credentials = {
  host?: string | undefined
  port?: 465 | 587 | 2525 | undefined
  user?: string | undefined
  password?: string | undefined
  accountSid?: string | undefined
  authToken?: string | undefined
  from?: string | undefined
  messagingServiceSid?: string | undefined
  inboundSecret?: string | undefined
}

const tokenKey = () => required(settings.tokenKey, 'TOKEN_KEY')

/** The token in the address that a provider reports to. It follows from the channel's id; the row keeps its hash alone. */
export const callbackToken = (channelId: string): string =>
  createHmac('sha256', tokenKey()).update(`message channel callback|${channelId}`).digest('base64url')

export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest()

export const callbackPath = (token: string): string => `/api/callbacks/messages/${token}`
export const callbackUrl = (channelId: string): string =>
  `${settings.publicBaseUrl}${callbackPath(callbackToken(channelId))}`
/** The address to which a carrier reports one text, which it names: the report is certain of the attempt, also where the carrier's id never came. */
export const reportUrl = (channelId: string, attemptId: string): string =>
  `${callbackUrl(channelId)}${reportQuery(attemptId)}`
export const reportQuery = (attemptId: string | undefined): string =>
  attemptId === undefined ? '' : `?attempt=${attemptId}`

/** The content that the TXT record `_pousada.<domain>` must have before mail is sent from the domain. */
export const domainCode = (channelId: string, domain: string): string =>
  createHmac('sha256', tokenKey())
    .update(`sender domain|${channelId}|${domain.toLowerCase()}`)
    .digest('base64url')
    .slice(0, 32)

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

const place = (channelId: string) => ({ table: 'message_channel', rowId: channelId, purpose: 'credentials' })

export const sealCredentials = (trx: Trx, channelId: string, credentials: Credentials): Promise<Buffer> =>
  seal(trx, 'tenant', place(channelId), credentials)

export const credentialsOf = async (
  trx: Trx,
  { id, credentials }: Pick<MessageChannelRow, 'id' | 'credentials'>,
): Promise<Credentials | null> => (credentials ? unseal<Credentials>(trx, 'tenant', place(id), credentials) : null)

/** The account in credentials, whole; null where a part of it is missing. */
export const accountIn = (
  kind: ChannelKind,
  { host, port, user, password, accountSid, authToken, from, messagingServiceSid }: Credentials,
): Account | null => {
  if (kind === 'email') return host && port && user && password ? { smtp: { host, port, user, password } } : null
  return accountSid && authToken && (from || messagingServiceSid)
    ? {
        twilio: { accountSid, authToken, from: from ?? null, messagingServiceSid: messagingServiceSid ?? null },
      }
    : null
}

/** The account of its own that carries what a channel sends; null for the service's and for the sandbox. */
export const accountOf = async (trx: Trx, channel: MessageChannelRow): Promise<Account | null> => {
  if (channel.transport !== 'own') return null
  const credentials = await credentialsOf(trx, channel)
  return credentials && accountIn(channel.kind, credentials)
}

export const isVerified = ({ verification }: Pick<MessageChannelRow, 'verification'>): boolean =>
  (verification as Verification).status === 'verified'

/** The address or number that messages of a channel come from; null is that of the account. Mail of another domain comes from it once it is proven. */
export const fromAddressOf = (channel: MessageChannelRow): string | null =>
  channel.transport === 'own' || (channel.kind === 'email' && isVerified(channel)) ? channel.senderAddress : null

/** Tells whether the service has an account for a kind of channel. */
export const isConfigured: Record<ChannelKind, () => boolean> = {
  email: () => settings.smtpUrl !== null,
  sms: () => Boolean(settings.twilio.accountSid && settings.twilio.authToken && settings.twilio.from),
  whatsapp: () => Boolean(settings.twilio.accountSid && settings.twilio.authToken && settings.twilio.whatsappFrom),
}

/** Tells whether a channel sends as it stands. An account of its own must be proven first. */
export const isUsable = (channel: MessageChannelRow): boolean => {
  if (!channel.enabled) return false
  switch (channel.transport) {
    case 'sandbox':
      return true
    case 'own':
      return channel.credentials !== null && isVerified(channel)
    case 'platform':
      return isConfigured[channel.kind]()
  }
}
