import type { PropertySettings } from '../../../config/property-settings.ts'
import { daysBetween } from '../../../config/time.ts'
import type { TaskKind } from '../../../config/housekeeping.ts'

/** A unit as a day of its house begins. Days are those of the house. */
export type Awakening = {
  condition: 'dirty' | 'cleaning' | 'clean' | 'inspected' | 'pickup'
  inService: boolean
  /** Reservation in the unit; null = vacant. */
  stay: { arrival: string; startsOn: string; endsOn: string } | null
  makeUpRequested: boolean
  refusedUntil: string | null
  guestArrives: boolean
  /** A departure task left over from earlier days. */
  departureLeft: boolean
  /** Instants since which the unit is vacant, and since which it has its condition. */
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

/** Effect of a new day on a unit (R18): its condition, if that changes, and its tasks. */
export const morningOf = (
  unit: Awakening,
  { stayover, deepEveryDays }: Pick<PropertySettings['housekeeping'], 'stayover' | 'deepEveryDays'>,
  date: string,
): Morning => {
  const { stay } = unit
  if (stay) {
    // A guest who moved in today has not slept in it yet.
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
