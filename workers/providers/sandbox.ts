import { randomBytes } from 'node:crypto'
import { segmentsOf } from '../../db/ocp/index.ts'
import type { Outgoing, SendOutcome } from '../../db/ocp/index.ts'

/** Outcome of a message in the sandbox (R22), chosen by its address. */
const fateOf = (to: string): 'refused' | 'unknown' | 'silent' | 'delivered' => {
  if (to.startsWith('fail@') || to.endsWith('0001')) return 'refused'
  if (to.endsWith('0002')) return 'unknown'
  return to.endsWith('0003') ? 'silent' : 'delivered'
}

/** Takes a message as a provider would, and keeps it: the stored attempt is all that there is to see. */
export const sendNowhere = (message: Outgoing): SendOutcome => {
  switch (fateOf(message.to)) {
    case 'refused':
      return { kind: 'refused', code: 'sandbox_refused', message: 'the sandbox refuses this address' }
    case 'unknown':
      return { kind: 'unknown', code: 'sandbox_silent', message: 'the sandbox does not answer for this address' }
    default:
      return {
        kind: 'accepted',
        reference: `sandbox-${randomBytes(12).toString('hex')}`,
        segments: message.kind === 'email' ? undefined : message.kind === 'sms' ? segmentsOf(message.text) : 1,
        proof: 'sandbox',
      }
  }
}

/** Tells whether the sandbox reports a message that it took as delivered. */
export const isDeliveredInSandbox = (to: string): boolean => fateOf(to) === 'delivered'
