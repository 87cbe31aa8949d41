import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { MessageRow } from '../rows.ts'
import { holdGuestsOf, lockAttempt, meter, nextStep, raise, suppressFor } from './attempts.ts'
import { withdrawConsent } from './consent.ts'
import { emitMessage } from './queue.ts'

/** A provider's later word. `suppress` says that the address must not be written to any more. */
export type Report = {
  status: 'delivered' | 'read' | 'failed' | 'bounced'
  code?: string | undefined
  suppress?: 'hard_bounce' | 'invalid' | 'stop' | 'complaint' | undefined
}

/** Tells whether an attempt of a message's round is with a provider, or further, by what is known. */
const standsOnOthers = async (trx: Trx, { id, round }: MessageRow): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select id from message_attempt where message_id = ? and round = ? and status in ('sending', 'unknown', 'sent', 'delivered', 'read') limit 1`,
    [id, round],
  )) !== null

/** A provider's later word (R12); in any order and number, only a higher rank counts. */
export const applyReport = async (
  trx: Trx,
  attemptId: string,
  { status, code, suppress: cause }: Report,
): Promise<void> => {
  const withdraws = cause === 'stop' || cause === 'complaint'
  const guestIds = withdraws ? await holdGuestsOf(trx, attemptId) : []
  const loaded = await lockAttempt(trx, attemptId)
  if (!loaded) return
  const { message, attempt } = loaded
  if (cause) await suppressFor(trx, loaded, cause)
  for (const guestId of guestIds) await withdrawConsent(trx, guestId, attempt.kind, 'message')
  if (!(await raise(trx, attempt, status, code === undefined ? {} : { code }))) return
  if (status === 'failed' || status === 'bounced') {
    if (message.round !== attempt.round) return
    const isCurrent = message.step === attempt.step && ['sending', 'sent'].includes(message.status)
    // At the end of its plan a message stands on what was sent: with the last of it failed, it has failed.
    const wasLast = !isCurrent && message.status === 'sent' && !(await standsOnOthers(trx, message))
    if (isCurrent || wasLast) await nextStep(trx, message, code ?? status)
    return
  }
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
  meter(trx, loaded)
}

/** Nothing said that the message arrived: the next channel has its turn. */
export const fallBack = async (trx: Trx, messageId: string, turn: number): Promise<boolean> => {
  const message = await sqlOne<MessageRow>(trx, `select * from message where id = ? for no key update`, [messageId])
  if (!message || message.turn !== turn || message.status !== 'sent') return false
  await nextStep(trx, message, 'not_delivered')
  return true
}
