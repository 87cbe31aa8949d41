/** Messages to guests and staff. Other modules queue them here and never send. */
export {
  changeAutomation,
  createAutomation,
  deleteAutomation,
  isWholeStep,
  listAutomations,
  planStays,
  readAutomation,
  staysToPlan,
} from './automations.ts'
export { storeMessageCallback } from './callbacks.ts'
export {
  cancelCampaign,
  changeCampaign,
  createCampaign,
  launchCampaign,
  listCampaigns,
  previewCampaign,
  readCampaign,
} from './campaigns.ts'
export { changeChannel, endTest, listChannels, openTest, readChannel, testChannel } from './channels.ts'
export { messageIdOf } from './compose.ts'
export {
  changeConversation,
  closeConversation,
  holdOpenConversation,
  listConversations,
  readConversation,
  replyTo,
} from './conversations.ts'
export {
  deletePastMessages,
  eraseOldContents,
  tenantsWithOldMessages,
  tenantsWithPastMessages,
} from './erase-contents.ts'
export { expandCampaign, stopCampaign } from './expand-campaign.ts'
export { messagesForGuests } from './export.ts'
export { receiveMessage, registerInbound } from './inbound.ts'
export type { Heard } from './inbound.ts'
export { listMessages, maskAddress, messageSorts, readMessage } from './messages.ts'
export { registerMessageOwner } from './owners.ts'
export type { MessageOwner } from './owners.ts'
export { formatDay, formatMoney } from './rules/format.ts'
export { carrierGate } from './rules/send-outcome.ts'
export type { Outgoing, SendOutcome, SmtpAccount } from './rules/send-outcome.ts'
export { planReservation } from './plan-stay.ts'
export { previewTemplate, propertyOfPreview } from './preview.ts'
export { processCallback } from './process-callback.ts'
export { provisionChannels, provisionMessages } from './provision.ts'
export { queueMessage } from './queue.ts'
export { queueMessages } from './queue-many.ts'
export type { ManyRequest } from './queue-many.ts'
export { recordOutcome } from './outcomes.ts'
export { applyReport, fallBack } from './reports.ts'
export { adoptText, allowResend, firstUnclaimed, giveUpUnknown, openUnknown, takeBackResend } from './resolve.ts'
export type { FoundText } from './resolve.ts'
export { fitsBlotted } from './rules/blotted.ts'
export { twilioReport } from './rules/twilio-report.ts'
export { segmentsOf } from './rules/segments.ts'
export { segmentFields } from './rules/segment.ts'
export { anchors, triggerEvents } from './rules/trigger.ts'
export { decideSending, readRecipient } from './sending.ts'
export { cancelMessage, retryMessage, sendMessage } from './staff-messages.ts'
export { liftSuppression, listSuppressions, readSuppression, suppress } from './suppression.ts'
export {
  archiveTemplate,
  changeTemplate,
  createTemplate,
  listTemplates,
  publishTemplate,
  readTemplate,
} from './templates.ts'
export { triggerMessages } from './trigger.ts'
export { readUnsubscribe, unsubscribe } from './unsubscribe.ts'
export type { UnsubscribePage } from './unsubscribe.ts'
export { channelUse, meteredUse } from './usage.ts'
export { endUserMail, mailUser, noticeUser, readUserMail } from './user-mail.ts'
export { noticeRoles } from './notices.ts'
