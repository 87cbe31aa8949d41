import { unprocessable } from '../../config/errors.ts'
import { daysBetween, daysIn } from '../../config/time.ts'
import type { Trx } from '../lib/connection.ts'
import { sqlOne } from '../lib/connection.ts'
import { countParty, fits } from '../properties/index.ts'
import type { Catalogue, SaleProperty } from '../properties/index.ts'
import type { ReservationNightRow, ReservationRow } from '../rows.ts'
import type { StayChange } from './amend.ts'
import { refuseAddedNights } from './amend-limits.ts'
import { bySale } from './amend-nights.ts'
import type { Sale, Target } from './amend-nights.ts'

/** A stay as a change makes it. */
export const targetOf = (before: ReservationRow, change: StayChange): Target => {
  const arrival = change.arrival ?? before.arrival
  return {
    arrival,
    departure: change.departure ?? before.departure,
    sale: { unitTypeId: change.unitTypeId, ratePlanId: change.ratePlanId },
    party: { adults: change.adults ?? before.adults, childrenAges: change.childrenAges ?? before.childrenAges },
    from: change.from ?? arrival,
    priced: change.nights ?? null,
    allAnew: change.price === 'current',
    keepsPrice: change.price === 'keep',
    ...(change.manualNights ? { manual: new Map(change.manualNights.map((one) => [one.date, one.amount])) } : {}),
  }
}

/** The types that nights come to, as they were read: their pools are those that are moved. */
export const soldAs = (catalogue: Catalogue, groups: readonly { sale: Sale }[]) =>
  catalogue.unitTypes.filter((type) => groups.some(({ sale }) => sale.unitTypeId === type.id))

export const datesOf = ({ arrival, departure }: Pick<Target, 'arrival' | 'departure'>) => daysIn(arrival, departure)

export const refuseCrowd = (catalogue: Catalogue, types: Catalogue['unitTypes'], { party }: Target) => {
  const type = types.find((one) => !fits(one, countParty(catalogue, party)))
  if (type)
    throw unprocessable('occupancy_exceeded', 'The party does not fit the room', [
      { field: 'unitTypeId', message: `takes at most ${type.maxOccupancy} guests` },
    ])
}

type Sold = { before: ReservationRow; nights: readonly ReservationNightRow[]; sales: ReadonlyMap<string, Sale> }

/** Restrictions are asked for nights that come to a type and plan, and for a new day of arrival or departure; the plan's own limits with them. */
export const refuseAdded = async (
  trx: Trx,
  property: SaleProperty,
  target: Target,
  { before, nights, sales }: Sold,
) => {
  const stood = new Map(nights.map((night) => [night.date, night]))
  const isAdded = (date: string) => {
    const [night, sale] = [stood.get(date), sales.get(date)]
    return night?.unitTypeId !== sale?.unitTypeId || night?.ratePlanId !== sale?.ratePlanId
  }
  const [first = '', last = ''] = [datesOf(target)[0], datesOf(target).at(-1)]
  for (const { sale, dates } of bySale(datesOf(target), sales))
    await refuseAddedNights(trx, property, target, {
      sale,
      added: dates.filter(isAdded),
      isNewDeparture: target.departure !== before.departure && dates.includes(last),
      isNewArrival: target.arrival !== before.arrival && dates.includes(first),
      nights,
    })
}

/** Guests who are named are at most the party (R13). 422 `occupancy_exceeded`. */
export const refuseUnnamed = async (trx: Trx, reservationId: string, { party }: Target): Promise<void> => {
  const people = party.adults + party.childrenAges.length
  const named = await sqlOne<{ guests: number }>(
    trx,
    `select count(*)::int as guests from reservation_guest where reservation_id = ?`,
    [reservationId],
  )
  if ((named?.guests ?? 0) > people)
    throw unprocessable('occupancy_exceeded', 'More guests are named than the party would have', [
      { field: 'adults', message: `take ${(named?.guests ?? 0) - people} of the guests off the stay first` },
    ])
}

/** 422 `transition_blocked` with every reason for which the days cannot be these. */
export const refuseDays = (
  { arrival, departure, manual }: Pick<Target, 'arrival' | 'departure' | 'manual'>,
  before: { arrival: string; hasArrived: boolean; fixed: readonly ReservationNightRow[] },
  businessDate: string,
): void => {
  const nights = daysBetween(arrival, departure)
  const outside = before.fixed.filter(
    (night) => night.date < arrival || night.date >= departure || manual?.has(night.date),
  )
  const reasons: [boolean, string, string][] = [
    [nights < 1 || nights > 366, 'stay_length', 'a stay has 1 to 366 nights'],
    [before.hasArrived && arrival !== before.arrival, 'already_arrived', 'the guest has arrived'],
    [
      !before.hasArrived && arrival !== before.arrival && arrival < businessDate,
      'arrival_past',
      `the arrival is before the business date, ${businessDate}`,
    ],
    [departure < businessDate, 'departure_past', `the departure is before the business date, ${businessDate}`],
    [outside.length > 0, 'nights_charged', `${outside[0]?.date} is over or charged`],
  ]
  const blockers = reasons.filter(([applies]) => applies)
  if (blockers.length > 0)
    throw unprocessable(
      'transition_blocked',
      'The stay cannot be changed so',
      blockers.map(([, code, message]) => ({ field: `blockers.${code}`, message })),
    )
}
