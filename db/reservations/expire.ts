import { ApiError } from '../../config/errors.ts'
import { reservationExpired } from '../../config/events/reservations.ts'
import { log } from '../../config/log.ts'
import { confirmPaid, expireHold as expireHoldJob } from '../../jobs/reservations.ts'
import { contextOf, inTenant, sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { fromDatabase, isMomentary } from '../lib/errors.ts'
import { businessDay } from '../financial/index.ts'
import { cancelPaymentsOf, paymentState } from '../payment/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { moveInventory } from '../units/index.ts'
import type { PoolNightKey } from '../units/index.ts'
import { dueAtBooking, isCovered, isRunning } from './rules/deposits.ts'
import { refundCredit } from './credit.ts'
import { depositsOf, lockBooking, propertyOfBooking } from './lock.ts'
import { returnPromo } from './promo-use.ts'
import { recordTransition } from './record.ts'
import { isLive } from './rules/states.ts'
import { setNights, stockMoves } from './night-moves.ts'

export type Expiry = 'expired' | 'alive' | 'covered' | 'waiting' | 'none'

/**
 * Ends a hold whose time is over (T9). Delayed job, sweeper and contention all call it: under the booking's lock, by the database's
 * clock. What the money covers waits for its confirmation; a payment whose outcome is open moves the end on, up to the cap.
 */
export const expireHold = async (trx: Trx, bookingId: string): Promise<Expiry> => {
  const propertyId = await propertyOfBooking(trx, bookingId)
  if (!propertyId) return 'none'
  const businessDate = await businessDay(trx, propertyId)
  const locked = await lockBooking(trx, bookingId)
  if (!locked?.booking.holdExpiresAt || !locked.booking.holdCapAt) return 'none'
  const { booking, reservations, now } = locked
  const { holdExpiresAt, holdCapAt } = locked.booking
  if (holdExpiresAt > now) return 'alive'
  const rooms = reservations.filter((one) => one.status === 'held')
  const due = dueAtBooking(
    booking,
    await depositsOf(
      trx,
      rooms.map((one) => one.id),
    ),
  )
  const state = await paymentState(trx, 'booking', bookingId)
  const { tenantId } = contextOf(trx)
  const payload = { tenantId: tenantId ?? '', bookingId }
  if (isCovered(due, booking.credit, state)) {
    await enqueue(trx, confirmPaid, payload, { uniqueKey: bookingId })
    return 'covered'
  }
  if (isRunning(state) && holdCapAt > now) {
    const until = new Date(Math.min(holdCapAt.getTime(), now.getTime() + 60_000))
    await sql(
      trx,
      `update booking set hold_kind = 'payment', hold_expires_at = ?, hold_version = hold_version + 1, version = version + 1 where id = ?`,
      [until, bookingId],
    )
    await enqueue(trx, expireHoldJob, payload, { at: until })
    return 'waiting'
  }
  await releaseRooms(trx, rooms, { status: 'expired' })
  const staysLive = reservations.some((one) => isLive(one.status) && one.status !== 'held')
  await endHold(trx, booking, { staysLive, keepsPromo: staysLive || hasUsedPromo(reservations) })
  await recordTransition(trx, {
    id: 'T9',
    booking,
    reservations: rooms.map((one) => ({ ...one, status: 'expired', version: one.version + 1 })),
    event: reservationExpired,
    businessDate,
    data: {},
  })
  await cancelPaymentsOf(trx, 'booking', bookingId)
  await refundCredit(trx, bookingId, booking.credit, 'late_payment')
  return 'expired'
}

/** Gives the nights of held rooms back and writes how they ended. */
export const releaseRooms = async (
  trx: Trx,
  rooms: readonly ReservationRow[],
  end: { status: 'expired' } | { status: 'cancelled'; reason: NonNullable<ReservationRow['cancelReason']> },
): Promise<void> => {
  const ids = rooms.map((one) => one.id)
  await moveInventory(trx, await stockMoves(trx, ids, 'open', { held: -1 }))
  await sql(
    trx,
    `update reservation set status = ?, cancel_reason = ?, cancelled_at = case when ?::text is null then null else now() end, version = version + 1
     where id = any(?::uuid[])`,
    [end.status, end.status === 'cancelled' ? end.reason : null, end.status === 'cancelled' ? end.reason : null, ids],
  )
  await setNights(trx, ids, 'open', 'released')
}

/** Tells whether a room of a booking has used its promo code for good: the guest has come, or was charged for staying away. */
export const hasUsedPromo = (rooms: readonly Pick<ReservationRow, 'status'>[]): boolean =>
  rooms.some(({ status }) => status === 'checked_in' || status === 'checked_out' || status === 'no_show')

/**
 * Ends a hold: its fields go with the last held room, the promo code returns with the last live one unless a room has used it, and an unpaid hold
 * counts as a strike.
 */
export const endHold = async (
  trx: Trx,
  booking: BookingRow,
  { staysLive, keepsPromo = staysLive }: { staysLive: boolean; keepsPromo?: boolean },
): Promise<void> => {
  if (!keepsPromo) await returnPromo(trx, booking)
  await sql(
    trx,
    `update booking set hold_kind = null, hold_expires_at = null, hold_cap_at = null, hold_version = null,
       ended_at = case when ?::boolean then null else now() end, version = version + 1 where id = ?`,
    [staysLive, booking.id],
  )
  if (booking.source === 'portal' && booking.emailIndex && booking.credit === 0 && booking.bookerGuestId === null)
    await sql(
      trx,
      `insert into hold_strike (property_id, email_index, booking_id) values (?, ?, ?) on conflict do nothing`,
      [booking.propertyId, booking.emailIndex, booking.id],
    )
}

/** Holds past their time, across tenants: ids alone. */
export const dueHolds = (trx: PlatformTrx, most = 200): Promise<{ tenantId: string; id: string }[]> =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from holds_due(?)`, [most])

/**
 * After a `sold_out`: ends overdue holds that stand in the way, each in a transaction of its own; true when any has ended, also if another command
 * came first. Unlocked ones go first; one that is being ended at this moment is waited for, since all of them may be needed. One that cannot
 * be ended at all keeps its own rooms only: its job goes on trying, and is dead in the end.
 */
export const reapHolds = async (tenantId: string, nights: readonly PoolNightKey[]): Promise<boolean> => {
  const overdue = await inTenant(tenantId, (trx) =>
    sql<{ id: string }>(
      trx,
      `with wanted as (select * from unnest(?::uuid[], ?::date[]) as w (pool_id, night)),
       overdue as (
         select b.id, b.hold_expires_at from booking b where b.hold_expires_at <= now() and exists (
           select from reservation r where r.tenant_id = b.tenant_id and r.booking_id = b.id and r.status = 'held' and (
             exists (select from reservation_night n
               join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id
               join wanted w on w.pool_id = p.unit_pool_id and w.night = n.date
               where n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status = 'open')
             or exists (select from reservation_extra x
               join extra e on e.tenant_id = x.tenant_id and e.id = x.extra_id
               join wanted w on w.pool_id = e.pool_id and w.night between x."from" and x."until"
               where x.tenant_id = r.tenant_id and x.reservation_id = r.id and x.status = 'active')))
         order by b.hold_expires_at limit 50),
       free as (select id from booking where id in (select id from overdue) for no key update skip locked)
       select o.id from overdue o left join free f on f.id = o.id order by f.id is null, o.hold_expires_at`,
      [nights.map((one) => one.poolId), nights.map((one) => one.night)],
    ),
  )
  let ended = false
  for (const { id } of overdue)
    try {
      const expiry = await inTenant(tenantId, (trx) => expireHold(trx, id))
      ended ||= expiry === 'expired' || expiry === 'none'
    } catch (error) {
      const refusal = error instanceof ApiError ? error : fromDatabase(error)
      if (refusal === null || !isMomentary(refusal)) {
        log.error({ err: error, tenantId, bookingId: id }, 'a hold could not be ended')
        continue
      }
      // The ended ones may be enough, and the next one is locked for long.
      if (!ended) throw error
      break
    }
  return ended
}
