import { Obj, OneOf, Opt, Uuid } from '../config/schema.ts'
import { daily, job } from './job.ts'
import type { Job, Schedule } from './job.ts'

/** Looks for other profiles that may be the same person. */
export const matchGuest = job({
  name: 'maintenance.match-guest',
  queue: 'maintenance',
  payload: Obj({ tenantId: Uuid, guestId: Uuid }),
  retry: 'internal',
  class: 'bulk',
})

/** Wraps the keys of a tenant again under the newest master key, some at a time, until none is left under an older one. */
export const rewrapTenantKeys = job({
  name: 'maintenance.rewrap-keys',
  queue: 'maintenance',
  payload: Obj({ tenantId: Uuid }),
  retry: 'internal',
  class: 'bulk',
})

/** Asks for new wrappings in the tenants that have keys under older master keys. */
export const sweepKeys = job({
  name: 'maintenance.sweep-keys',
  queue: 'maintenance',
  payload: Obj({}),
  retry: 'tick',
})

const ofRequest = Obj({ tenantId: Uuid, privacyRequestId: Uuid })

/** Makes the export of an approved access request. */
export const exportGuest = job({
  name: 'privacy.export-guest',
  queue: 'privacy',
  payload: ofRequest,
  retry: 'internal',
})

/** Takes away, table by table, what an approved erasure did not make unreadable at once. */
export const eraseGuest = job({ name: 'privacy.erase-guest', queue: 'privacy', payload: ofRequest, retry: 'internal' })

/** Ends the time of images, exports and keys, and says which requests are due. */
export const keepLimits = job({ name: 'privacy.keep-limits', queue: 'privacy', payload: Obj({}), retry: 'tick' })

/** An authority is told of a form, or of a step of its stay. */
export const reportRegistration = job({
  name: 'channels.report-registration',
  queue: 'channels',
  payload: Obj({ tenantId: Uuid, registrationReportId: Uuid }),
  retry: 'provider',
})

/** A guest is sent the link of a form. Without `channel` the plan of the house holds. */
export const sendRegistrationLink = job({
  name: 'messages.send-registration-link',
  queue: 'messages',
  payload: Obj({ tenantId: Uuid, guestRegistrationId: Uuid, channel: Opt(OneOf(['email', 'sms', 'whatsapp'])) }),
  retry: 'internal',
})

/** Asks for the links of forms whose guests arrive soon. */
export const inviteGuests = job({ name: 'messages.invite-guests', queue: 'messages', payload: Obj({}), retry: 'tick' })

export const guestsJobs: Job[] = [
  matchGuest,
  rewrapTenantKeys,
  sweepKeys,
  exportGuest,
  eraseGuest,
  keepLimits,
  reportRegistration,
  sendRegistrationLink,
  inviteGuests,
]
export const guestsSchedules: Schedule[] = [
  daily('03:40', keepLimits),
  daily('03:50', sweepKeys),
  daily('11:00', inviteGuests),
]
