import { retryClasses } from '../../config/queues.ts'
import type { Outgoing, SendOutcome } from '../../db/ocp/index.ts'
import { sendNowhere } from '../providers/sandbox.ts'
import { sendMail } from '../providers/smtp.ts'
import { sendText } from '../providers/twilio.ts'

/** Starts of a job of class message; after the last one it is not tried again. */
export const mostTries = retryClasses.message.tries + retryClasses.message.laterMs.length

/** Name of the other side, for the journal of calls and the metrics. */
export const providerOf = ({ transport, kind }: Outgoing): string =>
  transport === 'sandbox' ? 'sandbox' : kind === 'email' ? 'smtp' : 'twilio'

/** Hands a message to the provider of its channel. Never throws. */
export const send = (message: Outgoing, signal: AbortSignal): Promise<SendOutcome> => {
  if (message.transport === 'sandbox') return Promise.resolve(sendNowhere(message))
  return message.kind === 'email'
    ? sendMail({ ...message, isAutomatic: !message.isPersonal }, signal)
    : sendText(message)
}
