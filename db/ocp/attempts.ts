import { cut } from '../../config/cut.ts'
import { contextOf, prepared, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { unseal } from '../lib/sealing/index.ts'
import { recordUsageLast } from '../lib/usage.ts'
import type { MessageAttemptRow, MessageRow } from '../rows.ts'
import { guestsWith, holdGuest } from './consent.ts'
import { emitMessage, enqueueDelivery } from './queue.ts'
import type { PlanStep } from './rules/plan.ts'
import { withoutAddresses } from './rules/send-outcome.ts'
import { suppress } from './suppression.ts'

const ranks = { sending: 0, unknown: 1, sent: 2, bounced: 3, failed: 3, delivered: 4, read: 5 } as const

export type Status = keyof typeof ranks
export type Loaded = { message: MessageRow; attempt: MessageAttemptRow }

export const tenantOf = (trx: Trx): string => {
  const { tenantId } = contextOf(trx)
  if (!tenantId) throw new Error('a message belongs to a tenant')
  return tenantId
}

/** Locks an attempt: the message first, the attempt second, in every command. */
export const lockAttempt = async (trx: Trx, attemptId: string): Promise<Loaded | null> => {
  const [message, attempt] = await Promise.all([
    preparedOne<MessageRow>(
      trx,
      `select * from message where id = (select message_id from message_attempt where id = ?) for no key update`,
      [attemptId],
    ),
    preparedOne<MessageAttemptRow>(trx, `select * from message_attempt where id = ? for no key update`, [attemptId]),
  ])
  return message && attempt ? { message, attempt } : null
}

type Change = {
  code?: string
  text?: string
  providerId?: string
  segments?: number | undefined
  proof?: Record<string, string>
}

/** Moves an attempt up; what comes late and low changes nothing but the proof. True when it moved. */
export const raise = async (
  trx: Trx,
  attempt: MessageAttemptRow,
  status: Status,
  { code, text, providerId, segments, proof }: Change,
): Promise<boolean> => {
  const moves = ranks[status] > attempt.rank
  await prepared(
    trx,
    `update message_attempt set
       status = case when :moves then :status else status end, rank = case when :moves then :rank else rank end,
       error_code = case when :moves then :code else error_code end, error_text = case when :moves then :text else error_text end,
       provider_id = coalesce(:providerId, provider_id), segments = coalesce(:segments, segments), proof = proof || :proof::jsonb,
       sent_at = case when :status in ('sent', 'delivered', 'read') then coalesce(sent_at, clock_timestamp()) else sent_at end,
       delivered_at = case when :status in ('delivered', 'read') then coalesce(delivered_at, clock_timestamp()) else delivered_at end,
       read_at = case when :status = 'read' then coalesce(read_at, clock_timestamp()) else read_at end
     where id = :id`,
    {
      id: attempt.id,
      moves,
      status,
      rank: ranks[status],
      code: code?.slice(0, 60) ?? null,
      text: text === undefined ? null : cut(withoutAddresses(attempt.kind, text), 500),
      providerId: providerId ?? null,
      segments: segments ?? null,
      proof: JSON.stringify([{ status, at: new Date().toISOString(), ...proof }]),
    },
  )
  return moves
}

/** The attempt of a message's round that got furthest; one that failed only where no other is there. */
export const bestOf = (trx: Trx, { id, round }: MessageRow) =>
  sqlOne<Pick<MessageAttemptRow, 'status' | 'errorCode'>>(
    trx,
    `select status, error_code from message_attempt where message_id = ? and round = ? order by rank = 3, rank desc, created_at desc limit 1`,
    [id, round],
  )

/** Leaves a message at what got through, where something of its round did. */
export const standsOnSent = async (trx: Trx, message: MessageRow): Promise<boolean> => {
  const best = message.sentAt === null ? null : await bestOf(trx, message)
  if (!best || !['sent', 'delivered', 'read'].includes(best.status)) return false
  await sql(trx, `update message set status = ?, reason = null, fallback_at = null, turn = turn + 1 where id = ?`, [
    best.status,
    message.id,
  ])
  return true
}

/** The channel after this one, or the end: a message of which something got through has not failed. */
export const nextStep = async (trx: Trx, message: MessageRow, reason: string): Promise<void> => {
  const plan = message.plan as PlanStep[]
  if (message.step + 1 < plan.length) {
    await sql(
      trx,
      `update message set status = 'queued', step = step + 1, turn = turn + 1, fallback_at = null where id = ?`,
      [message.id],
    )
    await enqueueDelivery(trx, { ...message, turn: message.turn + 1 })
    return
  }
  if (await standsOnSent(trx, message)) return
  await sql(trx, `update message set status = 'failed', reason = ?, turn = turn + 1 where id = ?`, [
    reason.slice(0, 60),
    message.id,
  ])
  await emitMessage(trx, 'failed', message.id, { cause: reason })
}

const recipientOf = (trx: Trx, attempt: MessageAttemptRow) =>
  attempt.recipient
    ? unseal<string>(
        trx,
        'tenant',
        { table: 'message_attempt', rowId: attempt.id, purpose: 'recipient' },
        attempt.recipient,
      )
    : Promise.resolve(null)

/** The guest of an attempt's message, held before the message. */
export const holdGuestOf = async (trx: Trx, attemptId: string): Promise<string | null> => {
  const found = await sqlOne<{ guestId: string | null }>(
    trx,
    `select m.guest_id from message_attempt a join message m on m.tenant_id = a.tenant_id and m.id = a.message_id where a.id = ?`,
    [attemptId],
  )
  return holdGuest(trx, found?.guestId ?? null)
}

/** All guests with the address of an attempt, and that of its message: held before the message, in the order of their ids. */
export const holdGuestsOf = async (trx: Trx, attemptId: string): Promise<string[]> => {
  const attempt = await sqlOne<Parameters<typeof guestsWith>[1]>(
    trx,
    `select a.kind, a.recipient_index as index, m.guest_id from message_attempt a
     join message m on m.tenant_id = a.tenant_id and m.id = a.message_id where a.id = ?`,
    [attemptId],
  )
  const held: string[] = []
  for (const id of attempt ? await guestsWith(trx, attempt) : []) {
    const guestId = await holdGuest(trx, id)
    if (guestId !== null) held.push(guestId)
  }
  return held
}

export const suppressFor = async (
  trx: Trx,
  { message, attempt }: Loaded,
  cause: 'hard_bounce' | 'invalid' | 'stop' | 'complaint',
): Promise<void> => {
  const address = await recipientOf(trx, attempt)
  const { kind, recipientIndex: index } = attempt
  if (address !== null) await suppress(trx, { kind, address, index, scope: 'all', cause, messageId: message.id })
}

/**
 * One billable unit for each message and channel that the service's own account took, whatever the attempts and segments (R24). It is the last thing that a
 * transaction writes.
 */
export const meter = (trx: Trx, { message, attempt }: Loaded): void => {
  if (attempt.transport !== 'platform') return
  const meterOf = attempt.kind === 'email' ? 'messages.email' : 'messages.phone'
  const at = new Date()
  recordUsageLast(trx, meterOf, `${message.id}:${attempt.kind}`, { tenantId: tenantOf(trx), quantity: 1, at })
}
