import { startPasswordReset } from '../../db/auth/index.ts'
import { fallBack as moveOn, applyReport, planStay, readRecipient, triggerMessages } from '../../db/ocp/index.ts'
import {
  messagesFallBack,
  messagesPlanStay,
  messagesReportSandbox,
  messagesStartPasswordReset,
  messagesTrigger,
} from '../../jobs/ocp.ts'
import { onDatabase } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { isDeliveredInSandbox } from '../providers/sandbox.ts'
import { deliver } from './deliver.ts'
import { resolveUnknown } from './resolve-unknown.ts'
import { sendUserMail } from './send-user-mail.ts'

const trigger = onDatabase(messagesTrigger, (trx, { eventId }) => triggerMessages(trx, eventId))
const planOfStay = onDatabase(messagesPlanStay, (trx, { reservationId }) => planStay(trx, reservationId))
const fallBack = onDatabase(messagesFallBack, async (trx, { messageId, turn }, ctx) => {
  if (!(await moveOn(trx, messageId, turn))) ctx.skip('not_waiting')
})
const reportSandbox = onDatabase(messagesReportSandbox, async (trx, { messageAttemptId }, ctx) => {
  const to = await readRecipient(trx, messageAttemptId)
  if (to === null || !isDeliveredInSandbox(to)) ctx.skip('silent')
  await applyReport(trx, messageAttemptId, 'delivered')
})
const startReset = onDatabase(messagesStartPasswordReset, (trx, { passwordRequestId }) =>
  startPasswordReset(trx, passwordRequestId),
)

export const processors: readonly Processor[] = [
  trigger,
  planOfStay,
  deliver,
  fallBack,
  resolveUnknown,
  reportSandbox,
  sendUserMail,
  startReset,
]
