/** A house as one would write it down: names in place of ids, days in full. */
export type Adjust = { type: 'percent' | 'amount'; value: number }
export type Says = {
  stopSell?: boolean
  closedToArrival?: boolean
  closedToDeparture?: boolean
  minStayArrival?: number
  maxStayArrival?: number
  minStayThrough?: number
  maxStayThrough?: number
  minAdvanceDays?: number
  maxAdvanceDays?: number
}
export type PaperPlan = {
  name: string
  parent: string | null
  derivation: (Adjust & { roundTo: number; mode: 'nearest' | 'up' | 'down' }) | null
  inherits: boolean
  los: { minNights: number; rate: number }[]
  minNights: number | null
  maxNights: number | null
  minAdvanceDays: number | null
  maxAdvanceDays: number | null
  stayFrom: string | null
  stayUntil: string | null
  bookableFrom: string | null
  bookableUntil: string | null
}
export type PaperPrices = {
  standard: number | null
  adults: Record<string, Adjust>
  extraAdult: number
  children: { category: string; type: 'amount' | 'percent' | 'free'; value: number }[]
}
export type PaperTax = {
  code: string
  basis: 'percent' | 'per_night' | 'per_stay' | 'per_person_per_night'
  value: number
  included: boolean
  appliesTo: 'room' | 'extras' | 'both'
  exempt: string[]
  maxNights: number | null
  from: string
  to: string | null
}
export type PaperExtra = {
  name: string
  basis: 'per_stay' | 'per_night' | 'per_person' | 'per_person_per_night' | 'per_unit'
  amount: number
  /** Names of types; empty = all. */
  types: string[]
  limited: boolean
}
export type PaperHouse = {
  today: string
  types: {
    name: string
    base: number
    maxAdults: number
    maxChildren: number
    most: number
    takes: Record<string, number>
  }[]
  plans: PaperPlan[]
  /** By plan and type. */
  prices: Record<string, PaperPrices>
  /** By standard plan, type and day. */
  cells: Record<string, number>
  rules: { plan: string | null; type: string | null; date: string; says: Says }[]
  ages: { name: string; from: number; to: number | null; kind: string; counts: boolean }[]
  taxes: PaperTax[]
  /** Mandatory ones. */
  extras: PaperExtra[]
  promo: (Adjust & { plans: string[]; types: string[] }) | null
  /** Free by pool and day. */
  free: Record<string, number>
}
export type PaperStay = {
  plan: string
  type: string
  arrival: string
  departure: string
  rooms: { adults: number; childrenAges: number[] }[]
}
export type PaperRoom = { nights: number[]; taxes: Record<string, number>; extras: number; total: number }
export type Answer = { codes: string[]; rooms: PaperRoom[] | null }
