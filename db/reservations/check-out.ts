import { notFound, overtaken } from '../../config/errors.ts'
import { reservationCheckedOut } from '../../config/events/reservations.ts'
import { sum } from '../lib/amounts.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { requestRefund } from '../payment/index.ts'
import { onTop } from '../properties/index.ts'
import type { ReservationNightRow, ReservationRow } from '../rows.ts'
import { moveInventory, vacate } from '../units/index.ts'
import { capDeposits } from './amend-rows.ts'
import { chargeExtras, cutExtras } from './charge-extras.ts'
import { chargeNights } from './charge-nights.ts'
import { readFacts } from './facts.ts'
import { amongFolios, invoiceFolios } from './folio/bill.ts'
import { closeSettled } from './folio/close.ts'
import type { LineTax } from './folio/lines.ts'
import { lockFolios } from './folio/lock.ts'
import { postCharged, writeCharges } from './folio/write.ts'
import { lockStay } from './lock.ts'
import { limitedExtras, releaseNights } from './night-moves.ts'
import { reportStays } from '../guests/index.ts'
import { accrueCommission } from './agency-commission.ts'
import { recordTransition } from './record.ts'
import { refuseBlocked } from './rules/blockers.ts'
import type { Override } from './rules/blockers.ts'
import { planCheckOut } from './rules/plans.ts'
import type { CheckOutTerms } from './rules/plans.ts'
import { stayLifecycle } from './rules/states.ts'

/** Gives back the nights from a day on, with the daily extras of those days (R23). */
const leaveEarly = async (
  trx: Trx,
  stay: ReservationRow,
  left: readonly ReservationNightRow[],
  from: string,
): Promise<void> => {
  const moves = await limitedExtras(trx, [stay.id], from)
  const cut = await cutExtras(trx, stay.id, from)
  moves.push(
    ...(await releaseNights(
      trx,
      left.map(({ date }) => ({ reservationId: stay.id, date })),
    )),
  )
  // The price of nights that a fee has paid for is in no total.
  const unpaid = left.filter((night) => night.status === 'open')
  const rooms = sum(unpaid.map((night) => night.amount))
  const taxes = onTop(unpaid.flatMap((night) => night.taxes as LineTax[]))
  const after = await sqlOne<ReservationRow>(
    trx,
    `update reservation set room_total = room_total - :rooms, extras_total = extras_total - :extras, tax_total = tax_total - :taxes,
       total = total - :rooms - :extras - :taxes, version = version + 1 where id = :id returning *`,
    { rooms, extras: cut.extras, taxes: taxes + cut.taxOnTop, id: stay.id },
  )
  if (after) await capDeposits(trx, after)
  await moveInventory(trx, moves)
}

type Leaving = CheckOutTerms & {
  /** Bills the balance of a folio beyond the limit of its customer. */
  beyondCredit?: { reason: string } | null | undefined
  override?: Override | null
  expectedVersion?: number | null
}

/**
 * T16: the guest leaves. Nights that were slept and extras that are still open are charged, later nights given back with the fee of the policy,
 * folios without a balance closed, the units vacant and dirty. 422 `transition_blocked` names everything that stands in the way; a repeated call changes
 * nothing.
 */
export const checkOut = async (
  trx: Trx,
  reservationId: string,
  { override = null, expectedVersion = null, beyondCredit = null, ...terms }: Leaving = {},
): Promise<'checked_out' | 'already'> => {
  const { booking, stay, property, businessDate } = await lockStay(trx, reservationId, expectedVersion)
  if (!stayLifecycle.isDue('checked out', stay.status)) return 'already'
  const [facts] = await readFacts(trx, property, [stay.id])
  if (!facts) throw notFound()
  const { blockers, effects, departure } = planCheckOut({ facts, property, businessDate }, terms)
  const waived = refuseBlocked(blockers, override)
  const { invoice = [] } = terms
  const { through, from, left, refunds } = departure
  if (left.length > 0) await leaveEarly(trx, stay, left, from)
  await vacate(trx, stay.id, { businessDate, until: from < stay.departure ? from : businessDate })
  await lockFolios(trx, stay.id)
  const stays = [stay]
  const nights = await chargeNights(trx, { businessDate, stays, through })
  const extras = await chargeExtras(trx, {
    businessDate,
    stays,
    through: from > stay.departure ? from : stay.departure,
  })
  const fees = await writeCharges(trx, {
    businessDate,
    charges: [
      {
        stay,
        kind: 'fee',
        category: 'early_departure',
        description: 'Early departure fee',
        amount: effects.fee,
        taxes: [],
        source: { type: 'early_departure_fee', id: stay.id, key: String(stay.version) },
        event: 'reservations.early_departure_fee_charged',
        isPrice: false,
        routed: null,
      },
    ],
  })
  for (const [folioId, amount] of refunds)
    await requestRefund(trx, { targetType: 'folio', targetId: folioId, amount, reason: 'cancellation' })
  const folios = await lockFolios(trx, stay.id)
  const owed = sum(folios.map((one) => one.balance))
  // A charge by hand may have come to a folio after it was looked at, or a folio that charges are routed to may have closed.
  if (owed !== effects.balanceDue + effects.billed) throw overtaken()
  const toBill = amongFolios(folios, invoice).filter((one) => one.receivableId === null && one.balance > 0)
  await closeSettled(
    trx,
    folios.map((one) => one.id),
  )
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
  if (property.settings.registration.authority !== 'none') await reportStays(trx, [stay.id], 'check_out')
  if (toBill.length > 0)
    await invoiceFolios(
      trx,
      toBill.map((one) => ({ ...one, businessDate })),
      { override: beyondCredit },
    )
  await postCharged(trx, property.id, nights, extras, fees)
  await accrueCommission(trx, booking, stay)
  return 'checked_out'
}
