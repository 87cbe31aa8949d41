import { addDays } from '../../../config/time.ts'
import { halfUp, scaled } from '../../lib/amounts.ts'
import type { Changed } from '../books.ts'

/** Units and room revenue of a closed night as they were realised, and how many units there were to sell. */
export type Realised = { units: number; sold: number; roomRevenue: number; available: number }

const mostComparables = 8
const leastComparables = 4
const judgedNights = 28
/** Nights that are looked through for comparables: beyond them a season is another one. */
const weeksBack = 60

/** Nights on the books at the close of each day, summed from the changes of each day. */
export class Books {
  private readonly changes = new Map<string, { changedOn: string; units: number; revenue: number }[]>()

  constructor(changes: readonly Changed[]) {
    const sorted = changes.toSorted((a, b) => (a.changedOn < b.changedOn ? -1 : 1))
    for (const { stayDate, changedOn, unitNights, roomRevenue } of sorted) {
      const known = this.changes.get(stayDate) ?? []
      const last = known.at(-1) ?? { units: 0, revenue: 0 }
      known.push({ changedOn, units: last.units + unitNights, revenue: last.revenue + roomRevenue })
      this.changes.set(stayDate, known)
    }
  }

  at(day: string, night: string): { units: number; revenue: number } {
    const known = this.changes.get(night)?.findLast(({ changedOn }) => changedOn <= day)
    return known ?? { units: 0, revenue: 0 }
  }
}

export type Facts = {
  books: Books
  /** Closed nights by day. */
  realised: ReadonlyMap<string, Realised>
}

/** The last closed nights of a night's weekday that had units to sell, up to a day; eight at most. */
const comparablesOf = ({ realised }: Facts, night: string, asOf: string): string[] => {
  const found: string[] = []
  for (let week = 1; week <= weeksBack && found.length < mostComparables; week += 1) {
    const day = addDays(night, -7 * week)
    if (day > asOf) continue
    if ((realised.get(day)?.available ?? 0) > 0) found.push(day)
  }
  return found
}

export type Guess = {
  units: number
  method: 'pickup' | 'on_the_books'
  comparables: number
  onTheBooks: { units: number; revenue: number }
  adrOfComparables: number | null
}

/** Units of a night as foreseen at the close of a day (R17): what is on the books, and what comparable nights still gained, within what is to sell. */
export const guessOf = (facts: Facts, night: string, asOf: string, lead: number, available: number): Guess => {
  const { books, realised } = facts
  const onTheBooks = books.at(asOf, night)
  const nights = comparablesOf(facts, night, asOf)
  const known = nights.map((day) => realised.get(day) as Realised)
  const sold = known.reduce((sum, one) => sum + one.sold, 0)
  const revenue = known.reduce((sum, { roomRevenue }) => sum + roomRevenue, 0)
  const adrOfComparables = sold > 0 ? scaled(revenue, 1, sold) : null
  const guess = { comparables: nights.length, onTheBooks, adrOfComparables }
  if (nights.length < leastComparables) return { ...guess, units: onTheBooks.units, method: 'on_the_books' }
  const gained = nights.reduce(
    (sum, day) => sum + (realised.get(day)?.units ?? 0) - books.at(addDays(day, -lead), day).units,
    0,
  )
  const units = scaled(onTheBooks.units * nights.length + gained, 1, nights.length)
  return { ...guess, units: Math.min(Math.max(units, 0), Math.max(available, 0)), method: 'pickup' }
}

const fine = 10n ** 12n

/** Mean of |foreseen at the lead − realised| ÷ max(1, realised) over the last closed nights, four places; null without one. */
export const errorOf = (facts: Facts, last: string, lead: number): string | null => {
  const nights = Array.from({ length: judgedNights }, (_, index) => addDays(last, -index)).filter((day) =>
    facts.realised.has(day),
  )
  if (nights.length === 0) return null
  const sum = nights.reduce((total, night) => {
    const { units, available } = facts.realised.get(night) as Realised
    const foreseen = guessOf(facts, night, addDays(night, -lead), lead, available).units
    return total + (BigInt(Math.abs(foreseen - units)) * fine) / BigInt(Math.max(1, units))
  }, 0n)
  const digits = String(halfUp(sum * 10_000n, fine * BigInt(nights.length))).padStart(5, '0')
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`
}
