import { randomUUID } from 'node:crypto'
import { invalid } from '../../config/errors.ts'
import { Bool, Email, Instant, Obj, OneOf, Opt, Phone, AnyOf, Text } from '../../config/schema.ts'
import type { Static } from '../../config/schema.ts'
import { compile } from '../../config/validator.ts'
import { messagesProcessCallback } from '../../jobs/ocp.ts'
import { enterTenant, inPlatform, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { insertIfNew } from '../lib/records.ts'
import { seal } from '../lib/sealing/index.ts'
import type { MessageChannelRow } from '../rows.ts'
import { callbackPath, credentialsOf, hashOfToken, reportQuery } from './channel-accounts.ts'
import { MessageCallback } from './models.ts'
import { isSignedWith, isTwilios } from './signatures.ts'

/** A callback as it is stored until it is processed. */
export type Told =
  | { kind: 'twilio'; form: Record<string, string>; attemptId?: string | undefined }
  /** `isSandbox`: nobody signed it, so it speaks of messages of the sandbox alone. */
  | { kind: 'json'; isSandbox: boolean; word: Word }

const Address = AnyOf([Email, Phone])
const Word = Obj(
  {
    type: OneOf(['inbound', 'bounce', 'complaint', 'delivered', 'read', 'failed']),
    id: Text(1, 120),
    messageId: Opt(Text(1, 400)),
    inReplyTo: Opt(Text(1, 400)),
    from: Opt(Address),
    to: Opt(Text(1, 254)),
    subject: Opt(Text(0, 1_000)),
    text: Opt(Text(0, 1_048_576)),
    html: Opt(Text(0, 1_048_576)),
    permanent: Opt(Bool),
    diagnostic: Opt(Text(0, 2_000)),
    at: Opt(Instant),
  },
  { additionalProperties: true },
)
export type Word = Static<typeof Word>
const problemsOf = compile(Word)

const ofSandbox = ['delivered', 'read', 'failed']

export type Callback = {
  token: string
  path: string
  /** The attempt that the address names. */
  attemptId?: string | undefined
  header: (name: string) => string
  body: Buffer
  requestId: string
}

const formOf = (body: Buffer): Record<string, string> => Object.fromEntries(new URLSearchParams(body.toString('utf8')))

const readJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw invalid([{ field: 'body', message: 'must be JSON' }], 'body_invalid', 'The body is no JSON')
  }
}

/** A callback that may be believed, and the key under which the same word counts once; null where its signature does not hold. */
const judge = async (
  trx: Trx,
  channel: MessageChannelRow,
  { path, attemptId, header, body }: Callback,
): Promise<{ key: string; told: Told } | null> => {
  const credentials = await credentialsOf(trx, channel)
  const signature = header('x-twilio-signature')
  if (signature !== '') {
    const form = formOf(body)
    if (
      channel.kind === 'email' ||
      !isTwilios({ signature, path: `${path}${reportQuery(attemptId)}`, form }, credentials)
    )
      return null
    const sid = form['MessageSid'] ?? form['SmsSid'] ?? ''
    const state = form['MessageStatus'] ?? form['SmsStatus'] ?? ''
    const isInbound = form['Body'] !== undefined || state === 'received'
    return { key: `${isInbound ? 'in' : state}:${sid}`.slice(0, 200), told: { kind: 'twilio', form, attemptId } }
  }
  const isSigned = isSignedWith(credentials?.inboundSecret, header, body)
  const isSandbox = channel.transport === 'sandbox' && !isSigned
  if (!isSigned && !isSandbox) return null
  const word = readJson(body)
  const problems = problemsOf(word)
  if (problems) throw invalid(problems)
  const { type, id } = word as Word
  if (isSigned && ofSandbox.includes(type) && channel.transport !== 'sandbox')
    throw invalid([{ field: 'type', message: 'is for the sandbox' }])
  return { key: `${type}:${id}`, told: { kind: 'json', isSandbox, word: word as Word } }
}

export const callbackBody = (id: string) => ({ table: 'message_callback', rowId: id, purpose: 'body' })

/**
 * Keeps a genuine callback and asks for its processing: one insert. The same word again adds nothing. False where the token is unknown or the signature does
 * not hold; 400 for a body that nobody can read.
 */
export const storeMessageCallback = (callback: Callback): Promise<boolean> =>
  inPlatform(
    async (platform) => {
      const found = await sqlOne<{ tenantId: string; id: string }>(
        platform,
        `select tenant_id, id from message_channel_of(?)`,
        [hashOfToken(callback.token)],
      )
      if (!found) return false
      const trx = await enterTenant(platform, found.tenantId)
      const channel = await sqlOne<MessageChannelRow>(trx, `select * from message_channel where id = ?`, [found.id])
      const judged =
        channel && (await judge(trx, channel, { ...callback, path: callback.path || callbackPath(callback.token) }))
      if (!judged) return false
      const id = randomUUID()
      const row = await insertIfNew(
        trx,
        MessageCallback,
        {
          id,
          messageChannelId: found.id,
          key: judged.key,
          body: await seal(trx, 'tenant', callbackBody(id), judged.told),
        },
        ['tenantId', 'messageChannelId', 'key'],
      )
      if (row) await enqueue(trx, messagesProcessCallback, { tenantId: found.tenantId, messageCallbackId: id })
      return true
    },
    { requestId: callback.requestId },
  )
