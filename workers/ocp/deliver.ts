import { carrierGate, recordOutcome, decideSending } from '../../db/ocp/index.ts'
import { messagesDeliver } from '../../jobs/ocp.ts'
import { externalCall } from '../lib/external-call.ts'
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
  const isLast = ctx.attempt >= mostTries
  if (outcome.kind !== 'not_sent' || isLast) {
    await ctx.finish((trx) => recordOutcome(trx, message.attemptId, outcome, isLast))
    return
  }
  const next = await ctx.effect((trx) => recordOutcome(trx, message.attemptId, outcome, isLast))
  if (next === 'again') ctx.retryLater(outcome.code, { afterMs: outcome.afterMs ?? 0 })
})
