import { cut } from '../../config/cut.ts'
import { messagesFallBack, messagesReportSandbox, messagesResolveUnknown } from '../../jobs/ocp.ts'
import { prepared, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { MessageAttemptRow, MessageRow } from '../rows.ts'
import { holdGuestsOf, lockAttempt, meter, nextStep, raise, standsOnSent, suppressFor, tenantOf } from './attempts.ts'
import type { Loaded } from './attempts.ts'
import { withdrawConsent } from './consent.ts'
import { emitMessage } from './queue.ts'
import type { PlanStep } from './rules/plan.ts'
import { carrierGate, withoutAddresses } from './rules/send-outcome.ts'
import type { SendOutcome } from './rules/send-outcome.ts'

const minuteMs = 60_000
/** Time for which an unknown call is left alone before its outcome is asked for. */
const unknownMs = { email: 10 * minuteMs, sms: 2 * minuteMs, whatsapp: 2 * minuteMs }

const accepted = async (
  trx: Trx,
  { message, attempt }: Loaded,
  outcome: SendOutcome & { kind: 'accepted' },
): Promise<void> => {
  const writing: Promise<unknown>[] = [
    raise(trx, attempt, 'sent', {
      providerId: outcome.reference,
      segments: outcome.segments,
      proof: { reply: cut(withoutAddresses(attempt.kind, outcome.proof), 300) },
    }),
  ]
  // A report may have been quicker than the reply.
  if (message.status === 'sending') {
    const plan = message.plan as PlanStep[]
    const waits = attempt.kind !== 'email' && message.step + 1 < plan.length
    const fallbackAt = waits ? new Date(Date.now() + (plan[message.step]?.waitMinutes ?? 30) * minuteMs) : null
    const update = `update message set status = 'sent', sent_at = coalesce(sent_at, clock_timestamp()), fallback_at = ? where id = ?`
    writing.push(
      prepared(trx, update, [fallbackAt, message.id]),
      emitMessage(trx, 'sent', message.id, { kind: attempt.kind }),
    )
    if (fallbackAt) {
      const about = { tenantId: tenantOf(trx), messageId: message.id, turn: message.turn }
      writing.push(enqueue(trx, messagesFallBack, about, { at: fallbackAt }))
    }
  }
  await Promise.all(writing)
  if (attempt.transport === 'sandbox')
    await enqueue(
      trx,
      messagesReportSandbox,
      { tenantId: tenantOf(trx), messageAttemptId: attempt.id },
      { at: new Date(Date.now() + 1_000) },
    )
  meter(trx, { message, attempt })
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
  const guestIds = isStop ? await holdGuestsOf(trx, attemptId) : []
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
      for (const guestId of guestIds) await withdrawConsent(trx, guestId, attempt.kind, 'message')
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
  if (message.status !== 'sending' || (await standsOnSent(trx, message))) return
  await sql(trx, `update message set status = 'failed', reason = 'outcome_unknown', turn = turn + 1 where id = ?`, [
    message.id,
  ])
  await emitMessage(trx, 'failed', message.id, { cause: 'outcome_unknown' })
}
