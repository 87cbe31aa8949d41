import { notFound } from '../../config/errors.ts'
import { reservationCheckedIn } from '../../config/events/reservations.ts'
import { addDays } from '../../config/time.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { raisePostings } from '../financial/index.ts'
import type { BookingRow, ReservationRow } from '../rows.ts'
import { occupy } from '../units/index.ts'
import { assignUnits } from './assign.ts'
import { chargeNights } from './charge-nights.ts'
import { postCharged } from './folio/write.ts'
import { leaveDepositStages } from './folio/stage.ts'
import { lockFolios } from './folio/lock.ts'
import { readFacts } from './facts.ts'
import { lockStay } from './lock.ts'
import { endLinks, reportStays } from '../guests/index.ts'
import { recordTransition } from './record.ts'
import { refuseBlocked } from './rules/blockers.ts'
import type { Override, Warning } from './rules/blockers.ts'
import { planCheckIn } from './rules/plans.ts'
import { stayLifecycle } from './rules/states.ts'
import { promiseUnit } from './unit-lock.ts'

/** Folios of the group of a booking, whose stage follows its first guest. */
const foliosOfGroup = async (trx: Trx, { groupId }: Pick<BookingRow, 'groupId'>): Promise<string[]> =>
  groupId === null
    ? []
    : (await sql<{ id: string }>(trx, `select id from folio where group_id = ?`, [groupId])).map((one) => one.id)

/**
 * T13: the guest is in the house. Units that the stay lacks are found, its folios leave stage deposit, and nights before the business date that are still
 * open are charged. 422 `transition_blocked` names everything that stands in the way; a repeated call changes nothing. Answers what the desk should know.
 */
export const checkIn = async (
  trx: Trx,
  reservationId: string,
  {
    unitId,
    override = null,
    expectedVersion = null,
  }: { unitId?: string | undefined; override?: Override | null; expectedVersion?: number | null } = {},
): Promise<{ outcome: 'checked_in' | 'already'; warnings: Warning[] }> => {
  const { booking, stay, property, businessDate } = await lockStay(trx, reservationId, expectedVersion)
  if (!stayLifecycle.isDue('checked in', stay.status)) return { outcome: 'already', warnings: [] }
  if (unitId !== undefined) await promiseUnit(trx, stay.id, unitId)
  await assignUnits(trx, stay.id)
  // Folios are read first and locked after the units, as everywhere; under the booking's lock no money leaves them.
  const [facts] = await readFacts(trx, property, [stay.id])
  if (!facts) throw notFound()
  const { blockers, warnings } = planCheckIn({ facts, property, businessDate })
  const waived = refuseBlocked(blockers, override)
  await occupy(trx, stay.id, { businessDate })
  const applied = await leaveDepositStages(
    trx,
    await lockFolios(trx, stay.id, { also: await foliosOfGroup(trx, booking) }),
  )
  const charged = await chargeNights(trx, { businessDate, stays: [stay], through: addDays(businessDate, -1) })
  const [arrived] = await sql<ReservationRow>(
    trx,
    `update reservation set status = 'checked_in', actual_check_in_at = now(), check_in_business_date = ?, version = version + 1 where id = ? returning *`,
    [businessDate, stay.id],
  )
  await recordTransition(trx, {
    id: 'T13',
    booking,
    reservations: arrived ? [arrived] : [],
    event: reservationCheckedIn,
    businessDate,
    override: waived,
    data: {},
  })
  const { mode, authority } = property.settings.registration
  if (mode !== 'off') await endLinks(trx, [stay.id])
  if (authority !== 'none') await reportStays(trx, [stay.id], 'check_in')
  await raisePostings(trx, property.id, applied.postings)
  await postCharged(trx, property.id, charged)
  return { outcome: 'checked_in', warnings }
}
