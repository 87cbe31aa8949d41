import { carrierGate, recordOutcome, decideSending } from '../../db/ocp/index.ts'
import { messagesDeliver } from '../../jobs/ocp.ts'
import { externalCall } from '../lib/external-call.ts'
import { isRefusingCredentials, waitForCredentials } from '../lib/gate.ts'
import { processor } from '../lib/processor.ts'
import { mostTries, providerOf, send } from './send.ts'

/** Sends one message on one channel: checked and written before the call, its outcome after it. */
export const deliver = processor(messagesDeliver, async (ctx) => {
  const decision = await ctx.effect((trx) => decideSending(trx, ctx.payload.messageId, ctx.payload.turn))
  if ('done' in decision) return
  const message = decision.send
  const { outcome } = await externalCall(
    { ...ctx, gate: carrierGate(message) },
    { provider: providerOf(message), operation: 'send', key: message.attemptId },
    () => send(message, ctx.signal),
  )
  // A message that waits for right credentials may wait beyond the last try. Its own expiry ends it.
  const isLast = ctx.attempt >= mostTries && !isRefusingCredentials(outcome)
  if (outcome.kind !== 'not_sent' || isLast) {
    await ctx.finish((trx) => recordOutcome(trx, message.attemptId, outcome, isLast))
    return
  }
  const next = await ctx.effect((trx) => recordOutcome(trx, message.attemptId, outcome, isLast))
  if (next === 'settled') return
  waitForCredentials(outcome)
  ctx.retryLater(outcome.code, { afterMs: outcome.afterMs ?? 0 })
})
