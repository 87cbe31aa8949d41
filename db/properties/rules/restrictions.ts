import { daysBetween, daysIn } from '../../../config/time.ts'

/** Value of one cell; null sets nothing. */
export type Restriction = {
  stopSell: boolean | null
  closedToArrival: boolean | null
  closedToDeparture: boolean | null
  minStayArrival: number | null
  maxStayArrival: number | null
  minStayThrough: number | null
  maxStayThrough: number | null
  minAdvanceDays: number | null
  maxAdvanceDays: number | null
}

export const unrestricted: Restriction = {
  stopSell: null,
  closedToArrival: null,
  closedToDeparture: null,
  minStayArrival: null,
  maxStayArrival: null,
  minStayThrough: null,
  maxStayThrough: null,
  minAdvanceDays: null,
  maxAdvanceDays: null,
}

const either = (a: boolean | null, b: boolean | null) => (a === null && b === null ? null : a === true || b === true)
const largest = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.max(a, b))
const smallest = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.min(a, b))

/** The most restrictive of several levels, each kind by itself. */
export const combine = (levels: readonly Restriction[]): Restriction =>
  levels.reduce(
    (all, one) => ({
      stopSell: either(all.stopSell, one.stopSell),
      closedToArrival: either(all.closedToArrival, one.closedToArrival),
      closedToDeparture: either(all.closedToDeparture, one.closedToDeparture),
      minStayArrival: largest(all.minStayArrival, one.minStayArrival),
      maxStayArrival: smallest(all.maxStayArrival, one.maxStayArrival),
      minStayThrough: largest(all.minStayThrough, one.minStayThrough),
      maxStayThrough: smallest(all.maxStayThrough, one.maxStayThrough),
      minAdvanceDays: largest(all.minAdvanceDays, one.minAdvanceDays),
      maxAdvanceDays: smallest(all.maxAdvanceDays, one.maxAdvanceDays),
    }),
    unrestricted,
  )

export type PlanLimits = {
  bookableFrom: string | null
  bookableUntil: string | null
  stayFrom: string | null
  stayUntil: string | null
  minAdvanceDays: number | null
  maxAdvanceDays: number | null
  minNights: number | null
  maxNights: number | null
}

/** Tells whether a night may be of a stay that is booked today, by the plan's own limits: what begins earlier is booked with less advance. */
export const isSoldToday = (plan: PlanLimits, today: string, night: string): boolean =>
  (plan.bookableFrom ?? today) <= today &&
  today <= (plan.bookableUntil ?? today) &&
  (plan.stayFrom ?? night) <= night &&
  night <= (plan.stayUntil ?? night) &&
  daysBetween(today, night) >= (plan.minAdvanceDays ?? 0)

/** Tells whether a stay that is booked today may begin on a day, by its advance. */
export const isAdvanceOpen = (
  limits: readonly Pick<PlanLimits, 'minAdvanceDays' | 'maxAdvanceDays'>[],
  today: string,
  arrival: string,
): boolean => {
  const advance = daysBetween(today, arrival)
  return limits.every((one) => advance >= (one.minAdvanceDays ?? 0) && advance <= (one.maxAdvanceDays ?? advance))
}

/** `limit` of `portal_min_advance` is minutes, of other advances days. */
type CheckCode =
  | 'portal_min_advance'
  | 'portal_max_advance'
  | 'stop_sell'
  | 'closed_to_arrival'
  | 'closed_to_departure'
  | `${'min' | 'max'}_stay_${'arrival' | 'through'}`
  | `${'' | 'plan_'}${'min' | 'max'}_advance`
  | `plan_${'bookable' | 'stay'}_${'from' | 'until'}`
  | `plan_${'min' | 'max'}_nights`

export type Check = {
  code: CheckCode
  passed: boolean
  date?: string
  actual: number | string | boolean
  limit: number | string | boolean
}

export type CheckedStay = {
  arrival: string
  departure: string
  /** In the property's zone. */
  today: string
  /** The effective restriction of a day. */
  on: (date: string) => Restriction
  plan: PlanLimits
}

/** Every restriction that speaks about a stay, in the order of R9. Of the day of departure only `closedToDeparture` counts. */
export const stayChecks = ({ arrival, departure, today, on, plan }: CheckedStay): Check[] => {
  const dates = daysIn(arrival, departure)
  const says: { date: string; night: Restriction }[] = []
  for (const date of dates) {
    const night = on(date)
    // Most nights say nothing, and are looked at once.
    if (night !== unrestricted) says.push({ date, night })
  }
  const nights = dates.length
  const advance = daysBetween(today, arrival)
  const last = dates.at(-1) ?? arrival
  const first = on(arrival)
  const checks: Check[] = []
  const note = (code: CheckCode, passed: boolean, actual: Check['actual'], limit: Check['limit'], date?: string) =>
    checks.push({ code, passed, actual, limit, ...(date === undefined ? {} : { date }) })
  const closed = (code: CheckCode, value: boolean | null, date: string) =>
    value !== null && note(code, !value, value, false, date)
  const atLeast = <V extends number | string>(code: CheckCode, actual: V, limit: V | null, date?: string) =>
    limit !== null && note(code, actual >= limit, actual, limit, date)
  const atMost = <V extends number | string>(code: CheckCode, actual: V, limit: V | null, date?: string) =>
    limit !== null && note(code, actual <= limit, actual, limit, date)

  for (const { date, night } of says) closed('stop_sell', night.stopSell, date)
  closed('closed_to_arrival', first.closedToArrival, arrival)
  closed('closed_to_departure', on(departure).closedToDeparture, departure)
  atLeast('min_stay_arrival', nights, first.minStayArrival, arrival)
  atMost('max_stay_arrival', nights, first.maxStayArrival, arrival)
  for (const { date, night } of says) {
    atLeast('min_stay_through', nights, night.minStayThrough, date)
    atMost('max_stay_through', nights, night.maxStayThrough, date)
  }
  atLeast('min_advance', advance, first.minAdvanceDays, arrival)
  atMost('max_advance', advance, first.maxAdvanceDays, arrival)
  atLeast('plan_bookable_from', today, plan.bookableFrom)
  atMost('plan_bookable_until', today, plan.bookableUntil)
  atLeast('plan_stay_from', arrival, plan.stayFrom)
  atMost('plan_stay_until', last, plan.stayUntil)
  atLeast('plan_min_advance', advance, plan.minAdvanceDays)
  atMost('plan_max_advance', advance, plan.maxAdvanceDays)
  atLeast('plan_min_nights', nights, plan.minNights)
  atMost('plan_max_nights', nights, plan.maxNights)
  return checks
}

const counted = (count: Check['limit'], unit: 'night' | 'day' | 'hour' | 'minute') =>
  `${count} ${unit}${count === 1 ? '' : 's'}`
const nights = ({ limit }: Check) => counted(limit, 'night')
const days = ({ limit }: Check) => counted(limit, 'day')
const minutes = ({ limit }: Check) =>
  typeof limit === 'number' && limit > 0 && limit % 60 === 0 ? counted(limit / 60, 'hour') : counted(limit, 'minute')

/** Result of each rule, kept by the stay or not. */
const sentences: Record<CheckCode, (check: Check) => string> = {
  portal_min_advance: (check) => `is booked online at least ${minutes(check)} before arrival`,
  portal_max_advance: (check) => `is booked online at most ${days(check)} ahead`,
  stop_sell: ({ passed }) => (passed ? 'is for sale' : 'is not for sale'),
  closed_to_arrival: ({ passed }) => `arrival is ${passed ? '' : 'not '}possible on this day`,
  closed_to_departure: ({ passed }) => `departure is ${passed ? '' : 'not '}possible on this day`,
  min_stay_arrival: (check) => `a stay that begins here takes at least ${nights(check)}`,
  max_stay_arrival: (check) => `a stay that begins here takes at most ${nights(check)}`,
  min_stay_through: (check) => `a stay over this night takes at least ${nights(check)}`,
  max_stay_through: (check) => `a stay over this night takes at most ${nights(check)}`,
  min_advance: (check) => `is booked at least ${days(check)} ahead`,
  max_advance: (check) => `is booked at most ${days(check)} ahead`,
  plan_bookable_from: (check) => `the rate can be booked from ${check.limit} on`,
  plan_bookable_until: (check) => `the rate can be booked until ${check.limit}`,
  plan_stay_from: (check) => `the rate is for stays from ${check.limit} on`,
  plan_stay_until: (check) => `the rate is for nights until ${check.limit}`,
  plan_min_advance: (check) => `the rate is booked at least ${days(check)} ahead`,
  plan_max_advance: (check) => `the rate is booked at most ${days(check)} ahead`,
  plan_min_nights: (check) => `the rate takes at least ${nights(check)}`,
  plan_max_nights: (check) => `the rate takes at most ${nights(check)}`,
}

export const sentenceOf = (check: Check): string => sentences[check.code](check)
