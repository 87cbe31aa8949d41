import { conflict, notFound, unprocessable } from '../../config/errors.ts'
import { nilId } from '../../config/nil-id.ts'
import { addDays, localInstant } from '../../config/time.ts'
import { sendRegistrationLink } from '../../jobs/guests.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { GuestRegistrationRow } from '../rows.ts'
import { openProfile, refuseStale } from './lock.ts'
import { ownerOf } from './registration-form.ts'
import { isOfGuest } from './resolve.ts'
import { tellChanged } from './tell.ts'

export const linkChannels = ['email', 'sms', 'whatsapp'] as const
export type LinkChannel = (typeof linkChannels)[number]

type Linked = GuestRegistrationRow & { stayStatus: string; arrival: string; timezone: string }

const linkedForm = (trx: Trx, id: string, lock = '') =>
  sqlOne<Linked>(
    trx,
    `select g.*, r.status as stay_status, r.arrival, p.timezone from guest_registration g
     join reservation r on r.tenant_id = g.tenant_id and r.id = g.reservation_id
     join property p on p.tenant_id = g.tenant_id and p.id = g.property_id where g.id = ? ${lock}`,
    [id],
  )

const dayMs = 86_400_000

/** The end of a link: that of the arrival date, or 24 hours after it was sent if that is later (R30). */
const endOf = ({ arrival, timezone }: Linked, sentAt: Date): Date =>
  new Date(Math.max(localInstant(addDays(arrival, 1), '00:00', timezone).getTime(), sentAt.getTime() + dayMs))

const renew = (trx: Trx, id: string) =>
  sql(
    trx,
    `update guest_registration set version = version + 1, link_sent_at = clock_timestamp(),
       link_valid_from = greatest(date_trunc('second', clock_timestamp()), link_valid_from + interval '1 second') where id = ?`,
    [id],
  )

/**
 * Sends the guest of a form a new link; the ones before end. 409 `invalid_transition` for a form that was cancelled, or whose stay does not wait for its
 * guest any more; 422 `recipient_missing` where the profile has no address for the channel.
 */
export const sendLink = async (
  trx: Trx,
  id: string,
  channel: LinkChannel,
  expected: number | null = null,
): Promise<void> => {
  const row = await linkedForm(trx, id, 'for no key update of g')
  if (!row) throw notFound()
  refuseStale(row, expected)
  if (row.status === 'cancelled' || row.stayStatus !== 'confirmed')
    throw conflict('invalid_transition', 'A link is sent before the check-in of a stay that is confirmed')
  const guest = await ownerOf(trx, row.guestId)
  if (guest.status === 'erased') throw conflict('guest_erased', 'The personal data of this guest were erased')
  const { email, phone } = await openProfile(trx, guest)
  const address = channel === 'email' ? email : phone
  if (address === null)
    throw unprocessable('recipient_missing', 'The guest has no address of this kind', [
      { field: 'channel', message: channel === 'email' ? 'there is no e-mail' : 'there is no telephone' },
    ])
  await renew(trx, id)
  const { tenantId } = contextOf(trx)
  if (tenantId) await enqueue(trx, sendRegistrationLink, { tenantId, guestRegistrationId: id, channel })
  await tellChanged(trx, guest, ['registration'])
}

/** The facts for a message with the link of a form; null where nothing has to be sent any more. */
export const linkOf = async (trx: Trx, id: string) => {
  const row = await linkedForm(trx, id)
  if (!row || row.status === 'cancelled' || row.stayStatus !== 'confirmed' || !row.linkValidFrom || !row.linkSentAt)
    return null
  const endsAt = endOf(row, row.linkSentAt)
  return {
    propertyId: row.propertyId,
    guestId: row.guestId,
    reservationId: row.reservationId,
    validFrom: row.linkValidFrom,
    endsAt,
  }
}

/** The form of a guest for a stay that waits for them, which a message about the stay may link to; null also where the house keeps no forms. */
export const formToLink = async (trx: Trx, reservationId: string, guestId: string): Promise<string | null> => {
  const row = await sqlOne<{ id: string }>(
    trx,
    `select g.id from guest_registration g
     join reservation r on r.tenant_id = g.tenant_id and r.id = g.reservation_id and r.status = 'confirmed'
     join property p on p.tenant_id = g.tenant_id and p.id = g.property_id
     where g.reservation_id = ? and g.status <> 'cancelled' and coalesce(p.settings -> 'registration' ->> 'mode', 'warn') <> 'off'
       and ${isOfGuest('g.guest_id')} order by g.id limit 1`,
    [reservationId, guestId],
  )
  return row?.id ?? null
}

/** The link of a form for a message that goes to its guest anyway: the one in force, so that none sent before ends, or else a first one. */
export const linkInForce = async (trx: Trx, id: string): Promise<{ validFrom: Date; endsAt: Date }> => {
  const seen = await linkedForm(trx, id)
  // Of two messages at once one makes the first link, and the other one finds it.
  if (!seen?.linkValidFrom && !(await linkedForm(trx, id, 'for no key update of g'))?.linkValidFrom)
    await renew(trx, id)
  const row = await linkedForm(trx, id)
  if (!row?.linkValidFrom) throw notFound()
  return { validFrom: row.linkValidFrom, endsAt: endOf(row, new Date()) }
}

/** Tells whether a token of a form is good: made with its newest link, before the guest arrived (R30). */
export const isLinkLive = async (trx: Trx, id: string, issuedAt: Date): Promise<boolean> => {
  const row = await linkedForm(trx, id)
  if (!row?.linkValidFrom || row.status === 'cancelled' || row.stayStatus !== 'confirmed') return false
  return row.linkValidFrom <= issuedAt
}

type Invited = { tenantId: string; id: string }

/** Forms whose guests arrive soon and have no link yet, by id after `after`. */
export const formsToInvite = (trx: PlatformTrx, after = nilId, most = 200): Promise<Invited[]> =>
  sql<Invited>(trx, `select tenant_id, id from registrations_to_invite(?, ?)`, [after, most])

/** Sends a first link by the plan of the house, where the guest has an address. Answers whether there is one. */
export const inviteGuest = async (trx: Trx, id: string): Promise<boolean> => {
  const row = await linkedForm(trx, id, 'for no key update of g')
  if (!row || row.linkSentAt !== null || row.status === 'cancelled' || row.stayStatus !== 'confirmed') return false
  const guest = await ownerOf(trx, row.guestId)
  const { email, phone } = await openProfile(trx, guest)
  if (guest.status === 'erased' || (email === null && phone === null)) return false
  await renew(trx, id)
  const { tenantId } = contextOf(trx)
  if (tenantId) await enqueue(trx, sendRegistrationLink, { tenantId, guestRegistrationId: id })
  return true
}
