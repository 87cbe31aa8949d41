import { carrierGate, recordOutcome, decideSending } from '../../db/ocp/index.ts'
import { messagesDeliver } from '../../jobs/ocp.ts'
import { externalCall, journalCall } from '../lib/external-call.ts'
import { isRefusingCredentials, waitForCredentials } from '../lib/gate.ts'
import { processor } from '../lib/processor.ts'
import { mostTries, providerOf, send } from './send.ts'

/** Sends one message on one channel: checked, written and journalled before the call, its outcome after it. */
export const deliver = processor(messagesDeliver, async (ctx) => {
  const decision = await ctx.effect(async (trx) => {
    const decided = await decideSending(trx, ctx.payload.messageId, ctx.payload.turn)
    if ('done' in decided) return null
    const call = { provider: providerOf(decided.send), operation: 'send', key: decided.send.attemptId }
    return { message: decided.send, call: { ...call, begun: await journalCall(trx, ctx, call) } }
  })
  if (!decision) return
  const { message, call } = decision
  const { outcome } = await externalCall({ ...ctx, gate: carrierGate(message) }, call, () => send(message, ctx.signal))
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
