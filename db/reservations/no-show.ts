import { reservationNoShowRecorded } from '../../config/events/reservations.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { cancelPaymentsOf } from '../payment/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import type { BookingRow, ReservationNightRow, ReservationRow } from '../rows.ts'
import { moveInventory, releaseUnits } from '../units/index.ts'
import { notFound } from '../../config/errors.ts'
import { askForFees } from './collect.ts'
import { readFacts } from './facts.ts'
import { planNoShow } from './rules/plans.ts'
import { refuseBlocked } from './rules/blockers.ts'
import type { Override } from './rules/blockers.ts'
import { closeSettled } from './folio/close.ts'
import { lockFoliosOf } from './folio/lock.ts'
import { postCharged, writeCharges } from './folio/write.ts'
import { lockBookings, lockStay } from './lock.ts'
import { limitedExtras, releaseNights } from './night-moves.ts'
import { recordTransition } from './record.ts'
import { feeBase } from './rules/fee-base.ts'
import { isNoShow, nightsLeft, noShowFee } from './rules/no-show.ts'
import { policiesOf } from './rules/policies.ts'
import { stayLifecycle, isLive } from './rules/states.ts'

type Night = Pick<ReservationNightRow, 'reservationId' | 'date' | 'amount' | 'status'>

export type NoShows = {
  /** Ids of those that became no-shows. */
  reservationIds: string[]
  /** Their folios still hold money of the guest, which the desk hands back or keeps for later: id of the reservation, minor units. */
  credits: { reservationId: string; amount: number }[]
}

type Options = {
  /** Lowers the fee that the policy says; minor units. */
  fee?: number | undefined
  note?: string | null
  override?: Override | null
  expectedVersion?: number | null
}

/**
 * T18 for confirmed stays whose bookings and reservations are locked: the fee of their own copy of the policy is charged, nights from the business date
 * on are released, or those beyond what the fee covers, and their units are free (R31). What a folio has beyond the fee stays on it.
 */
export const recordNoShows = async (
  trx: Trx,
  property: SaleProperty,
  businessDate: string,
  {
    bookings,
    reservations,
    coming,
  }: { bookings: readonly BookingRow[]; reservations: readonly ReservationRow[]; coming: readonly ReservationRow[] },
  { fee: lowered, note = null, override = null }: Options = {},
): Promise<NoShows> => {
  if (coming.length === 0) return { reservationIds: [], credits: [] }
  const ids = coming.map((one) => one.id)
  const nights = await sql<Night>(
    trx,
    `select reservation_id, date, amount, status from reservation_night where reservation_id = any(?::uuid[]) and status <> 'released'
     order by reservation_id, date`,
    [ids],
  )
  const nightsOf = (id: string) => nights.filter((night) => night.reservationId === id)
  const datesOf = (id: string, status: Night['status']) =>
    nightsOf(id)
      .filter((night) => night.status === status)
      .map((night) => night.date)
  const feeOf = (one: ReservationRow) =>
    noShowFee(policiesOf(one).noShow.rules, feeBase(one, nightsOf(one.id)), lowered)
  const given = coming.flatMap(({ id, ...one }) => {
    const dates = { open: datesOf(id, 'open'), waived: datesOf(id, 'waived') }
    return nightsLeft(policiesOf(one).noShow.rules, dates, businessDate).map((date) => ({ reservationId: id, date }))
  })
  await moveInventory(trx, [...(await limitedExtras(trx, ids)), ...(await releaseNights(trx, given))])
  const ended = await sql<ReservationRow>(
    trx,
    `update reservation r set status = 'no_show', fee_amount = v.fee, version = r.version + 1
     from unnest(?::uuid[], ?::bigint[]) as v(id, fee) where r.id = v.id returning r.*`,
    [ids, coming.map(feeOf)],
  )
  await releaseUnits(trx, ids)
  const charged = await writeCharges(trx, {
    businessDate,
    charges: ended.map((stay) => ({
      stay,
      kind: 'fee' as const,
      category: 'no_show' as const,
      description: 'No-show fee',
      amount: stay.feeAmount ?? 0,
      taxes: [],
      source: { type: 'no_show_fee', id: stay.id, key: String(stay.version) },
      event: 'reservations.no_show_charged',
      isPrice: false,
      routed: null,
    })),
  })
  for (const one of ended) {
    const booking = bookings.find((each) => each.id === one.bookingId)
    if (booking)
      await recordTransition(trx, {
        id: 'T18',
        booking,
        reservations: [one],
        event: reservationNoShowRecorded,
        reason: note,
        businessDate,
        override,
        data: { feeAmount: one.feeAmount ?? 0, reason: null },
      })
  }
  await endBookings(trx, bookings, reservations, ids)
  const left = await lockFoliosOf(trx, ids)
  await closeSettled(
    trx,
    left.map((one) => one.id),
  )
  if (ended.some((one) => (one.feeAmount ?? 0) > 0)) await askForFees(trx, left)
  await postCharged(trx, property.id, charged)
  const credits = await sql<{ reservationId: string; amount: number }>(
    trx,
    `select reservation_id, credits - charges as amount from folio where reservation_id = any(?::uuid[]) and is_primary and credits > charges order by id`,
    [ids],
  )
  return { reservationIds: ids, credits }
}

/** Bookings of which nothing is left ask for no more money. */
const endBookings = async (
  trx: Trx,
  bookings: readonly BookingRow[],
  reservations: readonly ReservationRow[],
  ended: readonly string[],
) => {
  const over = bookings.filter(
    ({ id }) => !reservations.some((one) => one.bookingId === id && isLive(one.status) && !ended.includes(one.id)),
  )
  if (over.length === 0) return
  await sql(trx, `update booking set ended_at = now(), version = version + 1 where id = any(?::uuid[])`, [
    over.map((one) => one.id),
  ])
  for (const { id } of over) await cancelPaymentsOf(trx, 'booking', id)
}

/** The no-shows among some stays of a property, for the night audit: those that wait no longer. The business day is held. */
export const markNoShows = async (
  trx: Trx,
  property: SaleProperty,
  businessDate: string,
  reservationIds: readonly string[],
): Promise<NoShows> => {
  const locked = await lockBookings(trx, reservationIds)
  const coming = locked.reservations.filter(
    (one) => reservationIds.includes(one.id) && one.status === 'confirmed' && isNoShow(one, property, businessDate),
  )
  const bookings = locked.bookings.filter((booking) => coming.some((one) => one.bookingId === booking.id))
  return recordNoShows(trx, property, businessDate, { ...locked, bookings, coming })
}

/** The desk says that a guest has not come (T18). 422 `transition_blocked` before the hour of the house; repeating it changes nothing. */
export const markNoShow = async (
  trx: Trx,
  reservationId: string,
  options: Options = {},
): Promise<'no_show' | 'already'> => {
  const { booking, reservations, stay, property, businessDate } = await lockStay(
    trx,
    reservationId,
    options.expectedVersion,
  )
  if (!stayLifecycle.isDue('a no-show', stay.status)) return 'already'
  const [facts] = await readFacts(trx, property, [stay.id])
  if (!facts) throw notFound()
  const plan = planNoShow({ facts, property, businessDate }, options.fee)
  const override = refuseBlocked(plan.blockers, options.override)
  await recordNoShows(
    trx,
    property,
    businessDate,
    { bookings: [booking], reservations, coming: [stay] },
    { ...options, override },
  )
  return 'no_show'
}
