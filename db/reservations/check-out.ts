import { folioClosed } from '../../config/events/folios.ts'
import { reservationCheckedOut } from '../../config/events/reservations.ts'
import { addDays } from '../../config/time.ts'
import { sum } from '../lib/amounts.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import { paymentState } from '../payment/index.ts'
import { feeAmount, onTop } from '../properties/index.ts'
import type { FolioRow, ReservationRow } from '../rows.ts'
import { vacate, moveInventory } from '../units/index.ts'
import { blocker, refuseBlocked } from './rules/blockers.ts'
import type { Override } from './rules/blockers.ts'
import { chargeExtras, cutExtras } from './charge-extras.ts'
import { chargeNights } from './charge-nights.ts'
import { postCharged, writeCharges } from './charges.ts'
import { isRunning } from './rules/deposits.ts'
import { policiesOf } from './rules/policies.ts'
import { factOf } from './folios.ts'
import type { LineTax } from './folios.ts'
import { lockFolios, lockStay } from './lock.ts'
import { recordTransition } from './record.ts'
import { limitedExtras, releaseNights } from './night-moves.ts'
import { stayLifecycle } from './rules/states.ts'

type Left = { date: string; amount: number; taxes: LineTax[] }

/**
 * Gives back the nights from a day on, with the daily extras of those days: an early departure owes for them by the policy (R23). Answers that fee
 * in minor units.
 */
const leaveEarly = async (trx: Trx, stay: ReservationRow, businessDate: string): Promise<number> => {
  const left = await sql<Left>(
    trx,
    `select date, amount, taxes from reservation_night where reservation_id = ? and status = 'open' and date >= ?::date order by date`,
    [stay.id, businessDate],
  )
  const moves = await limitedExtras(trx, [stay.id], businessDate)
  const cut = await cutExtras(trx, stay.id, businessDate)
  moves.push(
    ...(await releaseNights(
      trx,
      left.map(({ date }) => ({ reservationId: stay.id, date })),
    )),
  )
  const rooms = sum(left.map((night) => night.amount))
  const taxes = onTop(left.flatMap((night) => night.taxes))
  await sql(
    trx,
    `update reservation set room_total = room_total - :rooms, extras_total = extras_total - :extras, tax_total = tax_total - :taxes,
       total = total - :rooms - :extras - :taxes, version = version + 1 where id = :id`,
    { rooms, extras: cut.extras, taxes: taxes + cut.taxOnTop, id: stay.id },
  )
  await moveInventory(trx, moves)
  const base = { nights: left.map((night) => night.amount), roomTotal: rooms, total: rooms + taxes }
  return feeAmount(policiesOf(stay).cancellation.rules.earlyDeparture, base)
}

/** Folios that owe nothing are closed; one with a waived balance stays open and keeps the debt visible. */
const closeFolios = async (trx: Trx, folios: readonly FolioRow[]): Promise<void> => {
  const closed = await sql<FolioRow>(
    trx,
    `update folio set status = 'closed', version = version + 1 where id = any(?::uuid[]) and status = 'open' and balance = 0 returning *`,
    [folios.map((one) => one.id)],
  )
  await emitAll(
    trx,
    folioClosed,
    closed.map((one) => factOf(one)),
  )
}

const isPaying = async (trx: Trx, stay: ReservationRow, folios: readonly FolioRow[]): Promise<boolean> => {
  const targets = [
    ['booking', stay.bookingId],
    ['reservation', stay.id],
    ...folios.map((one) => ['folio', one.id] as const),
  ] as const
  for (const [type, id] of targets) if (isRunning(await paymentState(trx, type, id))) return true
  return false
}

type Departure = {
  /** The guest leaves before the departure that was booked, and knows what it costs. */
  early?: boolean
  override?: Override | null
}

/**
 * T16: the guest leaves. Nights before the business date and extras that are still open are charged, later nights given back with the fee of the policy,
 * folios without a balance closed, the units vacant and dirty. 422 `transition_blocked` names everything that stands in the way; a repeated call changes
 * nothing.
 */
export const checkOut = async (
  trx: Trx,
  reservationId: string,
  { early = false, override = null }: Departure = {},
): Promise<'checked_out' | 'already'> => {
  const { booking, stay, property, businessDate } = await lockStay(trx, reservationId)
  if (!stayLifecycle.isDue('checked out', stay.status)) return 'already'
  const isEarly = businessDate < stay.departure
  const unconfirmed = blocker(isEarly && !early, 'early_departure_not_confirmed', `The stay ends on ${stay.departure}`)
  const fee = isEarly ? await leaveEarly(trx, stay, businessDate) : 0
  await vacate(trx, stay.id, { businessDate })
  await lockFolios(trx, stay.id)
  const stays = [stay]
  const nights = await chargeNights(trx, { businessDate, stays, through: addDays(businessDate, -1) })
  const extras = await chargeExtras(trx, {
    businessDate,
    stays,
    through: businessDate > stay.departure ? businessDate : stay.departure,
  })
  const fees = await writeCharges(trx, {
    businessDate,
    charges: [
      {
        stay,
        kind: 'fee',
        category: 'early_departure',
        description: 'Early departure fee',
        amount: fee,
        taxes: [],
        source: { type: 'early_departure_fee', id: stay.id, key: String(stay.version) },
        event: 'reservations.early_departure_fee_charged',
        isPrice: false,
      },
    ],
  })
  const folios = await lockFolios(trx, stay.id)
  const owing = folios.filter((one) => one.balance !== 0)
  const waived = refuseBlocked(
    [
      ...unconfirmed,
      ...blocker(
        await isPaying(trx, stay, folios),
        'payment_in_progress',
        'A payment is being processed; wait for its end',
      ),
      ...owing.flatMap((one) =>
        blocker(true, 'balance_not_zero', `Folio ${one.number} has a balance of ${one.balance}`, 'balance'),
      ),
    ],
    override,
  )
  await closeFolios(trx, folios)
  const [gone] = await sql<ReservationRow>(
    trx,
    `update reservation set status = 'checked_out', actual_check_out_at = now(), check_out_business_date = ?, version = version + 1
     where id = ? returning *`,
    [businessDate, stay.id],
  )
  await recordTransition(trx, {
    id: 'T16',
    booking,
    reservations: gone ? [gone] : [],
    event: reservationCheckedOut,
    businessDate,
    override: waived,
    data: {},
  })
  await postCharged(trx, property.id, nights, extras, fees)
  return 'checked_out'
}
