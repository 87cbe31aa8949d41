import {
  adoptText,
  allowResend,
  carrierGate,
  firstUnclaimed,
  giveUpUnknown,
  openUnknown,
  recordOutcome,
  takeBackResend,
} from '../../db/ocp/index.ts'
import { messagesResolveUnknown } from '../../jobs/ocp.ts'
import { externalCall, journalCall, readCall, thrown } from '../lib/external-call.ts'
import { heedCredentials, isRefusingCredentials, waitForCredentials } from '../lib/gate.ts'
import { processor } from '../lib/processor.ts'
import { findTexts } from '../providers/twilio.ts'
import { mostTries, providerOf, send } from './send.ts'

/**
 * Resolves a call without answer (R11): a report of the carrier names it, or Twilio is asked, and its record is adopted, in the state that it has there, where its words are ours. One that may be
 * there, but whose words are not known, is given up, and a later report of it counts. A message without a record is sent once more, a mail under the same
 * Message-ID; codes and campaigns are not.
 */
export const resolveUnknown = processor(messagesResolveUnknown, async (ctx) => {
  const attemptId = ctx.payload.messageAttemptId
  const unknown = await ctx.effect((trx) => openUnknown(trx, attemptId))
  if (!unknown) return
  const { message, wrote, reference } = unknown
  if (reference !== null) {
    const reported = { kind: 'accepted', reference, proof: 'reported' } as const
    await ctx.finish(async (trx) => void (await recordOutcome(trx, attemptId, reported, true)))
    return
  }
  const calling = { ...ctx, gate: carrierGate(message) }
  if (message.transport !== 'sandbox' && message.kind !== 'email') {
    const search = async () => ({ kind: 'known' as const, texts: await findTexts(message, wrote) })
    const found = await readCall(calling, { provider: 'twilio', operation: 'find' }, search).catch((error: unknown) => {
      waitForCredentials(heedCredentials(thrown(error)))
      if (ctx.attempt >= mostTries) return 'unasked' as const
      throw error
    })
    if (found === 'unasked') {
      await ctx.finish((trx) => giveUpUnknown(trx, attemptId))
      return
    }
    const own = await ctx.effect((trx) => firstUnclaimed(trx, found.texts))
    // The words of approved contents are Twilio's: number and time prove nothing, and a report of ours would name it.
    if (own && message.contentSid !== null) {
      await ctx.finish((trx) => giveUpUnknown(trx, attemptId))
      return
    }
    if (own) {
      await ctx.finish((trx) => adoptText(trx, attemptId, own))
      return
    }
  }
  // Journalled under the lock of the address: a call that begins after a refusal has none.
  const call = { provider: providerOf(message), operation: 'send', key: attemptId }
  const allowed = await ctx.effect(async (trx) =>
    (await allowResend(trx, attemptId)) ? { begun: await journalCall(trx, ctx, call) } : null,
  )
  if (!allowed) return
  const { outcome } = await externalCall(calling, { ...call, ...allowed }, () => send(message, ctx.signal))
  if (isRefusingCredentials(outcome)) await ctx.effect((trx) => takeBackResend(trx, attemptId))
  waitForCredentials(outcome)
  await ctx.finish(async (trx) => {
    if (outcome.kind === 'unknown') await giveUpUnknown(trx, attemptId)
    else await recordOutcome(trx, attemptId, outcome, true)
  })
})
