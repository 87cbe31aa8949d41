import { Int, Obj, Uuid } from '../config/schema.ts'
import { job } from './job.ts'
import type { Job } from './job.ts'

/** Runs the automations of an event's type, each at most once per event. */
export const messagesTrigger = job({
  name: 'messages.trigger',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, eventId: Uuid }),
  retry: 'internal',
})

/** Makes the dated messages of one reservation match what its dates and automations want. */
export const messagesPlanStay = job({
  name: 'messages.plan-stay',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, reservationId: Uuid }),
  retry: 'internal',
})

/** One move of one message; a job whose turn is not the message's does nothing. */
export const messagesDeliver = job({
  name: 'messages.deliver',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, messageId: Uuid, turn: Int(0, 1_000_000) }),
  retry: 'message',
})

/** Tries the next channel of the plan when nothing says that the last one arrived. */
export const messagesFallBack = job({
  name: 'messages.fall-back',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, messageId: Uuid, turn: Int(0, 1_000_000) }),
  retry: 'internal',
})

/** Resolves a call whose answer was lost. */
export const messagesResolveUnknown = job({
  name: 'messages.resolve-unknown',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, messageAttemptId: Uuid }),
  retry: 'message',
})

/** A provider's word on a message, as a sandbox transport gives it. */
export const messagesReportSandbox = job({
  name: 'messages.report-sandbox',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, messageAttemptId: Uuid }),
  retry: 'internal',
  replayable: true,
})

/** Mail to staff: one row, one mail. */
export const messagesSendUserMail = job({
  name: 'messages.send-user-mail',
  queue: 'messages',
  payload: Obj({ userMailId: Uuid }),
  retry: 'message',
})

/** Mails a link to set a new password, if there is such an account. */
export const messagesStartPasswordReset = job({
  name: 'messages.start-password-reset',
  queue: 'messages',
  payload: Obj({ passwordRequestId: Uuid }),
  retry: 'internal',
})

export const ocpJobs: Job[] = [
  messagesTrigger,
  messagesPlanStay,
  messagesDeliver,
  messagesFallBack,
  messagesResolveUnknown,
  messagesReportSandbox,
  messagesSendUserMail,
  messagesStartPasswordReset,
]
