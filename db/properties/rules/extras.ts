import { addDays } from '../../../config/time.ts'
import type { ExtraBasis } from '../../../config/quote.ts'

export type StayShape = { arrival: string; departure: string; nights: number; persons: number }

const perNight = (basis: ExtraBasis) => basis === 'per_night' || basis === 'per_person_per_night'

/** Days on which an extra is served, both included: each night, or the day of arrival. */
export const serviceDates = (basis: ExtraBasis, stay: Pick<StayShape, 'arrival' | 'departure'>) => ({
  from: stay.arrival,
  until: perNight(basis) ? addDays(stay.departure, -1) : stay.arrival,
})

/** Price of one day of service: `unitAmount` × quantity, × persons if the basis says so. */
export const dailyAmount = (unitAmount: number, basis: ExtraBasis, quantity: number, persons: number): number =>
  unitAmount * quantity * (basis === 'per_person' || basis === 'per_person_per_night' ? persons : 1)

/** Price of an extra for the whole stay. */
export const extraAmount = (unitAmount: number, basis: ExtraBasis, quantity: number, stay: StayShape): number =>
  dailyAmount(unitAmount, basis, quantity, stay.persons) * (perNight(basis) ? stay.nights : 1)
