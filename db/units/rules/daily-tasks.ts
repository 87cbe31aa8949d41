import type { PropertySettings } from '../../../config/property-settings.ts'
import { daysBetween } from '../../../config/time.ts'
import type { TaskKind } from '../../../config/housekeeping.ts'

/** A unit as a day of its house begins. Days are those of the house. */
export type Awakening = {
  condition: 'dirty' | 'cleaning' | 'clean' | 'inspected' | 'pickup'
  inService: boolean
  /** Who is in it; null = vacant. */
  stay: { arrival: string; startsOn: string; endsOn: string } | null
  makeUpRequested: boolean
  refusedUntil: string | null
  guestArrives: boolean
  /** A departure of the days before that nobody has done. */
  departureLeft: boolean
  /** Since when nobody has been in it, and since when it is as it is. */
  vacantSince: string
  conditionSince: string
  deepCleanedOn: string
}
export type Morning = { condition: Awakening['condition'] | null; tasks: TaskKind[] }

const rhythms = { daily: 1, every_2_days: 2, every_3_days: 3, on_request: null }
/** A unit that stood empty so long is looked over before the next guest. */
const pickupDays = 7

const wantsService = (
  { makeUpRequested, refusedUntil }: Awakening,
  arrival: string,
  rhythm: PropertySettings['housekeeping']['stayover'],
  date: string,
) => {
  if (refusedUntil !== null && refusedUntil >= date) return false
  const days = rhythms[rhythm]
  return makeUpRequested || (days !== null && daysBetween(arrival, date) % days === 0)
}

/** What the beginning of a day does to a unit (R18): its condition, where that changes, and its tasks. */
export const morningOf = (
  unit: Awakening,
  { stayover, deepEveryDays }: Pick<PropertySettings['housekeeping'], 'stayover' | 'deepEveryDays'>,
  date: string,
): Morning => {
  const { stay } = unit
  if (stay) {
    // Who moved in this very day has slept in it not yet.
    if (stay.startsOn >= date) return { condition: null, tasks: [] }
    const condition = unit.condition === 'dirty' ? null : 'dirty'
    if (stay.endsOn <= date) return { condition, tasks: ['departure'] }
    return { condition, tasks: wantsService(unit, stay.arrival, stayover, date) ? ['stayover'] : [] }
  }
  const isClean = unit.condition === 'clean' || unit.condition === 'inspected'
  const since = unit.vacantSince > unit.conditionSince ? unit.vacantSince : unit.conditionSince
  const condition = unit.inService && isClean && daysBetween(since, date) >= pickupDays ? 'pickup' : null
  const tasks: TaskKind[] = []
  if (unit.departureLeft && !isClean && unit.condition !== 'pickup') tasks.push('departure')
  if (unit.inService && deepEveryDays > 0 && daysBetween(unit.deepCleanedOn, date) >= deepEveryDays) tasks.push('deep')
  if (tasks.length === 0 && unit.guestArrives && (condition ?? unit.condition) === 'pickup') tasks.push('pickup')
  return { condition, tasks }
}
