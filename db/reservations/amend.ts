import { conflict } from '../../config/errors.ts'
import { reservationAmended } from '../../config/events/reservations.ts'
import type { QuotedNight } from '../../config/quote.ts'
import { sum } from '../lib/amounts.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { businessDay } from '../financial/index.ts'
import { moveAges } from '../guests/index.ts'
import { catalogueOf, readProperty, onTop } from '../properties/index.ts'
import type { Catalogue, SaleProperty } from '../properties/index.ts'
import type { ReservationNightRow, ReservationRow } from '../rows.ts'
import { moveInventory, requireSoldAs } from '../units/index.ts'
import type { PoolNight } from '../units/index.ts'
import { datesOf, refuseAdded, refuseCrowd, refuseDays, refuseUnnamed, soldAs, targetOf } from './amend-checks.ts'
import { amendedNights, bySale, fixedNights, missedNights, salesOf } from './amend-nights.ts'
import type { AmendedNight, Target } from './amend-nights.ts'
import { amendedExtras, capDeposits, renewDeposits, writeExtras, writeNights } from './amend-rows.ts'
import { nightMoves, withAllotment } from './amend-stock.ts'
import { rehouse } from './amend-units.ts'
import { returnPickUps } from './group/pick-up.ts'
import { movesOfMore, writeMore } from './group/take-more.ts'
import { termsOfToday } from './snapshots.ts'
import { lockBooking } from './lock.ts'
import type { LockedBooking } from './lock.ts'
import { recordTransition } from './record.ts'
import { usedOverride } from './rules/blockers.ts'
import type { Override } from './rules/blockers.ts'

export type StayChange = {
  arrival?: string | undefined
  departure?: string | undefined
  unitTypeId?: string | undefined
  ratePlanId?: string | undefined
  adults?: number | undefined
  childrenAges?: number[] | undefined
  /** Type and plan change for nights from this day on; for all that are open unless said. */
  from?: string | undefined
  /** Prices of the nights that were set elsewhere; without them the property's own. */
  nights?: readonly QuotedNight[] | undefined
  /** `current`: kept nights too get the price of today. */
  price?: 'keep' | 'current' | undefined
  /** Prices that the desk sets. */
  manualNights?: readonly { date: string; amount: number }[] | undefined
  /** `new`: the terms of the plan of today; a new plan for all open nights brings its own. */
  policy?: 'keep' | 'new' | undefined
  /** A guest in the house whose unit is not free for added nights gets another one for them: a split stay. */
  allowMove?: boolean | undefined
}

type Terms = {
  /** Takes what is not there, as for a channel (R15), and asks no restriction. */
  force?: boolean
  /** Restrictions of added nights are set aside. */
  waiveRestrictions?: boolean
  override?: Override | null
  /** All rules that the caller may set aside; of them the history names availability where nights are short. */
  granted?: Override | null
  /** With `force`: the nights that were short. */
  onShort?: (nights: readonly PoolNight[]) => void
  /** Units stay as they are: for the price of a change whose unit is taken. */
  withoutUnits?: boolean
  /** The version that the change was made for; another one is 409 `amendment_stale`. */
  version?: number
}

export type Amended = {
  reservation: ReservationRow
  /** Difference of the price, in minor units. */
  difference: number
}

const moves = { held: 'A2', confirmed: 'T12', checked_in: 'T15' } as const

const changedFields = (before: ReservationRow, after: ReservationRow) =>
  (['arrival', 'departure', 'unitTypeId', 'ratePlanId', 'adults', 'childrenAges', 'total'] as const).flatMap((field) =>
    JSON.stringify(before[field]) === JSON.stringify(after[field])
      ? []
      : [{ field, before: before[field], after: after[field] }],
  )

/**
 * Changes dates, type, plan or party of a stay that stands (T12, T15, and of a held one): the net of old and new nights is moved in one call.
 * Null where there is no such reservation; 409 sold_out, unit_conflict, amendment_stale, invalid_transition; 422 transition_blocked,
 * restriction_violated, occupancy_exceeded.
 */
export const amendReservation = async (
  trx: Trx,
  reservationId: string,
  change: StayChange,
  terms: Terms = {},
): Promise<Amended | null> => {
  const place = await sqlOne<{ bookingId: string; propertyId: string }>(
    trx,
    `select booking_id, property_id from reservation where id = ?`,
    [reservationId],
  )
  if (!place) return null
  const businessDate = await businessDay(trx, place.propertyId)
  const locked = await lockBooking(trx, place.bookingId)
  if (!locked) return null
  return amendLocked(trx, locked, reservationId, change, { ...terms, businessDate })
}

/** Amends a reservation within a booking that the caller has locked. */
export const amendLocked = async (
  trx: Trx,
  { booking, reservations, now }: LockedBooking,
  reservationId: string,
  change: StayChange,
  {
    force = false,
    waiveRestrictions = force,
    override = null,
    granted = null,
    onShort,
    withoutUnits = false,
    version,
    businessDate,
  }: Terms & { businessDate: string },
): Promise<Amended> => {
  const before = reservations.find((one) => one.id === reservationId)
  const property = before && (await readProperty(trx, before.propertyId))
  if (!before || !property) throw new Error(`reservation ${reservationId} is not of booking ${booking.id}`)
  if (before.status !== 'held' && before.status !== 'confirmed' && before.status !== 'checked_in')
    throw conflict('invalid_transition', 'Only a stay that stands can be amended')
  if (version !== undefined && version !== before.version)
    throw conflict('amendment_stale', 'The reservation has changed meanwhile')
  const transition = moves[before.status]
  const everyNight = await sql<ReservationNightRow>(
    trx,
    `select * from reservation_night where reservation_id = ? order by date`,
    [reservationId],
  )
  const nights = everyNight.filter((night) => night.status !== 'released')
  const wanted = { ...targetOf(before, change), missed: missedNights(everyNight, businessDate) }
  const hasArrived = before.status === 'checked_in'
  const isFixed = fixedNights(before, businessDate)
  refuseDays(wanted, { arrival: before.arrival, hasArrived, fixed: nights.filter(isFixed) }, businessDate)
  const catalogue = await catalogueOf(trx, property)
  const sales = salesOf(wanted, { nights, isFixed })
  const groupId = before.status === 'held' || wanted.priced ? null : booking.groupId
  const { target, picked } = await withAllotment(trx, groupId, wanted, { nights, sales })
  const open = datesOf(target).filter((date) => !nights.some((night) => night.date === date && isFixed(night)))
  const types = soldAs(catalogue, bySale(open, sales))
  if (!before.channelManaged || !force) refuseCrowd(catalogue, types, target)
  if (!wanted.priced) await refuseUnnamed(trx, before.id, target)
  if (!waiveRestrictions) {
    await refuseAdded(trx, property, target, { before, nights, sales })
  }
  const after = await amendedNights(
    trx,
    property,
    target,
    {
      arrival: before.arrival,
      nights,
      isParted:
        target.party.adults !== before.adults ||
        JSON.stringify(target.party.childrenAges) !== JSON.stringify(before.childrenAges),
      isFixed,
    },
    sales,
  )
  const extras = await amendedExtras(trx, property, before, target)
  const shortNights: PoolNight[] = []
  // Nights that are given up, or sold as another type, go back to the allotment of the group.
  const typeOn = new Map(after.map((night) => [night.date, night.unitTypeId]))
  const givenUp = nights.filter((night) => night.pickedUp && typeOn.get(night.date) !== night.unitTypeId)
  const returned = await returnPickUps(
    trx,
    givenUp.map(({ date }) => ({ reservationId, date })),
  )
  await moveInventory(
    trx,
    [
      ...returned,
      ...(await movesOfMore(trx, picked)),
      ...(await nightMoves(trx, nights, after, before.status === 'held' ? 'held' : 'sold')),
      ...extras.moves(before.status === 'held' ? 'held' : 'sold'),
    ],
    {
      check: (locked) => requireSoldAs(trx, property.publicVersion, types, locked),
      ...(force
        ? {
            force,
            onShort: (short) => {
              shortNights.push(...short)
              onShort?.(short)
            },
          }
        : {}),
    },
  )
  await writeNights(trx, reservationId, nights, after)
  await writeMore(trx, groupId, reservationId, picked)
  await writeExtras(trx, extras)
  const written = await writeReservation(trx, before, target, after, extras, shortNights.length > 0)
  if (written.arrival !== before.arrival)
    await moveAges(trx, reservationId, { before: before.arrival, after: written.arrival })
  const policies = await renewPolicies(trx, property, catalogue, before, after, change)
  const difference = written.total - before.total
  if (policies && !before.channelManaged) await renewDeposits(trx, booking, { ...written, policies }, property, now)
  else if (difference !== 0)
    await (before.channelManaged ? capDeposits(trx, written) : renewDeposits(trx, booking, written, property, now))
  if (before.status !== 'held' && !withoutUnits)
    await rehouse(trx, {
      before,
      after: written,
      nightsBefore: nights,
      nightsAfter: after,
      isAutomatic: property.settings.assignment.automatic,
      allowMove: change.allowMove ?? false,
      businessDate,
    })
  await recordTransition(trx, {
    id: transition,
    booking,
    reservations: [written],
    event: reservationAmended,
    businessDate,
    changes: changedFields(before, written),
    override:
      granted && shortNights.length > 0
        ? usedOverride(granted, [...(override?.rules ?? []), 'availability'])
        : override,
    data: { difference },
  })
  return { reservation: written, difference }
}

/**
 * The terms of a stay follow what it was sold as: a new plan for all its open nights, or the terms of today where that was asked for (R18). What a channel changes
 * keeps them, and so does a new plan for its stay. Answers the new ones; null where they stay. 422 `reference_not_found` for an archived plan.
 */
const renewPolicies = async (
  trx: Trx,
  property: SaleProperty,
  catalogue: Catalogue,
  before: ReservationRow,
  nights: readonly AmendedNight[],
  { policy, nights: priced }: StayChange,
): Promise<ReturnType<typeof termsOfToday> | null> => {
  if (priced || (before.channelManaged && policy !== 'new')) return null
  const open = nights.filter((night) => night.status === 'open')
  const planIds = new Set(open.map((night) => night.ratePlanId))
  const [planId] = planIds
  const isNew = planIds.size === 1 && planId !== before.ratePlanId
  if (planId === undefined || !(isNew || policy === 'new')) return null
  const policies = termsOfToday(catalogue, planId, property)
  await sql(trx, `update reservation set policies = ?::jsonb where id = ?`, [JSON.stringify(policies), before.id])
  return policies
}

const writeReservation = async (
  trx: Trx,
  before: ReservationRow,
  target: Target,
  nights: readonly AmendedNight[],
  extras: { total: number; taxesOnTop: number },
  overbooked: boolean,
): Promise<ReservationRow> => {
  const roomTotal = sum(nights.filter((night) => night.status !== 'waived').map((night) => night.amount))
  const taxTotal =
    sum(nights.filter((night) => night.status !== 'waived').map((night) => onTop(night.taxes))) + extras.taxesOnTop
  // Type and plan are as first booked (the nights are what counts) until no night is of them any more.
  const typeId = (nights.find((night) => night.unitTypeId === before.unitTypeId) ?? nights[0] ?? before).unitTypeId
  const planId = (nights.find((night) => night.ratePlanId === before.ratePlanId) ?? nights[0] ?? before).ratePlanId
  const row = await sqlOne<ReservationRow>(
    trx,
    `update reservation set arrival = ?, departure = ?, adults = ?, children_ages = ?::int[], unit_type_id = ?, rate_plan_id = ?, room_total = ?,
       extras_total = ?, tax_total = ?, total = ?, overbooked = overbooked or ?, version = version + 1 where id = ? returning *`,
    [
      target.arrival,
      target.departure,
      target.party.adults,
      target.party.childrenAges,
      typeId,
      planId,
      roomTotal,
      extras.total,
      taxTotal,
      roomTotal + extras.total + taxTotal,
      overbooked,
      before.id,
    ],
  )
  if (!row) throw new Error(`reservation ${before.id} is gone`)
  return row
}
