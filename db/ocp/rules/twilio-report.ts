import type { Report } from '../reports.ts'

const landline = new Set(['30006'])

/** Our status for a state of a text at Twilio and its code of an error; null where it tells nothing new. */
export const twilioReport = (state: string | undefined, code: string | undefined): Report | null => {
  switch (state) {
    case 'delivered':
      return { status: 'delivered' }
    case 'read':
      return { status: 'read' }
    case 'failed':
    case 'undelivered':
    case 'canceled':
      return {
        status: 'failed',
        code: code ? `twilio_${code}`.slice(0, 60) : state === 'failed' ? 'undelivered' : state,
        suppress: code === '21610' ? 'stop' : code !== undefined && landline.has(code) ? 'invalid' : undefined,
      }
    default:
      return null
  }
}
