import type { ChannelRevision, ChannelRoom } from '../../config/channels.ts'
import { bookingChanged } from '../../config/events/reservations.ts'
import { closeForms, createGuest, fillAges, openForms } from '../guests/index.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { blindIndex, plainText, unseal } from '../lib/sealing/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { bookingFact } from './booking-fact.ts'
import { changeStayFields } from './change.ts'
import { createBooker, nameParts } from './channel-guests.ts'
import { requestsPlace } from './hold-rows.ts'
import { requestsOf } from './import.ts'
import { tellGuestsChanged } from './stay-guests.ts'

type Guest = { id: string; reservationId: string; name: string }

const guestsOf = async (trx: Trx, reservationIds: readonly string[]): Promise<Guest[]> => {
  const rows = await sql<Guest>(
    trx,
    `select n.id, n.reservation_id, g.first_name || ' ' || coalesce(g.last_name, '') as name from reservation_guest n
     join guest g on g.tenant_id = n.tenant_id and g.id = n.guest_id where n.reservation_id = any(?::uuid[]) order by n.id`,
    [reservationIds],
  )
  return rows.map((row) => ({ ...row, name: plainText(row.name) }))
}

/** The guests of stays as plain text. */
export const namesOfStays = async (trx: Trx, reservationIds: readonly string[]): Promise<Map<string, string[]>> => {
  const guests = await guestsOf(trx, reservationIds)
  return new Map(
    reservationIds.map((id) => [id, guests.flatMap((one) => (one.reservationId === id ? [one.name] : []))]),
  )
}

/** The guests of a room as plain text: a room that names none is the booker's. */
export const namesSaid = ({ guestNames = [] }: ChannelRoom, booker: ChannelRevision['booker']): string[] =>
  (guestNames.length > 0 ? guestNames : booker ? [booker.name] : []).map(plainText)

/** The other booker that a revision names; null where it names none, or the one of the revision before. */
const newBooker = ({ before, after }: Revisions) =>
  after.booker && plainText(after.booker.name) !== plainText(before.booker?.name ?? '') ? after.booker : null

/**
 * Gives a booking the booker of a revision, where the channel names another than before, or another address. It ends what the former could see of the booking,
 * as a change by the desk does. Answers the booking.
 */
export const changeBooker = async (
  trx: Trx,
  booking: BookingRow,
  reservations: readonly ReservationRow[],
  revisions: Revisions,
): Promise<BookingRow> => {
  const { before, after } = revisions
  const booker = newBooker(revisions)
  const known = before.booker?.email ?? null
  const email = booker ? (booker.email ?? null) : (after.booker?.email ?? known)
  const indexOf = (address: string | null) => (address === null ? null : blindIndex(trx, 'email', address))
  // Another address of a booker whom the desk has named since says nothing of theirs.
  const isTheirs = (booking.emailIndex?.toString('hex') ?? null) === (indexOf(known)?.toString('hex') ?? null)
  if (!booker && (email === known || !isTheirs)) return booking
  const bookerGuestId = booker ? await createBooker(trx, booking.language, booker) : booking.bookerGuestId
  const written = await sqlOne<BookingRow>(
    trx,
    `update booking set booker_guest_id = ?, email_index = ?, guest_tokens_valid_from = now(), version = version + 1 where id = ? returning *`,
    [bookerGuestId, indexOf(email), booking.id],
  )
  if (!written || !booker) return written ?? booking
  await emit(trx, bookingChanged, {
    ...bookingFact(written, reservations),
    changed: [{ field: 'bookerGuestId', before: booking.bookerGuestId, after: bookerGuestId }],
  })
  return written
}

/**
 * The booking with a booker for rooms that it gets: another one where the data of its booker were erased since. The booker is held, so that no erasure comes in
 * between. Called before the counters are locked.
 */
export const withBooker = async (trx: Trx, booking: BookingRow, { booker }: ChannelRevision): Promise<BookingRow> => {
  if (booking.bookerGuestId === null) return booking
  const held = await sqlOne<{ status: string }>(trx, `select status from guest where id = ? for share`, [
    booking.bookerGuestId,
  ])
  if (held?.status !== 'erased') return booking
  const written = await sqlOne<BookingRow>(
    trx,
    `update booking set booker_guest_id = ?, email_index = ?, guest_tokens_valid_from = now(), version = version + 1 where id = ? returning *`,
    [
      await createBooker(trx, booking.language, booker),
      booker?.email ? blindIndex(trx, 'email', booker.email) : null,
      booking.id,
    ],
  )
  return written ?? booking
}

type Told = { stay: ReservationRow; room: ChannelRoom }
type Revisions = { before: ChannelRevision; after: ChannelRevision }

/**
 * Brings names and wishes of stays to what a revision says, where it says something else than the one before: what staff has written since stands where the
 * channel only repeats itself. Guests who have arrived are known, and stay as they are.
 */
export const tellWhatIsNew = async (
  trx: Trx,
  booking: BookingRow,
  told: readonly Told[],
  revisions: Revisions,
): Promise<void> => {
  const coming = told.filter(({ stay }) => stay.status !== 'checked_in')
  const known = new Set(revisions.before.rooms.flatMap((room) => namesSaid(room, revisions.before.booker)))
  const guests = await guestsOf(
    trx,
    coming.map(({ stay }) => stay.id),
  )
  for (const one of coming)
    await renameGuests(
      trx,
      booking,
      one,
      known,
      guests.filter(({ reservationId }) => reservationId === one.stay.id),
      newBooker(revisions),
    )
  const [said, says] = [revisions.before, revisions.after].map((revision) => requestsOf(revision, revision.rooms))
  if (said === says) return
  for (const { stay } of told) await changeRequests(trx, stay, said ?? null, says ?? null)
}

/** New guests take the places of those that the channel has named before and names no more. A profile that stands is not changed (R5 of guests.md). */
const renameGuests = async (
  trx: Trx,
  booking: BookingRow,
  { stay, room }: Told,
  known: ReadonlySet<string>,
  guests: readonly Guest[],
  booker: ChannelRevision['booker'] | null,
): Promise<void> => {
  const { guestNames = [] } = room
  // A room that names no guest is the booker's, another one's too.
  const names = guestNames.length === 0 && booker ? [booker.name] : guestNames
  const said = names.map(plainText)
  const fresh = names.filter((_, index) => {
    const name = said[index] ?? ''
    return !known.has(name) && !guests.some((guest) => guest.name === name)
  })
  if (fresh.length === 0) return
  const made: string[] = []
  for (const name of fresh) {
    const isBooker = booker && booking.bookerGuestId && plainText(name) === plainText(booker.name)
    made.push(
      isBooker && !made.includes(booking.bookerGuestId!)
        ? booking.bookerGuestId!
        : await createGuest(trx, { ...nameParts(name), language: booking.language, source: 'channel' }),
    )
  }
  const gone = guests.filter(({ name }) => known.has(name) && !said.includes(name)).map(({ id }) => id)
  await sql(
    trx,
    `update reservation_guest set responsible_id = null, version = version + 1 where responsible_id = any(?::uuid[])`,
    [gone],
  )
  await sql(trx, `delete from reservation_guest where id = any(?::uuid[])`, [gone])
  await sql(
    trx,
    `insert into reservation_guest (reservation_id, guest_id, role) select ?::uuid, g.id, 'companion' from unnest(?::uuid[]) with ordinality as g (id, place) order by g.place`,
    [stay.id, made],
  )
  // A stay has a main guest: another one where the channel has taken the former off.
  await sql(
    trx,
    `update reservation_guest set role = 'primary', version = version + 1 where reservation_id = :id and guest_id = :first
       and not exists (select from reservation_guest n where n.reservation_id = :id and n.role = 'primary')`,
    { id: stay.id, first: made[0] ?? null },
  )
  await closeForms(trx, [stay.id])
  await fillAges(trx, [stay.id])
  openForms(trx, [stay.id])
  await tellGuestsChanged(trx, { booking, stay })
}

const longest = 500

const changeRequests = async (
  trx: Trx,
  stay: ReservationRow,
  said: string | null,
  says: string | null,
): Promise<void> => {
  const stands = stay.requests
    ? (await unseal<{ requests: string }>(trx, 'tenant', requestsPlace(stay.id), stay.requests)).requests
    : null
  const isOwn = stands !== null && stands !== said
  const requests = isOwn ? [stands, says ?? ''].filter(Boolean).join('\n').slice(0, longest) : says
  await changeStayFields(trx, stay.id, { requests }, null)
}
