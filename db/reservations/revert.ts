import { notFound } from '../../config/errors.ts'
import { reservationCheckInReverted, reservationCheckOutReverted } from '../../config/events/reservations.ts'
import { assignUnit } from '../../jobs/reservations.ts'
import { raisePostings } from '../financial/index.ts'
import { correctStays } from '../guests/index.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { ReservationRow } from '../rows.ts'
import { moveInventory, reoccupy, unoccupy } from '../units/index.ts'
import { holdGuests } from './hold-guests.ts'
import { takeBackCommission } from './agency-commission.ts'
import { readFacts } from './facts.ts'
import { lockFolios } from './folio/lock.ts'
import { reopenWithoutFees } from './folio/reverse-fee.ts'
import { returnToDepositStages } from './folio/stage.ts'
import { lockStay } from './lock.ts'
import { nightsTaken, restoreExtras, retotal } from './retake.ts'
import { recordTransition } from './record.ts'
import { refuseBlocked } from './rules/blockers.ts'
import { earlyDepartureFees, isFee, planRevertCheckIn, planRevertCheckOut } from './rules/plans-back.ts'
import { stayLifecycle } from './rules/states.ts'

type Reverting = { reason: string; expectedVersion?: number | null }

/**
 * T14: the guest was not checked in after all. On the day of the check-in alone, before its night is charged: the unit is vacant, dirty and promised to the
 * stay, and its folios wait in stage deposit. A repeated call changes nothing.
 */
export const revertCheckIn = async (
  trx: Trx,
  reservationId: string,
  { reason, expectedVersion = null }: Reverting,
): Promise<void> => {
  const { booking, stay, property, businessDate } = await lockStay(trx, reservationId, expectedVersion)
  if (!stayLifecycle.isDue('taken back from its check-in', stay.status)) return
  const [facts] = await readFacts(trx, property, [stay.id])
  if (!facts) throw notFound()
  refuseBlocked(planRevertCheckIn({ facts, property, businessDate }).blockers)
  await unoccupy(trx, stay.id)
  const back = await returnToDepositStages(trx, await lockFolios(trx, stay.id))
  const coming = await sqlOne<ReservationRow>(
    trx,
    `update reservation set status = 'confirmed', actual_check_in_at = null, check_in_business_date = null, version = version + 1
     where id = ? returning *`,
    [stay.id],
  )
  await recordTransition(trx, {
    id: 'T14',
    booking,
    reservations: coming ? [coming] : [],
    event: reservationCheckInReverted,
    reason,
    businessDate,
    data: {},
  })
  if (property.settings.registration.authority !== 'none') await correctStays(trx, [stay.id], 'check_in')
  await raisePostings(trx, property.id, back.postings)
}

/**
 * T17: the guest has not left after all. On the day of the check-out alone: nights and days of service that it gave back are the guest's again where they
 * are free, its fee is taken back, and the unit is occupied. A repeated call changes nothing. 409 sold_out, unit_conflict.
 */
export const revertCheckOut = async (
  trx: Trx,
  reservationId: string,
  { reason, expectedVersion = null }: Reverting,
): Promise<void> => {
  const { booking, stay, property, businessDate } = await lockStay(trx, reservationId, expectedVersion)
  if (!stayLifecycle.isDue('taken back from its check-out', stay.status)) return
  await holdGuests(trx, stay.id)
  const [facts] = await readFacts(trx, property, [stay.id])
  if (!facts) throw notFound()
  const { blockers, effects, waived } = planRevertCheckOut({ facts, property, businessDate })
  refuseBlocked(blockers)
  const own = { reservationId: stay.id, groupId: booking.groupId }
  const moves = [
    ...(await nightsTaken(trx, own, waived, 'waived')),
    ...(await nightsTaken(
      trx,
      own,
      effects.nightsTaken.filter((date) => !waived.includes(date)),
    )),
    ...(await restoreExtras(trx, stay.id)),
  ]
  await moveInventory(trx, moves)
  await reoccupy(trx, stay.id, { businessDate, departure: stay.departure })
  // Units that were to follow or to be added were given up with the check-out.
  const { tenantId } = contextOf(trx)
  if (tenantId && property.settings.assignment.automatic)
    await enqueue(trx, assignUnit, { tenantId, reservationId: stay.id })
  const postings = await reopenWithoutFees(trx, {
    stay,
    isDue: (fee) => isFee(fee, earlyDepartureFees),
    businessDate,
  })
  await sql(
    trx,
    `update reservation set status = 'checked_in', actual_check_out_at = null, check_out_business_date = null, version = version + 1 where id = ?`,
    [stay.id],
  )
  const inHouse = await retotal(trx, stay.id)
  await recordTransition(trx, {
    id: 'T17',
    booking,
    reservations: [inHouse],
    event: reservationCheckOutReverted,
    reason,
    businessDate,
    data: {},
  })
  if (property.settings.registration.authority !== 'none') await correctStays(trx, [stay.id], 'check_out')
  await raisePostings(trx, property.id, postings)
  await takeBackCommission(trx, booking, stay)
}
