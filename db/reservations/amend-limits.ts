import { unprocessable } from '../../config/errors.ts'
import { daysIn, todayIn } from '../../config/time.ts'
import type { Trx } from '../lib/connection.ts'
import { catalogueOf, readRestrictions, sentenceOf, stayChecks } from '../properties/index.ts'
import type { SalePlan, SaleProperty } from '../properties/index.ts'
import type { ReservationNightRow } from '../rows.ts'
import { soldHere } from './amend-nights.ts'
import type { Sale, Target } from './amend-nights.ts'

type Added = {
  sale: Sale
  /** Nights that come to the type and plan. */
  added: readonly string[]
  isNewDeparture: boolean
  isNewArrival: boolean
  /** The nights as they stood. */
  nights: readonly Pick<ReservationNightRow, 'ratePlanId'>[]
}

/**
 * The plan's own limits that added nights bring into play: its nights, and the length of the stay where the plan is new to it or the length changes against
 * the limit. How and when it was booked was judged then.
 */
const ownLimits = (plan: SalePlan, length: number, { added, nights }: Added): ReadonlySet<string> => {
  if (added.length === 0) return new Set()
  const isNew = !nights.some((night) => night.ratePlanId === plan.id)
  return new Set([
    ...(plan.stayFrom !== null && added.some((date) => date < plan.stayFrom!) ? ['plan_stay_from'] : []),
    ...(plan.stayUntil !== null && added.some((date) => date > plan.stayUntil!) ? ['plan_stay_until'] : []),
    ...(isNew || length < nights.length ? ['plan_min_nights'] : []),
    ...(isNew || length > nights.length ? ['plan_max_nights'] : []),
  ])
}

/** Rules of the day on which a stay begins. */
const ofArrival: ReadonlySet<string> = new Set(['closed_to_arrival', 'min_stay_arrival', 'max_stay_arrival'])

/** 422 with each rule that speaks against the nights that were added to a type and plan, or against the new day of arrival or departure. */
export const refuseAddedNights = async (
  trx: Trx,
  property: SaleProperty,
  { arrival, departure }: Pick<Target, 'arrival' | 'departure'>,
  change: Added,
): Promise<void> => {
  const { sale, added, isNewDeparture, isNewArrival } = change
  if (added.length === 0 && !isNewDeparture && !isNewArrival) return
  const catalogue = await catalogueOf(trx, property)
  const { type, plan } = soldHere(catalogue, sale)
  const range = { catalogue, plans: [plan], unitTypeIds: [type.id], from: arrival, until: departure }
  const restrictionOf = await readRestrictions(trx, property.id, range)
  const days = new Set([...added, ...(isNewDeparture ? [departure] : [])])
  const own = ownLimits(plan, daysIn(arrival, departure).length, change)
  const against = stayChecks({
    arrival,
    departure,
    today: todayIn(property.timezone, property.now),
    on: (date) => restrictionOf(plan, type.id, date),
    plan,
  }).filter(
    ({ passed, code, date }) =>
      !passed &&
      (date === undefined
        ? own.has(code)
        : days.has(date) || (isNewArrival && date === arrival && ofArrival.has(code))),
  )
  if (against.length > 0)
    throw unprocessable(
      'restriction_violated',
      'The stay is not possible at this rate',
      against.slice(0, 50).map((check) => ({
        field: check.date === undefined ? 'ratePlanId' : `nights.${check.date}`,
        message: `${check.code}: ${sentenceOf(check)}`,
      })),
    )
}
