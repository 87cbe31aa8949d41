import { startPasswordReset } from '../../db/auth/index.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import {
  fallBack as moveOn,
  applyReport,
  deletePastMessages,
  eraseOldContents,
  expandCampaign,
  isWholeStep,
  planReservation,
  planStays,
  processCallback,
  readRecipient,
  staysToPlan,
  stopCampaign,
  tenantsWithOldMessages,
  tenantsWithPastMessages,
  triggerMessages,
} from '../../db/ocp/index.ts'
import {
  eraseMessageContents,
  messagesExpandCampaign,
  messagesFallBack,
  messagesPlanAutomation,
  messagesPlanStay,
  messagesProcessCallback,
  messagesReportSandbox,
  messagesStartPasswordReset,
  messagesStopCampaign,
  messagesTrigger,
} from '../../jobs/ocp.ts'
import { onDatabase, processor } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { isDeliveredInSandbox } from '../providers/sandbox.ts'
import { deliver } from './deliver.ts'
import { resolveUnknown } from './resolve-unknown.ts'
import { sendUserMail } from './send-user-mail.ts'
import { verifyChannel } from './verify-channel.ts'

const trigger = onDatabase(messagesTrigger, (trx, { eventId, reservationId }) =>
  triggerMessages(trx, eventId, reservationId),
)
const planOfStay = onDatabase(messagesPlanStay, (trx, { reservationId }) => planReservation(trx, reservationId))
const fallBack = onDatabase(messagesFallBack, async (trx, { messageId, turn }, ctx) => {
  if (!(await moveOn(trx, messageId, turn))) ctx.skip('not_waiting')
})
const reportSandbox = onDatabase(messagesReportSandbox, async (trx, { messageAttemptId }, ctx) => {
  const to = await readRecipient(trx, messageAttemptId)
  if (to === null || !isDeliveredInSandbox(to)) ctx.skip('silent')
  await applyReport(trx, messageAttemptId, { status: 'delivered' })
})
const startReset = onDatabase(messagesStartPasswordReset, (trx, { passwordRequestId }) =>
  startPasswordReset(trx, passwordRequestId),
)

/** Stays that are planned in one transaction. */
const staysAtOnce = 25

const planAutomation = processor(messagesPlanAutomation, async ({ payload, effect, finish, signal }) => {
  const { tenantId, automationId, cursor } = payload
  const ids = await effect((trx) => staysToPlan(trx, cursor))
  for (let at = 0; at < ids.length; at += staysAtOnce) {
    signal.throwIfAborted()
    await effect((trx) => planStays(trx, ids.slice(at, at + staysAtOnce)))
  }
  await finish(async (trx) => {
    if (isWholeStep(ids))
      await enqueue(trx, messagesPlanAutomation, { tenantId, automationId, cursor: ids.at(-1) ?? null })
  })
})
const waitMs = 5_000
const callback = onDatabase(messagesProcessCallback, async (trx, { messageCallbackId }, ctx) => {
  if ((await processCallback(trx, messageCallbackId)) === 'wait') ctx.putBack(waitMs)
})
const expand = processor(messagesExpandCampaign, async ({ payload, effect, finish, putBack, signal }) => {
  for (;;) {
    signal.throwIfAborted()
    const next = await effect((trx) => expandCampaign(trx, payload.campaignId))
    if (next === 'wait') putBack(2 * waitMs)
    if (next === 'done') break
  }
  await finish()
})
const stop = processor(messagesStopCampaign, async ({ payload, effect, finish, signal }) => {
  while (await effect((trx) => stopCampaign(trx, payload.campaignId))) signal.throwIfAborted()
  await finish()
})
const eraseContents = processor(eraseMessageContents, async ({ effect, inTenant, finish, signal, log }) => {
  for (const { tenantId } of await effect((trx) => tenantsWithOldMessages(trx))) {
    try {
      while (!signal.aborted && (await inTenant(tenantId, eraseOldContents)) > 0);
    } catch (error) {
      log.error({ err: error, tenantId }, 'contents of messages could not be erased')
    }
  }
  for (const { tenantId } of await effect((trx) => tenantsWithPastMessages(trx))) {
    try {
      while (!signal.aborted && (await inTenant(tenantId, deletePastMessages)) > 0);
    } catch (error) {
      log.error({ err: error, tenantId }, 'past messages could not be deleted')
    }
  }
  await finish()
})

export const processors: readonly Processor[] = [
  trigger,
  planOfStay,
  deliver,
  fallBack,
  resolveUnknown,
  reportSandbox,
  sendUserMail,
  startReset,
  planAutomation,
  callback,
  verifyChannel,
  expand,
  stop,
  eraseContents,
]
