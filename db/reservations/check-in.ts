import { reservationCheckedIn } from '../../config/events/reservations.ts'
import { addDays, localInstant } from '../../config/time.ts'
import { sum } from '../lib/amounts.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { raisePostings } from '../financial/index.ts'
import { blockAgainst } from '../guests/index.ts'
import type { SaleProperty } from '../properties/index.ts'
import type { FolioRow, ReservationRow } from '../rows.ts'
import { occupy, fromUnits, stateColumns } from '../units/index.ts'
import type { UnitState } from '../units/index.ts'
import { assignUnits } from './assign.ts'
import { blocker, refuseBlocked } from './rules/blockers.ts'
import type { Blocker, Override } from './rules/blockers.ts'
import { chargeNights } from './charge-nights.ts'
import { postCharged } from './charges.ts'
import { leaveDepositStages } from './folios.ts'
import { depositsOf, lockFolios, lockStay } from './lock.ts'
import { recordTransition } from './record.ts'
import { uncovered } from './rules/deposits.ts'
import { stayLifecycle } from './rules/states.ts'

type Tonight = Pick<UnitState, 'occupancy'> & { name: string; condition: string }

/** Units that the stay is to have tonight, and how many it needs. A constraint keeps blocked units out. */
const unitsTonight = async (trx: Trx, stay: ReservationRow, businessDate: string) => {
  const units = await sql<Tonight>(
    trx,
    `select u.name, u.condition, ${stateColumns} from ${fromUnits}
     where u.id in (select a.unit_id from unit_assignment a where a.reservation_id = ? and a.status in ('proposed', 'locked')
       and a.during @> ?::date) order by u.name`,
    [stay.id, businessDate],
  )
  const needed = await sqlOne<{ count: number }>(
    trx,
    `select coalesce(sum(p.quantity), 1)::int as count from reservation_night n
     join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id
     where n.reservation_id = ? and n.date = ?::date and n.status <> 'released'`,
    [stay.id, businessDate],
  )
  return { units, needed: needed?.count ?? 1 }
}

const unitBlockers = async (
  trx: Trx,
  stay: ReservationRow,
  { settings }: SaleProperty,
  businessDate: string,
): Promise<Blocker[]> => {
  const { units, needed } = await unitsTonight(trx, stay, businessDate)
  const allowed: readonly string[] = settings.frontDesk.conditions
  return [
    ...blocker(units.length < needed, 'unit_not_assigned', 'No unit is free for the stay'),
    ...units.flatMap((unit) => [
      ...blocker(unit.occupancy === 'occupied', 'unit_occupied', `The guest before is still in ${unit.name}`),
      ...blocker(
        !allowed.includes(unit.condition),
        'unit_condition_not_allowed',
        `${unit.name} is ${unit.condition}`,
        'unit_condition',
      ),
    ]),
  ]
}

const hasEarlyCheckIn = async (trx: Trx, stayId: string): Promise<boolean> =>
  (await sqlOne(
    trx,
    `select 1 from reservation_extra e join extra x on x.tenant_id = e.tenant_id and x.id = e.extra_id
     where e.reservation_id = ? and e.status = 'active' and x.category = 'early_check_in' limit 1`,
    [stayId],
  )) !== null

const isBarred = async (trx: Trx, stay: ReservationRow): Promise<boolean> => {
  const guests = await sql<{ guestId: string }>(
    trx,
    `select guest_id from reservation_guest where reservation_id = ?`,
    [stay.id],
  )
  const guestIds = [...guests.map((one) => one.guestId), ...(stay.primaryGuestId ? [stay.primaryGuestId] : [])]
  return (await blockAgainst(trx, stay.propertyId, { guestIds })) === 'refuse'
}

/** All blockers of a check-in (R20). Guest registration and papers of minors are not checked yet. */
const blockersOf = async (
  trx: Trx,
  stay: ReservationRow,
  {
    property,
    businessDate,
    folios,
    now,
  }: { property: SaleProperty; businessDate: string; folios: readonly FolioRow[]; now: Date },
): Promise<Blocker[]> => {
  const isEarly = now < localInstant(stay.arrival, property.checkInFrom, property.timezone)
  const money = sum(folios.map((one) => one.credits))
  const missing = uncovered(await depositsOf(trx, [stay.id]), money, now)
  return [
    ...blocker(businessDate < stay.arrival, 'business_date_before_arrival', `The stay begins on ${stay.arrival}`),
    ...blocker(businessDate >= stay.departure, 'business_date_after_departure', `The stay ended on ${stay.departure}`),
    ...blocker(
      isEarly && !(await hasEarlyCheckIn(trx, stay.id)),
      'early_check_in',
      `Check-in is from ${property.checkInFrom} on`,
      'early_check_in',
    ),
    ...(await unitBlockers(trx, stay, property, businessDate)),
    ...blocker(stay.primaryGuestId === null, 'primary_guest_missing', 'The stay has no guest'),
    ...blocker(await isBarred(trx, stay), 'guest_barred', 'The guest is barred from the house', 'barred_guest'),
    ...blocker(missing > 0, 'deposit_missing', `${missing} of the deposit is not paid`, 'deposit'),
  ]
}

/**
 * T13: the guest is in the house. Units that the stay lacks are found, its folios leave stage deposit, and nights before the business date that are still
 * open are charged. 422 `transition_blocked` names everything that stands in the way; a repeated call changes nothing.
 */
export const checkIn = async (
  trx: Trx,
  reservationId: string,
  { override = null }: { override?: Override | null } = {},
): Promise<'checked_in' | 'already'> => {
  const { booking, stay, property, businessDate, now } = await lockStay(trx, reservationId)
  if (!stayLifecycle.isDue('checked in', stay.status)) return 'already'
  await assignUnits(trx, stay.id)
  // Folios are read first and locked after the units, as everywhere; under the booking's lock no money leaves them.
  const present = await sql<FolioRow>(trx, `select * from folio where reservation_id = ? order by id`, [stay.id])
  const waived = refuseBlocked(await blockersOf(trx, stay, { property, businessDate, folios: present, now }), override)
  await occupy(trx, stay.id, { businessDate })
  const applied = await leaveDepositStages(trx, await lockFolios(trx, stay.id))
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
  await raisePostings(trx, property.id, applied.postings)
  await postCharged(trx, property.id, charged)
  return 'checked_in'
}
