import { conflict, notFound, unprocessable, versionConflict } from '../../config/errors.ts'
import { reservationCancelled } from '../../config/events/reservations.ts'
import { businessDay } from '../financial/index.ts'
import { sum } from '../lib/amounts.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { cancelPaymentsOf, paymentState } from '../payment/index.ts'
import { readProperty } from '../properties/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { moveInventory, releaseUnits } from '../units/index.ts'
import { isRunning } from './rules/deposits.ts'
import { refundCredit } from './credit.ts'
import { endHold, hasUsedPromo, releaseRooms } from './expire.ts'
import { closeSettled } from './folio/close.ts'
import { lockFoliosOf } from './folio/lock.ts'
import { postCharged } from './folio/write.ts'
import type { Charged } from './folio/write.ts'
import { lockBooking, propertyOfBooking } from './lock.ts'
import { setNights, stockMoves } from './night-moves.ts'
import { returnPromo } from './promo-use.ts'
import { recordTransition } from './record.ts'
import { chargeFees, feeShares, refundExcess } from './cancel-money.ts'
import { askForFees } from './collect.ts'
import { readFacts } from './facts.ts'
import type { LockedBooking } from './lock.ts'
import { blocker, refuseBlocked } from './rules/blockers.ts'
import type { Blocker, Override } from './rules/blockers.ts'
import { planCancel } from './rules/plans.ts'
import type { CancelTerms } from './rules/plans.ts'
import { cancelling, isLive, stayLifecycle } from './rules/states.ts'

/** Reasons for which a stay is cancelled (R30). */
export const cancelReasons = [
  'guest_request',
  'changed_plans',
  'found_other',
  'illness',
  'transport',
  'weather',
  'visa',
  'payment_failed',
  'deposit_unpaid',
  'duplicate',
  'test',
  'guest_unreachable',
  'overbooked_relocated',
  'property_fault',
  'force_majeure',
  'privacy',
  'other',
] as const satisfies readonly NonNullable<ReservationRow['cancelReason']>[]
export type CancelReason = (typeof cancelReasons)[number]
export type Cancellation = {
  /** All rooms that still stand, unless some are named. */
  reservationIds?: readonly string[] | undefined
  /** Fee that the caller accepted, in minor units; it must equal the present fee. */
  acceptedFee?: number | undefined
  /** For terms agreed elsewhere, such as with a channel: the policy's fee, or none. */
  terms?: 'policy' | 'free' | undefined
  reason: CancelReason
  /** Guests cancel a stay of a channel there: the channel would not hear of it from us, and has terms of its own. */
  byGuest?: boolean | undefined
  /** The desk cancels: it is told all that stands in the way at once, and may set rules aside. */
  desk?: Desk | undefined
}

type Desk = Pick<CancelTerms, 'fee' | 'refund'> & {
  note?: string | undefined
  override?: Override | null
  expectedVersion?: number | null
}

const feeChanged = (fee: number) =>
  conflict('fee_changed', `Cancelling costs ${fee} now; send that as acceptedFee`, [
    { field: 'acceptedFee', message: String(fee) },
  ])

/**
 * Releases held rooms (T10) and cancels confirmed ones (T11) by their own copy of the policy: the fee is charged to the folio, the rest
 * of the money goes back the way it came. Rooms that are cancelled already are left as they are. Null where there is no such booking.
 */
export const cancelReservations = async (
  trx: Trx,
  bookingId: string,
  { reservationIds, acceptedFee, terms, reason, byGuest = false, desk }: Cancellation,
): Promise<'cancelled' | 'already' | null> => {
  const propertyId = await propertyOfBooking(trx, bookingId)
  if (!propertyId) return null
  const businessDate = await businessDay(trx, propertyId)
  const locked = await lockBooking(trx, bookingId)
  const property = await readProperty(trx, propertyId)
  if (!locked || !property) return null
  const { booking, reservations } = locked
  refuseVersion(locked, reservationIds, desk?.expectedVersion ?? null)
  const rooms = desk
    ? roomsOfDesk(reservations, reservationIds)
    : roomsToCancel(reservations, reservationIds, businessDate)
  if (byGuest && rooms.some((one) => one.channelManaged))
    throw unprocessable('channel_managed', 'The stay was booked at a channel; cancel it there')
  if (rooms.length === 0) {
    if (desk) refuseBlocked(inHouse(reservations, reservationIds))
    return 'already'
  }
  const facts = await readFacts(
    trx,
    property,
    rooms.map((one) => one.id),
  )
  const lowered = desk?.fee === undefined ? [] : feeShares(facts, { property, businessDate }, desk.fee)
  const plans = new Map(
    facts.map((one, index) => [
      one.stay.id,
      planCancel({ facts: one, property, businessDate }, { reason, fee: lowered[index], refund: desk?.refund }),
    ]),
  )
  const feeOf = (id: string) => (terms === 'free' ? 0 : (plans.get(id)?.effects.fee ?? 0))
  const used = desk
    ? refuseBlocked(
        [
          ...inHouse(reservations, reservationIds),
          ...uniqueBlockers([...plans.values()].flatMap((plan) => plan.blockers)),
        ],
        desk.override,
      )
    : null
  const fee = sum(rooms.map((one) => feeOf(one.id)))
  if (terms === undefined && fee !== (acceptedFee ?? 0) && desk?.fee === undefined) throw feeChanged(fee)
  if (!desk && isRunning(await paymentState(trx, 'booking', bookingId)))
    throw conflict('payment_in_progress', 'A payment is being processed; wait for its end')

  const ending = { reason, businessDate, note: desk?.note ?? null, override: used, refund: desk?.refund ?? 'automatic' }
  const held = rooms.filter((one) => one.status === 'held')
  const confirmed = rooms.filter((one) => one.status === 'confirmed')
  const ended = new Set(rooms.map((one) => one.id))
  const left = reservations.filter((one) => isLive(one.status) && !ended.has(one.id))
  const keepsPromo = left.length > 0 || hasUsedPromo(reservations)
  if (held.length > 0) await releaseHeld(trx, booking, { held, left, keepsPromo }, ending)
  const charged =
    confirmed.length > 0
      ? await cancelConfirmed(trx, {
          booking,
          keepsPromo,
          confirmed,
          feeOf,
          ...ending,
        })
      : null
  if (confirmed.length > 0 && left.length === 0)
    await sql(trx, `update booking set ended_at = now(), version = version + 1 where id = ?`, [bookingId])
  if (left.length === 0) {
    await cancelPaymentsOf(trx, 'booking', bookingId)
    await refundCredit(trx, bookingId, booking.credit, 'cancellation')
  }
  if (charged) await postCharged(trx, booking.propertyId, charged)
  return 'cancelled'
}

/** 409 `version_conflict` where the record that the request names is another by now: the one room, else the booking. */
const refuseVersion = (
  { booking, reservations }: LockedBooking,
  ids: readonly string[] | undefined,
  expected: number | null,
): void => {
  const { version } = (ids?.length === 1 && reservations.find((one) => one.id === ids[0])) || booking
  if (expected !== null && expected !== version) throw versionConflict(version)
}

/** Rooms that the desk ends: one that it names, or all of a booking that still stand. */
const roomsOfDesk = (reservations: readonly ReservationRow[], ids: readonly string[] | undefined): ReservationRow[] => {
  const named = ids ? reservations.filter((one) => ids.includes(one.id)) : reservations
  if (ids && named.length !== new Set(ids).size) throw notFound()
  if (ids) return named.filter((one) => stayLifecycle.isDue('cancelled', one.status))
  const standing = named.filter((one) => one.status === 'held' || one.status === 'confirmed')
  if (standing.length > 0 || named.some((one) => one.status === 'cancelled' || one.status === 'checked_in'))
    return standing
  throw conflict('invalid_transition', 'No room of the booking can be cancelled any more')
}

/** A booking is cancelled whole, or not at all. */
const inHouse = (reservations: readonly ReservationRow[], ids: readonly string[] | undefined): Blocker[] =>
  blocker(
    ids === undefined && reservations.some((one) => one.status === 'checked_in'),
    'already_arrived',
    'A guest of the booking is in the house',
  )

const uniqueBlockers = (blockers: readonly Blocker[]) => [...new Map(blockers.map((one) => [one.code, one])).values()]

const roomsToCancel = (
  reservations: readonly ReservationRow[],
  ids: readonly string[] | undefined,
  businessDate: string,
): ReservationRow[] => {
  const named = ids ? reservations.filter((one) => ids.includes(one.id)) : reservations
  if (ids && named.length !== new Set(ids).size) throw notFound()
  // Without names, what has ended otherwise does not stand in the way of what still stands.
  const rooms =
    ids || !named.some((one) => cancelling(one.status) === 'T10' || cancelling(one.status) === 'T11')
      ? named
      : named.filter((one) => isLive(one.status))
  for (const one of rooms) {
    if (one.status === 'checked_in' || one.status === 'checked_out')
      throw unprocessable('already_arrived', 'The guest has arrived; ask the front desk')
    const isLate = one.status === 'confirmed' && businessDate > one.arrival
    if (cancelling(one.status) === null || isLate)
      throw unprocessable('cancellation_not_allowed', 'This stay cannot be cancelled any more')
  }
  return rooms.filter((one) => one.status !== 'cancelled')
}

type Ending = {
  reason: CancelReason
  businessDate: string
  note: string | null
  override: Override | null
  refund: 'automatic' | 'later'
}

/** The reason as the history tells it: its code, and the words of the desk. */
const told = ({ reason, note }: Pick<Ending, 'reason' | 'note'>) => (note ? `${reason}: ${note}` : reason)

const releaseHeld = async (
  trx: Trx,
  booking: BookingRow,
  { held, left, keepsPromo }: { held: readonly ReservationRow[]; left: readonly ReservationRow[]; keepsPromo: boolean },
  ending: Ending,
) => {
  const { reason, businessDate, override } = ending
  await releaseRooms(trx, held, { status: 'cancelled', reason })
  if (!left.some((one) => one.status === 'held'))
    await endHold(trx, booking, { staysLive: left.length > 0, keepsPromo })
  await recordTransition(trx, {
    id: 'T10',
    booking,
    reservations: held.map((one) => ({ ...one, status: 'cancelled', version: one.version + 1 })),
    event: reservationCancelled,
    reason: told(ending),
    businessDate,
    override,
    data: { feeAmount: 0, reason },
  })
}

type Confirmed = Ending & {
  booking: BookingRow
  keepsPromo: boolean
  confirmed: readonly ReservationRow[]
  feeOf: (reservationId: string) => number
}

/** Answers the fees that it has charged, whose postings are for the end of the transaction. */
const cancelConfirmed = async (
  trx: Trx,
  { booking, keepsPromo, confirmed, feeOf, reason, businessDate, note, override, refund }: Confirmed,
): Promise<Charged> => {
  const ids = confirmed.map((one) => one.id)
  await moveInventory(trx, await stockMoves(trx, ids, 'open', { sold: -1 }))
  if (!keepsPromo) await returnPromo(trx, booking)
  await sql(
    trx,
    `update reservation r set status = 'cancelled', cancel_reason = ?, cancelled_at = now(), fee_amount = v.fee, version = r.version + 1
     from unnest(?::uuid[], ?::bigint[]) as v(id, fee) where r.id = v.id`,
    [reason, ids, ids.map(feeOf)],
  )
  await setNights(trx, ids, 'open', 'released')
  await releaseUnits(trx, ids)
  const charged = await chargeFees(trx, confirmed, feeOf, businessDate)
  const folios = await lockFoliosOf(trx, ids)
  if (refund === 'automatic')
    for (const folio of folios) if (folio.isPrimary && folio.balance < 0) await refundExcess(trx, folio)
  // A folio with money or a debt of the stay remains open. An empty open folio would keep its property from being archived.
  await closeSettled(
    trx,
    folios.map((one) => one.id),
  )
  if (confirmed.some((one) => feeOf(one.id) > 0)) await askForFees(trx, folios)
  await recordTransition(trx, {
    id: 'T11',
    booking,
    reservations: confirmed.map((one) => ({ ...one, status: 'cancelled', version: one.version + 1 })),
    event: reservationCancelled,
    reason: told({ reason, note }),
    businessDate,
    override,
    data: (id) => ({ feeAmount: feeOf(id), reason }),
  })
  return charged
}
