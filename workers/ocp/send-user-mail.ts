import { messageIdOf, endUserMail, readUserMail } from '../../db/ocp/index.ts'
import { messagesSendUserMail } from '../../jobs/ocp.ts'
import { externalCall } from '../lib/external-call.ts'
import { waitForCredentials } from '../lib/gate.ts'
import { processor } from '../lib/processor.ts'
import { sendMail } from '../providers/smtp.ts'
import { mostTries } from './send.ts'

/** Sends one mail to staff, at least once: whatever becomes of a try, the next one has the same Message-ID. */
export const sendUserMail = processor(messagesSendUserMail, async (ctx) => {
  const { userMailId } = ctx.payload
  const mail = await ctx.effect((trx) => readUserMail(trx, userMailId))
  if (!mail) {
    await ctx.finish((trx) => endUserMail(trx, userMailId, 'failed'))
    return
  }
  const letter = {
    ...mail,
    fromName: null,
    fromAddress: null,
    account: null,
    channelId: '',
    unsubscribeUrl: null,
    replyTo: null,
    html: null,
    messageId: messageIdOf(userMailId, 0),
    isAutomatic: true,
  }
  const { outcome } = await externalCall(ctx, { provider: 'smtp', operation: 'send', key: userMailId }, () =>
    sendMail(letter, ctx.signal),
  )
  waitForCredentials(outcome)
  if (outcome.kind !== 'accepted' && outcome.kind !== 'refused' && ctx.attempt < mostTries) ctx.retryLater(outcome.code)
  await ctx.finish((trx) => endUserMail(trx, userMailId, outcome.kind === 'accepted' ? 'sent' : 'failed'))
})
