import { messagesFallBack, messagesReportSandbox, messagesResolveUnknown } from '../../jobs/ocp.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { recordUsage } from '../lib/usage.ts'
import type { MessageAttemptRow, MessageRow } from '../rows.ts'
import { unseal } from '../lib/sealing/index.ts'
import { carrierGate, withoutAddresses } from './rules/send-outcome.ts'
import type { SendOutcome } from './rules/send-outcome.ts'
import { emitMessage, enqueueDelivery } from './queue.ts'
import type { PlanStep } from './rules/plan.ts'
import { holdGuest, withdrawConsent } from './consent.ts'
import { suppress } from './suppression.ts'

const minuteMs = 60_000
/** Time for which an unknown call is left alone before its outcome is asked for. */
const unknownMs = { email: 10 * minuteMs, sms: 2 * minuteMs, whatsapp: 2 * minuteMs }
const ranks = { sending: 0, unknown: 1, sent: 2, bounced: 3, failed: 3, delivered: 4, read: 5 } as const

type Status = keyof typeof ranks
type Loaded = { message: MessageRow; attempt: MessageAttemptRow }

const tenantOf = (trx: Trx): string => {
  const { tenantId } = contextOf(trx)
  if (!tenantId) throw new Error('a message belongs to a tenant')
  return tenantId
}

/** Locks an attempt: the message first, the attempt second, in every command. */
export const lockAttempt = async (trx: Trx, attemptId: string): Promise<Loaded | null> => {
  const found = await sqlOne<{ messageId: string }>(trx, `select message_id from message_attempt where id = ?`, [
    attemptId,
  ])
  const message =
    found && (await sqlOne<MessageRow>(trx, `select * from message where id = ? for no key update`, [found.messageId]))
  const attempt =
    message &&
    (await sqlOne<MessageAttemptRow>(trx, `select * from message_attempt where id = ? for no key update`, [attemptId]))
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
const raise = async (
  trx: Trx,
  attempt: MessageAttemptRow,
  status: Status,
  { code, text, providerId, segments, proof }: Change,
): Promise<boolean> => {
  const moves = ranks[status] > attempt.rank
  await sql(
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
      text: text === undefined ? null : withoutAddresses(attempt.kind, text).slice(0, 500),
      providerId: providerId ?? null,
      segments: segments ?? null,
      proof: JSON.stringify([{ status, at: new Date().toISOString(), ...proof }]),
    },
  )
  return moves
}

/** The channel after this one, or the end. */
const nextStep = async (trx: Trx, message: MessageRow, reason: string): Promise<void> => {
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

const suppressFor = async (
  trx: Trx,
  { message, attempt }: Loaded,
  cause: 'hard_bounce' | 'invalid' | 'stop' | 'complaint',
): Promise<void> => {
  const address = await recipientOf(trx, attempt)
  const { kind, recipientIndex: index } = attempt
  if (address !== null) await suppress(trx, { kind, address, index, scope: 'all', cause, messageId: message.id })
}

/** One billable unit for each message and channel that the service's own account took, whatever the attempts and segments (R24). */
const meter = async (trx: Trx, { message, attempt }: Loaded): Promise<void> => {
  if (attempt.transport !== 'platform') return
  const meterOf = attempt.kind === 'email' ? 'messages.email' : 'messages.phone'
  const at = new Date()
  await recordUsage(trx, meterOf, `${message.id}:${attempt.kind}`, [{ tenantId: tenantOf(trx), quantity: 1, at }])
}

const accepted = async (
  trx: Trx,
  { message, attempt }: Loaded,
  outcome: SendOutcome & { kind: 'accepted' },
): Promise<void> => {
  await raise(trx, attempt, 'sent', {
    providerId: outcome.reference,
    segments: outcome.segments,
    proof: { reply: withoutAddresses(attempt.kind, outcome.proof).slice(0, 300) },
  })
  await meter(trx, { message, attempt })
  // A report may have been quicker than the reply.
  if (message.status === 'sending') {
    const plan = message.plan as PlanStep[]
    const waits = attempt.kind !== 'email' && message.step + 1 < plan.length
    const fallbackAt = waits ? new Date(Date.now() + (plan[message.step]?.waitMinutes ?? 30) * minuteMs) : null
    await sql(
      trx,
      `update message set status = 'sent', sent_at = coalesce(sent_at, clock_timestamp()), fallback_at = ? where id = ?`,
      [fallbackAt, message.id],
    )
    if (fallbackAt)
      await enqueue(
        trx,
        messagesFallBack,
        { tenantId: tenantOf(trx), messageId: message.id, turn: message.turn },
        { at: fallbackAt },
      )
    await emitMessage(trx, 'sent', message.id, { kind: attempt.kind })
  }
  if (attempt.transport === 'sandbox')
    await enqueue(
      trx,
      messagesReportSandbox,
      { tenantId: tenantOf(trx), messageAttemptId: attempt.id },
      { at: new Date(Date.now() + 1_000) },
    )
}

const gateOfAttempt = async (trx: Trx, { propertyId, kind, transport }: MessageAttemptRow): Promise<string> => {
  const channel = await sqlOne<{ id: string }>(
    trx,
    `select id from message_channel where property_id = ? and kind = ?`,
    [propertyId, kind],
  )
  return channel ? carrierGate({ kind, transport, channelId: channel.id }) : ''
}

const leftUnknown = async (trx: Trx, attempt: MessageAttemptRow, code: string, text: string): Promise<void> => {
  await raise(trx, attempt, 'unknown', { code, text })
  await enqueue(
    trx,
    messagesResolveUnknown,
    { tenantId: tenantOf(trx), messageAttemptId: attempt.id },
    {
      at: new Date(Date.now() + unknownMs[attempt.kind]),
      uniqueKey: attempt.id,
      gate: await gateOfAttempt(trx, attempt),
    },
  )
}

/**
 * Writes what became of a call (R10). `isLast` says that no further try follows, so that what was not sent goes to the next channel.
 * Answers whether the same job must be tried again.
 */
export const recordOutcome = async (
  trx: Trx,
  attemptId: string,
  outcome: SendOutcome,
  isLast: boolean,
): Promise<'settled' | 'again'> => {
  const isStop = outcome.kind === 'refused' && outcome.suppress === 'stop'
  const guestId = isStop ? await holdGuestOf(trx, attemptId) : null
  const loaded = await lockAttempt(trx, attemptId)
  if (!loaded) return 'settled'
  const { message, attempt } = loaded
  switch (outcome.kind) {
    case 'accepted':
      await accepted(trx, loaded, outcome)
      return 'settled'
    case 'refused':
      if (
        !(await raise(trx, attempt, outcome.suppress === 'hard_bounce' ? 'bounced' : 'failed', {
          code: outcome.code,
          text: outcome.message,
        }))
      )
        return 'settled'
      if (outcome.suppress) await suppressFor(trx, loaded, outcome.suppress)
      if (isStop) await withdrawConsent(trx, guestId, attempt.kind, 'message')
      if (message.status === 'sending') await nextStep(trx, message, outcome.code)
      return 'settled'
    case 'not_sent':
      if (
        !(await raise(trx, attempt, 'failed', { code: outcome.code, text: outcome.message })) ||
        message.status !== 'sending'
      )
        return 'settled'
      if (isLast) {
        await nextStep(trx, message, outcome.code)
        return 'settled'
      }
      await sql(trx, `update message set status = 'queued' where id = ?`, [message.id])
      return 'again'
    case 'unknown':
      await leftUnknown(trx, attempt, outcome.code, outcome.message)
      return 'settled'
  }
}

/** The newest attempt of a message whose sender never came back. */
export const markUnknown = async (trx: Trx, message: MessageRow, code: string): Promise<void> => {
  const attempt = await sqlOne<MessageAttemptRow>(
    trx,
    `select * from message_attempt where message_id = ? and status = 'sending' order by step desc, number desc limit 1 for no key update`,
    [message.id],
  )
  if (attempt) await leftUnknown(trx, attempt, code, 'the process that sent it ended before the answer was written')
}

/** Gives an unknown attempt up: once more would be twice, or was tried already. */
export const failUnknown = async (trx: Trx, { message, attempt }: Loaded): Promise<void> => {
  await raise(trx, attempt, 'failed', { code: 'outcome_unknown' })
  if (message.status !== 'sending') return
  await sql(trx, `update message set status = 'failed', reason = 'outcome_unknown', turn = turn + 1 where id = ?`, [
    message.id,
  ])
  await emitMessage(trx, 'failed', message.id, { cause: 'outcome_unknown' })
}

/** A provider's later word. `suppress` says that the address must not be written to any more. */
export type Report = {
  status: 'delivered' | 'read' | 'failed' | 'bounced'
  code?: string | undefined
  suppress?: 'hard_bounce' | 'invalid' | 'stop' | 'complaint' | undefined
}

/** A provider's later word (R12); in any order and number, only a higher rank counts. */
export const applyReport = async (
  trx: Trx,
  attemptId: string,
  { status, code, suppress: cause }: Report,
): Promise<void> => {
  const withdraws = cause === 'stop' || cause === 'complaint'
  const guestId = withdraws ? await holdGuestOf(trx, attemptId) : null
  const loaded = await lockAttempt(trx, attemptId)
  if (!loaded) return
  const { message, attempt } = loaded
  if (cause) await suppressFor(trx, loaded, cause)
  if (withdraws) await withdrawConsent(trx, guestId, attempt.kind, 'message')
  if (!(await raise(trx, attempt, status, code === undefined ? {} : { code }))) return
  if (status === 'failed' || status === 'bounced') {
    const isCurrent = message.step === attempt.step && message.round === attempt.round
    if (isCurrent && ['sending', 'sent'].includes(message.status)) await nextStep(trx, message, code ?? status)
    return
  }
  await meter(trx, loaded)
  // Also where the next channel has its turn already and has not begun: it is spared.
  if (
    ['sending', 'sent', 'queued', 'scheduled', 'delivered', 'failed'].includes(message.status) &&
    !(message.status === 'delivered' && status === 'delivered')
  ) {
    await sql(
      trx,
      `update message set status = ?, reason = null, sent_at = coalesce(sent_at, clock_timestamp()), fallback_at = null, turn = turn + 1 where id = ?`,
      [status, message.id],
    )
    await emitMessage(trx, status, message.id, { kind: attempt.kind })
  }
}

/** Nothing said that the message arrived: the next channel has its turn. */
export const fallBack = async (trx: Trx, messageId: string, turn: number): Promise<boolean> => {
  const message = await sqlOne<MessageRow>(trx, `select * from message where id = ? for no key update`, [messageId])
  if (!message || message.turn !== turn || message.status !== 'sent') return false
  await nextStep(trx, message, 'not_delivered')
  return true
}
