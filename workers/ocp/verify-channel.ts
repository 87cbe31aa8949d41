import { resolveTxt } from 'node:dns/promises'
import { carrierGate, endTest, openTest } from '../../db/ocp/index.ts'
import { messagesVerifyChannel } from '../../jobs/ocp.ts'
import { externalCall } from '../lib/external-call.ts'
import { processor } from '../lib/processor.ts'
import { mostTries, providerOf, send } from './send.ts'

/** Tells whether the domain of a sender says that it may send for us. */
const isProven = async ({ domain, code }: { domain: string; code: string }): Promise<boolean> => {
  try {
    const records = await resolveTxt(`_pousada.${domain}`)
    return records.some((parts) => parts.join('') === `pousada-verify=${code}`)
  } catch {
    return false
  }
}

/** Proves the domain of a channel's own sender, then sends the test message. Whatever comes of it is written to the channel. */
export const verifyChannel = processor(messagesVerifyChannel, async (ctx) => {
  const { messageChannelId: id, number } = ctx.payload
  const test = await ctx.effect((trx) => openTest(trx, id, number))
  if (!test) return
  const { message, proof } = test
  if (proof && !(await isProven(proof))) {
    await ctx.finish((trx) => endTest(trx, id, number, { kind: 'refused', code: 'txt_record_missing' }))
    return
  }
  if (message.transport === 'own' && !message.account) {
    await ctx.finish((trx) => endTest(trx, id, number, { kind: 'refused', code: 'credentials_missing' }))
    return
  }
  // Wrong credentials end a test: they are what it asks for. They close no gate.
  const gate = message.transport === 'own' ? '' : carrierGate(message)
  const { outcome } = await externalCall(
    { ...ctx, gate },
    { provider: providerOf(message), operation: 'test', key: message.attemptId },
    () => send(message, ctx.signal),
  )
  const mayRepeat = outcome.kind === 'not_sent' && message.transport !== 'own' && ctx.attempt < Math.min(3, mostTries)
  if (mayRepeat) ctx.retryLater(outcome.code)
  await ctx.finish((trx) => endTest(trx, id, number, outcome))
})
