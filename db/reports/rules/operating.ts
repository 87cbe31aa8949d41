import { scaled } from '../../lib/amounts.ts'
import { ratioOf } from './vectors.ts'

/** Unit-nights and room revenue of nights. Amounts are minor units; `roomRevenue` has the tax inside the price and none on top. */
export type Nights = {
  sold: number
  complimentary: number
  houseUse: number
  adults: number
  children: number
  roomRevenue: number
  includedTax: number
  commission: number
}
export type Capacity = { units: number; outOfOrder: number; outOfService: number }
/** `arrivals`: stays confirmed at some time, of which some were cancelled or did not come. */
export type Stays = {
  arrivals: number
  cancelled: number
  noShows: number
  leadDays: number
  departed: number
  departedNights: number
}

export const noNights: Nights = {
  sold: 0,
  complimentary: 0,
  houseUse: 0,
  adults: 0,
  children: 0,
  roomRevenue: 0,
  includedTax: 0,
  commission: 0,
}
export const noCapacity: Capacity = { units: 0, outOfOrder: 0, outOfService: 0 }
export const noStays: Stays = { arrivals: 0, cancelled: 0, noShows: 0, leadDays: 0, departed: 0, departedNights: 0 }

/** Sums records of numbers, field by field. */
export const summedUp = <Sums extends Record<string, number>>(none: Sums, all: readonly Sums[]): Sums => {
  const total: Record<string, number> = { ...none }
  for (const one of all) for (const key of Object.keys(none)) total[key] = (total[key] ?? 0) + (one[key] ?? 0)
  return total as Sums
}

/** An average amount, half-up; null where nothing is to be divided by. */
export const averageOf = (amount: number, by: number): number | null => (by === 0 ? null : scaled(amount, 1, by))

export type Parts = {
  nights: Nights
  stays: Stays
  /** Null where figures are not of days: what was there to sell cannot be told apart. */
  capacity: Capacity | null
  /** Of the ledger; null where it cannot be told apart. */
  totalRevenue: number | null
  /** Of whole months; else null. */
  grossOperatingProfit: number | null
}

/** All figures of the house with their parts (R15): sums come first, then division. */
export const figuresOf = ({ nights, stays, capacity, totalRevenue, grossOperatingProfit }: Parts) => {
  const { sold, complimentary, houseUse, adults, children, roomRevenue, includedTax } = nights
  const available = capacity === null ? null : capacity.units - capacity.outOfOrder
  const slept = sold + complimentary + houseUse
  const per = (amount: number | null) => (amount === null || available === null ? null : averageOf(amount, available))
  const ofAvailable = (count: number) => (available === null ? null : ratioOf(count, available))
  return {
    units: capacity?.units ?? null,
    outOfOrder: capacity?.outOfOrder ?? null,
    outOfService: capacity?.outOfService ?? null,
    available,
    sold,
    complimentary,
    houseUse,
    adults,
    children,
    roomRevenue,
    includedTax,
    totalRevenue,
    grossOperatingProfit,
    occupancy: ofAvailable(sold),
    occupancyWithFree: ofAvailable(slept),
    adr: averageOf(roomRevenue, sold),
    adrNet: averageOf(roomRevenue - includedTax, sold),
    revpar: per(roomRevenue),
    trevpar: per(totalRevenue),
    goppar: per(grossOperatingProfit),
    guestsPerUnit: ratioOf(adults + children, slept),
    lengthOfStay: ratioOf(stays.departedNights, stays.departed),
    leadTime: ratioOf(stays.leadDays, stays.arrivals),
    cancellationRate: ratioOf(stays.cancelled, stays.arrivals),
    noShowRate: ratioOf(stays.noShows, stays.arrivals),
    outOfOrderRate: capacity === null ? null : ratioOf(capacity.outOfOrder, capacity.units),
  }
}
export type Figures = ReturnType<typeof figuresOf>
