import { invalid, unprocessable } from '../../config/errors.ts'
import { messageChannelFailed, messageChannelVerified } from '../../config/events/ocp.ts'
import { messagesVerifyChannel } from '../../jobs/ocp.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { equal, pageOf } from '../lib/lists.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { changeRow, readRow } from '../lib/records.ts'
import { seal, unseal } from '../lib/sealing/index.ts'
import type { MessageChannelRow } from '../rows.ts'
import {
  accountIn,
  accountOf,
  callbackUrl,
  credentialsOf,
  domainCode,
  domainOf,
  fromAddressOf,
  sealCredentials,
} from './channel-accounts.ts'
import type { Credentials } from './channel-accounts.ts'
import { messageIdOf } from './compose.ts'
import { MessageChannel } from './models.ts'
import type { Verification } from './models.ts'
import { carrierGate } from './rules/send-outcome.ts'
import type { Outgoing, SendOutcome } from './rules/send-outcome.ts'
import { propertyOf } from './sending.ts'

export type ChannelRecord = Omit<
  MessageChannelRow,
  'tenantId' | 'credentials' | 'callbackHash' | 'testRecipient' | 'testNumber' | 'capReachedOn' | 'verification'
> & { hasCredentials: boolean; callbackUrl: string; verification: Verification }

const shown = ({
  tenantId: _tenant,
  credentials,
  callbackHash: _hash,
  testRecipient: _recipient,
  testNumber: _number,
  capReachedOn: _day,
  ...channel
}: MessageChannelRow): ChannelRecord => ({
  ...channel,
  verification: channel.verification as Verification,
  hasCredentials: credentials !== null,
  callbackUrl: callbackUrl(channel.id),
})

const pageOfChannels = pageOf(MessageChannel, {
  order: ['propertyId', 'kind', 'id'],
  filters: { propertyId: equal('propertyId'), kind: equal('kind'), enabled: equal('enabled') },
  scope: { propertyId: 'propertyId' },
})

type Filter = Paging & { propertyId?: string; kind?: string; enabled?: boolean; scope: Condition }

export const listChannels = async (trx: Trx, filter: Filter): Promise<Page<ChannelRecord>> => {
  const { total, rows } = await pageOfChannels(trx, filter)
  return { total, rows: rows.map((row) => shown(row as MessageChannelRow)) }
}

/** 404 */
export const readChannel = async (trx: Trx, id: string): Promise<ChannelRecord> =>
  shown((await readRow(trx, MessageChannel, id)) as MessageChannelRow)

export type ChannelChange = {
  enabled?: boolean | undefined
  transport?: MessageChannelRow['transport'] | undefined
  senderName?: string | null | undefined
  senderAddress?: string | null | undefined
  replyTo?: string | null | undefined
  dailyCap?: number | undefined
  countries?: string[] | undefined
  credentials?: Credentials | null | undefined
}

const ofPhone = ['accountSid', 'authToken', 'from', 'messagingServiceSid'] as const
const ofMail = ['host', 'port', 'user', 'password'] as const

const judgeCredentials = (kind: MessageChannelRow['kind'], credentials: Credentials): void => {
  const [own, others] = kind === 'email' ? [ofMail, ofPhone] : [ofPhone, ofMail]
  const wrong = others.filter((field) => credentials[field] !== undefined)
  if (wrong.length > 0)
    throw invalid(wrong.map((field) => ({ field: `credentials.${field}`, message: `is not for ${kind}` })))
  if (own.some((field) => credentials[field] !== undefined) && !accountIn(kind, credentials))
    throw invalid([
      {
        field: 'credentials',
        message:
          kind === 'email'
            ? 'need host, port, user and password'
            : 'need accountSid, authToken, and from or messagingServiceSid',
      },
    ])
}

const judgeSender = ({ kind, transport, senderAddress, replyTo }: MessageChannelRow): void => {
  const refuse = (message: string) => invalid([{ field: 'senderAddress', message }])
  if (senderAddress !== null && senderAddress.includes('@') !== (kind === 'email'))
    throw refuse(kind === 'email' ? 'must be an e-mail address' : 'must be a number')
  // The service's account has its own numbers: it would be refused for all tenants with one that it does not own.
  if (senderAddress !== null && kind !== 'email' && transport === 'platform')
    throw refuse('is a number of an account of your own')
  if (kind !== 'email' && replyTo !== null) throw invalid([{ field: 'replyTo', message: 'is for e-mail' }])
}

/** Proofs that a sender has to give again after a change. */
const unproven = ({ id, kind, transport, senderAddress }: MessageChannelRow): Verification => ({
  status: 'unverified',
  code: kind === 'email' && transport === 'platform' && senderAddress ? domainCode(id, domainOf(senderAddress)) : null,
  checkedAt: null,
  error: null,
})

/** Changes a channel; `credentials` replace the former ones whole. 400; 422 `credentials_missing`, `sender_not_verified`. The caller holds the row. */
export const changeChannel = async (trx: Trx, id: string, { credentials, ...change }: ChannelChange): Promise<void> => {
  const before = (await readRow(trx, MessageChannel, id)) as MessageChannelRow
  if (credentials) judgeCredentials(before.kind, credentials)
  const sealed =
    credentials === undefined ? undefined : credentials === null ? null : await sealCredentials(trx, id, credentials)
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const after: MessageChannelRow = {
    ...before,
    ...given,
    credentials: sealed === undefined ? before.credentials : sealed,
  }
  judgeSender(after)
  if (after.transport === 'own') {
    const known = credentials === undefined ? await credentialsOf(trx, before) : credentials
    if (!known || !accountIn(after.kind, known))
      throw unprocessable('credentials_missing', 'A transport of your own needs the credentials of its account', [
        { field: 'credentials', message: 'are required' },
      ])
    if (after.kind === 'email' && after.senderAddress === null)
      throw invalid([{ field: 'senderAddress', message: 'is required with a transport of your own' }])
  }
  const isOther =
    sealed !== undefined || before.transport !== after.transport || before.senderAddress !== after.senderAddress
  const verification = isOther ? unproven(after) : (before.verification as Verification)
  if (change.enabled === true && after.transport === 'own' && verification.status !== 'verified')
    throw unprocessable('sender_not_verified', 'Test the channel first: its own transport is not verified', [
      { field: 'enabled', message: 'needs a verified transport' },
    ])
  await changeRow(trx, MessageChannel, id, {
    ...change,
    ...(sealed === undefined ? {} : { credentials: sealed }),
    ...(isOther ? { verification } : {}),
  })
}

const place = (id: string) => ({ table: 'message_channel', rowId: id, purpose: 'test_recipient' })

/** Asks for the proof of a channel's sender, and for a message to `recipient` by it. The caller holds the row. */
export const testChannel = async (trx: Trx, id: string, recipient: string): Promise<void> => {
  const before = (await readRow(trx, MessageChannel, id)) as MessageChannelRow
  const isMailbox = recipient.includes('@')
  if (isMailbox !== (before.kind === 'email'))
    throw invalid([
      { field: 'recipient', message: before.kind === 'email' ? 'must be an e-mail address' : 'must be a number' },
    ])
  const verification: Verification = {
    ...(before.verification as Verification),
    status: 'pending',
    checkedAt: null,
    error: null,
  }
  const [row] = await sql<{ testNumber: number }>(
    trx,
    `update message_channel set test_recipient = ?, test_number = test_number + 1, verification = ?::jsonb, version = version + 1
     where id = ? returning test_number`,
    [await seal(trx, 'tenant', place(id), recipient), JSON.stringify(verification), id],
  )
  await enqueue(
    trx,
    messagesVerifyChannel,
    { tenantId: contextOf(trx).tenantId ?? '', messageChannelId: id, number: row?.testNumber ?? 1 },
    { gate: carrierGate({ kind: before.kind, transport: before.transport, channelId: id }) },
  )
}

/** A test that waits: what is to be proven of a domain, and the message that is sent. Null where a later test has taken its place. */
export type ChannelTest = { channelId: string; proof: { domain: string; code: string } | null; message: Outgoing }

export const openTest = async (trx: Trx, id: string, number: number): Promise<ChannelTest | null> => {
  const channel = await sqlOne<MessageChannelRow>(trx, `select * from message_channel where id = ?`, [id])
  const verification = channel?.verification as Verification | undefined
  if (!channel?.testRecipient || channel.testNumber !== number || verification?.status !== 'pending') return null
  const property = await propertyOf(trx, channel.propertyId)
  if (!property) return null
  const domain = channel.kind === 'email' && channel.senderAddress !== null ? domainOf(channel.senderAddress) : null
  return {
    channelId: id,
    proof: domain !== null && channel.transport === 'platform' ? { domain, code: domainCode(id, domain) } : null,
    message: {
      attemptId: `${id}.${number}`,
      kind: channel.kind,
      channelId: id,
      transport: channel.transport,
      account: await accountOf(trx, channel),
      to: await unseal<string>(trx, 'tenant', place(id), channel.testRecipient),
      toName: '',
      fromName: channel.senderName ?? property.name,
      fromAddress: fromAddressOf({ ...channel, verification: { status: 'verified' } }),
      replyTo: channel.replyTo ?? property.email,
      subject: `Test of ${property.name}`,
      text: `This is a test message of ${property.name}.`,
      html: null,
      contentSid: null,
      contentVariables: null,
      messageId: messageIdOf(id, number),
      startedAt: new Date(),
      callbackUrl: callbackUrl(id),
      unsubscribeUrl: null,
      isPersonal: false,
    },
  }
}

/** Writes what came of a test, once. */
export const endTest = async (
  trx: Trx,
  id: string,
  number: number,
  outcome: Pick<SendOutcome, 'kind'> & { code?: string | undefined },
): Promise<void> => {
  const channel = await sqlOne<MessageChannelRow>(trx, `select * from message_channel where id = ? for no key update`, [
    id,
  ])
  const before = channel?.verification as Verification | undefined
  if (!channel || channel.testNumber !== number || before?.status !== 'pending') return
  const isGood = outcome.kind === 'accepted'
  const error = isGood ? null : (outcome.code ?? outcome.kind).slice(0, 60)
  const verification: Verification = {
    ...before,
    status: isGood ? 'verified' : 'failed',
    checkedAt: new Date().toISOString(),
    error,
  }
  await sql(
    trx,
    `update message_channel set verification = ?::jsonb, test_recipient = null, version = version + 1 where id = ?`,
    [JSON.stringify(verification), id],
  )
  await emit(trx, isGood ? messageChannelVerified : messageChannelFailed, {
    propertyId: channel.propertyId,
    id,
    version: channel.version + 1,
    data: { messageChannelId: id, kind: channel.kind, code: error },
  })
}
