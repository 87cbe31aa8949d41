import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unseal } from '../lib/sealing/index.ts'
import type { MessageCallbackRow, MessageChannelRow } from '../rows.ts'
import { callbackBody } from './callbacks.ts'
import type { Told, Word } from './callbacks.ts'
import { holdGuestsOf, lockAttempt } from './attempts.ts'
import { readMessageId } from './compose.ts'
import { receive } from './inbound.ts'
import { recordOutcome } from './outcomes.ts'
import { applyReport } from './reports.ts'
import type { Report } from './reports.ts'
import { twilioReport } from './rules/twilio-report.ts'

/** The time for which a report waits for its message: it may come before the answer to the send, or while that is being looked for. */
const patienceMs = 6 * 3_600_000

const end = (trx: Trx, id: string, status: 'processed' | 'ignored', error: string | null = null) =>
  sql(
    trx,
    `update message_callback set status = ?, error = ?, body = null, processed_at = clock_timestamp() where id = ?`,
    [status, error, id],
  )

type Channel = Pick<MessageChannelRow, 'id' | 'kind' | 'propertyId'>
/** The hour of a callback: when it came, and whether what it waits for would be there by now. */
type Heard = { at: Date; isLate: boolean }

const byProviderId = async (trx: Trx, { kind, propertyId }: Channel, providerId: string): Promise<string | null> =>
  (
    await sqlOne<{ id: string }>(
      trx,
      `select id from message_attempt where kind = ? and provider_id = ? and property_id = ?`,
      [kind, providerId, propertyId],
    )
  )?.id ?? null

/**
 * The attempt that the address of a report names, with the carrier's id of it: where the answer to the call never came, that is known from here on, and the text
 * is not looked for or sent again. Null for none of the channel, or one that is known as another text, of which a failure says nothing.
 */
const named = async (
  trx: Trx,
  { kind, propertyId }: Channel,
  { attemptId, sid, report }: { attemptId: string | undefined; sid: string; report: Report | null },
): Promise<string | null> => {
  if (attemptId === undefined) return null
  // Guests come before their message.
  if (report?.suppress) await holdGuestsOf(trx, attemptId)
  const { attempt } = (await lockAttempt(trx, attemptId)) ?? {}
  if (attempt?.kind !== kind || attempt.propertyId !== propertyId) return null
  const { id, providerId, status } = attempt
  if (providerId !== null) return report?.status === 'failed' && providerId !== sid ? null : id
  if (status === 'sending') await sql(trx, `update message_attempt set provider_id = ? where id = ?`, [sid, id])
  else await recordOutcome(trx, id, { kind: 'accepted', reference: sid, proof: 'reported' }, true)
  return id
}

/** The attempt that a word on a mail or of the sandbox speaks of: by our Message-ID, the provider's id, or the message's own. */
const attemptOf = async (trx: Trx, channel: Channel, word: Word, isSandbox: boolean): Promise<string | null> => {
  const named = word.messageId ?? word.inReplyTo
  if (!named) return null
  const known = await byProviderId(trx, channel, named)
  const read = readMessageId(named)
  const id = known ? null : (read?.messageId ?? (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(named) ? named : null))
  const found = await sqlOne<{ id: string; transport: string }>(
    trx,
    `select id, transport from message_attempt where kind = :kind and property_id = :propertyId and (id = :known::uuid
       or (message_id = :messageId::uuid and (:step::int is null or (step = :step::int and round = :round::int))))
     order by created_at desc limit 1`,
    {
      kind: channel.kind,
      propertyId: channel.propertyId,
      known,
      messageId: id,
      step: read?.step ?? null,
      round: read?.round ?? 0,
    },
  )
  return found && (!isSandbox || found.transport === 'sandbox') ? found.id : null
}

const wordReport = ({ type, permanent, diagnostic }: Word): Report => {
  switch (type) {
    case 'delivered':
    case 'read':
      return { status: type }
    case 'complaint':
      return { status: 'delivered', suppress: 'complaint' }
    case 'bounce':
      return permanent === false
        ? { status: 'failed', code: 'bounced' }
        : { status: 'bounced', code: 'bounced', suppress: 'hard_bounce' }
    default:
      return { status: 'failed', code: diagnostic?.match(/^[A-Za-z0-9_]{1,60}$/)?.[0] ?? 'failed' }
  }
}

/** An address as an inbound mail names it. */
const plainAddress = (from: string): string => from.replace(/^whatsapp:/, '').trim()

const processTwilio = async (
  trx: Trx,
  channel: MessageChannelRow,
  { form, attemptId: told }: Told & { kind: 'twilio' },
  { at, isLate }: Heard,
) => {
  const sid = form['MessageSid'] ?? form['SmsSid'] ?? ''
  const isInbound = form['Body'] !== undefined || (form['MessageStatus'] ?? form['SmsStatus']) === 'received'
  if (isInbound) {
    const from = plainAddress(form['From'] ?? '')
    if (!/^\+[1-9]\d{6,14}$/.test(from)) return 'sender_unknown'
    const count = Math.min(10, Number(form['NumMedia'] ?? 0) || 0)
    await receive(trx, channel, {
      providerId: sid,
      from,
      subject: null,
      text: form['Body'] ?? '',
      attachments: Array.from({ length: count }, (_, place) => form[`MediaContentType${place}`] ?? 'file'),
      isOptOut: form['OptOutType'] === 'STOP',
      at,
    })
    return null
  }
  const report = twilioReport(form['MessageStatus'] ?? form['SmsStatus'], form['ErrorCode'])
  const attemptId =
    (await byProviderId(trx, channel, sid)) ?? (await named(trx, channel, { attemptId: told, sid, report }))
  if (!report) return 'nothing_new'
  if (!attemptId) return isLate ? 'message_unknown' : 'wait'
  await applyReport(trx, attemptId, report)
  return null
}

const processWord = async (
  trx: Trx,
  channel: MessageChannelRow,
  { word, isSandbox }: Told & { kind: 'json' },
  { at, isLate }: Heard,
) => {
  if (word.type === 'inbound') {
    const from = plainAddress(word.from ?? '')
    if (from === '' || from.includes('@') !== (channel.kind === 'email')) return 'sender_unknown'
    await receive(trx, channel, {
      providerId: word.id,
      from,
      subject: word.subject ?? null,
      text: word.text ?? '',
      attachments: [],
      isOptOut: false,
      inReplyTo: word.inReplyTo,
      at,
    })
    return null
  }
  const attemptId = await attemptOf(trx, channel, word, isSandbox)
  if (!attemptId) return isLate ? 'message_unknown' : 'wait'
  await applyReport(trx, attemptId, wordReport(word))
  return null
}

/** Applies what a callback says, once. `wait`: the message that it speaks of is not known yet. */
export const processCallback = async (trx: Trx, callbackId: string): Promise<'done' | 'wait'> => {
  const callback = await sqlOne<MessageCallbackRow & { isLate: boolean }>(
    trx,
    `select *, created_at < clock_timestamp() - make_interval(secs => ?) as is_late from message_callback where id = ? for update`,
    [patienceMs / 1_000, callbackId],
  )
  if (callback?.status !== 'received' || !callback.body) return 'done'
  const channel = await sqlOne<MessageChannelRow>(trx, `select * from message_channel where id = ?`, [
    callback.messageChannelId,
  ])
  if (!channel) return 'done'
  const told = await unseal<Told>(trx, 'tenant', callbackBody(callbackId), callback.body)
  const heard = { at: callback.createdAt, isLate: callback.isLate }
  const error =
    told.kind === 'twilio'
      ? await processTwilio(trx, channel, told, heard)
      : await processWord(trx, channel, told, heard)
  if (error === 'wait') return 'wait'
  await end(trx, callbackId, error === null ? 'processed' : 'ignored', error)
  return 'done'
}
