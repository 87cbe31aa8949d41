import { prepared, preparedOne, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { MessageRow } from '../rows.ts'
import type { ChannelKind } from './rules/contents.ts'

/** Messages to one number that strangers may bring about: so many in so many minutes. */
const strangerLimits = [
  { most: 3, minutes: 10 },
  { most: 5, minutes: 60 },
]
/** Mails of bookings from one address of the network that strangers may bring about within an hour. */
const mostOfClient = 10

/** A payment of a booking, its proven e-mail or the check-in to a stay of it, as SQL that tells whether there is one; `b` is the booking. */
const isProven = `(exists (select from reservation x where x.tenant_id = b.tenant_id and x.booking_id = b.id and x.actual_check_in_at is not null)
  or exists (select from guest_access_code c where c.tenant_id = b.tenant_id and c.booking_id = b.id and c.used_at is not null)
  or exists (select from (
      select 'booking' as type, b.id union all select 'reservation', x.id from reservation x where x.tenant_id = b.tenant_id and x.booking_id = b.id) t
    join payment p on p.tenant_id = b.tenant_id and p.target_type = t.type and p.target_id = t.id and p.captured_amount > 0))`

/** Tells whether the client of a booking that nothing proves has brought about as many mails as it may. Those of one client come one after the other. */
const isClientBusy = async (trx: Trx, addressHash: Buffer, messageId: string): Promise<boolean> => {
  const [, sent] = await Promise.all([
    prepared(trx, `select pg_advisory_xact_lock(hashtextextended('message-client:' || encode(?::bytea, 'hex'), 0))`, [
      addressHash,
    ]),
    preparedOne<{ count: number }>(
      trx,
      // The bookings of the client first, and the messages of each: PostgreSQL would join those of all the house.
      `select count(*) as count from booking b
       cross join lateral (
         select m.id from reservation r
         join message m on m.tenant_id = r.tenant_id and m.reservation_id = r.id and m.origin in ('automation', 'module') and m.id <> ?
         where r.tenant_id = b.tenant_id and r.booking_id = b.id and exists (
           select from message_attempt a where a.tenant_id = m.tenant_id and a.message_id = m.id and a.created_at >= now() - interval '60 minutes') offset 0) m
       where b.address_hash = ? and b.source = 'portal' and not ${isProven}`,
      [messageId, addressHash],
    ),
  ])
  return (sent?.count ?? 0) >= mostOfClient
}

/** A booking of the portal, and whether anything proves it. */
export type StrangersBooking = { proven: boolean; addressHash: Buffer | null }

/** The portal booking that a message follows from; null where it follows from none, as what staff writes. */
export const strangersBooking = async (
  trx: Trx,
  { origin, reservationId }: Pick<MessageRow, 'origin' | 'reservationId'>,
): Promise<StrangersBooking | null> =>
  reservationId === null || (origin !== 'automation' && origin !== 'module')
    ? null
    : preparedOne<StrangersBooking>(
        trx,
        `select ${isProven} as proven, b.address_hash
         from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id where r.id = ? and b.source = 'portal'`,
        [reservationId],
      )

/**
 * Messages that follow from a portal booking by an unknown guest (R9): a number is not written to before a payment of the booking came in or its e-mail was proven,
 * nor too often; and mails of bookings that nothing proves yet are so many an hour for one client. What staff writes is no stranger's.
 */
export const strangersCause = async (
  trx: Trx,
  kind: ChannelKind,
  index: Buffer,
  { id, booking }: { id: string; booking: StrangersBooking | null },
): Promise<'not_verified' | 'stranger_limit' | null> => {
  if (!booking) return null
  if (kind === 'email')
    return !booking.proven && booking.addressHash !== null && (await isClientBusy(trx, booking.addressHash, id))
      ? 'stranger_limit'
      : null
  if (!booking.proven) return 'not_verified'
  const sent = await sqlOne<Record<string, number>>(
    trx,
    `select ${strangerLimits.map(({ minutes }) => `count(*) filter (where a.created_at >= now() - interval '${minutes} minutes') as within_${minutes}`).join(', ')}
     from message_attempt a join message m on m.tenant_id = a.tenant_id and m.id = a.message_id
     where a.recipient_index = ? and m.id <> ? and m.origin in ('automation', 'module') and m.reservation_id is not null
       and a.created_at >= now() - interval '60 minutes'`,
    [index, id],
  )
  return strangerLimits.some(({ most, minutes }) => (sent?.[`within${minutes}`] ?? 0) >= most) ? 'stranger_limit' : null
}
