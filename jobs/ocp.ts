import { Int, Nullable, Obj, Opt, Uuid } from '../config/schema.ts'
import { daily, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Runs the automations of an event's type, each at most once per event. `reservationId` names the stay where the event itself does not. */
export const messagesTrigger = job({
  name: 'messages.trigger',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, eventId: Uuid, reservationId: Opt(Uuid) }),
  retry: 'internal',
})

/** Makes the dated messages of one reservation match what its dates and automations want, where it is not the one that an event is about. */
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
  feature: 'ocp',
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

/** Makes the dated messages of all stays match what an automation wants, 500 stays a step. */
export const messagesPlanAutomation = job({
  name: 'messages.plan-automation',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, automationId: Uuid, cursor: Nullable(Uuid) }),
  retry: 'internal',
  class: 'bulk',
})

/** Reads what a provider has reported, or what a guest has written. */
export const messagesProcessCallback = job({
  name: 'messages.process-callback',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, messageCallbackId: Uuid }),
  retry: 'internal',
})

/** Proves the sender of a channel, and sends a message by it. */
export const messagesVerifyChannel = job({
  name: 'messages.verify-channel',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, messageChannelId: Uuid, number: Int(1, 2_147_483_647) }),
  retry: 'message',
  feature: 'ocp',
})

/** Makes the messages of a campaign, some at a time, as fast as they may leave. It runs without the feature too, and ends the campaign then. */
export const messagesExpandCampaign = job({
  name: 'messages.expand-campaign',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, campaignId: Uuid }),
  retry: 'internal',
  class: 'bulk',
})

/** Cancels what of a campaign is not sent, 500 messages at a time. */
export const messagesStopCampaign = job({
  name: 'messages.stop-campaign',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, campaignId: Uuid }),
  retry: 'internal',
})

/** Erases contents and addresses of messages whose time is over. */
export const eraseMessageContents = job({
  name: 'privacy.erase-message-contents',
  queue: 'privacy',
  payload: Obj({}),
  retry: 'tick',
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
  messagesPlanAutomation,
  messagesProcessCallback,
  messagesVerifyChannel,
  messagesExpandCampaign,
  messagesStopCampaign,
  eraseMessageContents,
]
export const ocpSchedules: Schedule[] = [daily('04:10', eraseMessageContents)]
