import { halfUp, split } from './amounts.ts'

export type Adjustment = { type: 'percent' | 'amount'; value: number }
export type Derivation = Adjustment & { roundTo: number; mode: 'nearest' | 'up' | 'down' }
export type ChildPrice = { ageCategoryId: string; type: 'amount' | 'percent' | 'free'; value: number }
export type OccupancyPrices = {
  baseOccupancy: number
  /** By number of adults. */
  adults: Readonly<Record<string, Adjustment>>
  extraAdultAmount: number
  children: readonly ChildPrice[]
}
/** Children by the id of their age category; null where the property has no categories of its own. */
export type PricedParty = { adults: number; children: readonly (string | null)[] }
export type LosDiscount = { minNights: number; rate: number }
export type Promo = { id: string; type: 'percent' | 'amount'; value: number }

export type PriceStep = {
  step: 'base' | 'derivation' | 'adults' | 'children' | 'los_discount' | 'promo' | 'rounding'
  before: number
  after: number
  recordId?: string
}

// Exact numbers: minor units times 10^12, so that three percentages in a row (party, length of stay, promo) leave no remainder.
const scale = 10n ** 12n
const exact = (amount: number) => BigInt(amount) * scale
const shown = (value: bigint) => Number(value) / 1e12
const percentOf = (value: bigint, basisPoints: number) => (value * BigInt(basisPoints)) / 10_000n
const max0 = (amount: number) => (amount < 0 ? 0 : amount)

const roundTo = (value: bigint, unit: number, mode: Derivation['mode']): number => {
  const step = BigInt(unit) * scale
  if (mode === 'nearest') return Number(halfUp(value, step)) * unit
  const rest = ((value % step) + step) % step
  const below = (value - rest) / step
  return Number(mode === 'up' && rest !== 0n ? below + 1n : below) * unit
}

const adjusted = (value: bigint, by: Adjustment) =>
  by.type === 'percent' ? value + percentOf(value, by.value) : value + exact(by.value)

/** The price of a derived plan from that of its parent. */
export const derive = (amount: number, derivation: Derivation): number =>
  roundTo(adjusted(exact(amount), derivation), derivation.roundTo, derivation.mode)

const forAdults = (value: bigint, adults: number, prices: OccupancyPrices): bigint => {
  const entry = prices.adults[String(adults)]
  if (entry) return adjusted(value, entry)
  return value + exact(Math.max(0, adults - prices.baseOccupancy) * prices.extraAdultAmount)
}

/** A percentage for a child is one of the price for the base occupancy. */
const forChildren = (value: bigint, base: bigint, children: PricedParty['children'], prices: OccupancyPrices): bigint =>
  children.reduce((total, category) => {
    const entry = prices.children.find((price) => price.ageCategoryId === category)
    if (!entry) return total + exact(prices.extraAdultAmount)
    if (entry.type === 'free') return total
    return total + (entry.type === 'percent' ? percentOf(base, entry.value) : exact(entry.value))
  }, value)

/** The discount that a stay of so many nights has earned, in basis points. */
export const losRate = (discounts: readonly LosDiscount[], nights: number): number =>
  discounts.reduce<LosDiscount | null>(
    (best, entry) => (entry.minNights <= nights && entry.minNights > (best?.minNights ?? 0) ? entry : best),
    null,
  )?.rate ?? 0

export type NightPricing = {
  /** From the top parent's child down to the plan itself. */
  derivations: readonly { planId: string; derivation: Derivation }[]
  occupancy: OccupancyPrices
  party: PricedParty
  /** Basis points. */
  losRate: number
  /** A promo code of type percent; one of type amount is taken off the whole stay by `takePromo`. */
  promo: Promo | null
  trace?: PriceStep[]
}

/** The price of one night, in the order of R1: base, derivations, adults, children, length of stay, promo, rounding. */
export const nightPrice = (base: number, pricing: NightPricing): number => {
  const { trace } = pricing
  let amount = base
  for (const { planId, derivation } of pricing.derivations) {
    const after = derive(amount, derivation)
    trace?.push({ step: 'derivation', before: amount, after, recordId: planId })
    amount = after
  }
  let value = exact(amount)
  const step = (name: PriceStep['step'], after: bigint, recordId?: string) => {
    if (after !== value)
      trace?.push({ step: name, before: shown(value), after: shown(after), ...(recordId ? { recordId } : {}) })
    value = after
  }
  step('adults', forAdults(value, pricing.party.adults, pricing.occupancy))
  step('children', forChildren(value, exact(amount), pricing.party.children, pricing.occupancy))
  step('los_discount', value - percentOf(value, pricing.losRate))
  if (pricing.promo?.type === 'percent') step('promo', value - percentOf(value, pricing.promo.value), pricing.promo.id)
  const rounded = Number(halfUp(value, scale))
  if (exact(rounded) !== value) trace?.push({ step: 'rounding', before: shown(value), after: rounded })
  return max0(rounded)
}

/** Takes a fixed amount off a stay, spread over its nights by largest remainder; no night falls below 0. */
export const takePromo = (nights: readonly number[], amount: number): number[] => {
  const total = nights.reduce((all, night) => all + night, 0)
  const off = split(Math.min(amount, total), nights)
  return nights.map((night, index) => night - (off[index] ?? 0))
}
