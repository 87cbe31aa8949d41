import { floorDivide, halfUp, halfUpSmall, split, sum } from '../../lib/amounts.ts'

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

/** Arithmetic of amounts and shares of them that loses nothing until it rounds. */
type Numbers<N> = {
  exact: (amount: number) => N
  plus: (a: N, b: N) => N
  percentOf: (value: N, basisPoints: number) => N
  /** Half-up to the minor unit. */
  rounded: (value: N) => number
  shown: (value: N) => number
}

// Minor units times 10^12, so that three percentages in a row (party, length of stay, promo) leave no remainder.
const scale = 10n ** 12n
const large: Numbers<bigint> = {
  exact: (amount) => BigInt(amount) * scale,
  plus: (a, b) => a + b,
  percentOf: (value, basisPoints) => (value * BigInt(basisPoints)) / 10_000n,
  rounded: (value) => Number(halfUp(value, scale)),
  shown: (value) => Number(value) / 1e12,
}

const safe = (value: number) => (Number.isSafeInteger(value) ? value : Number.NaN)

/** Arithmetic on doubles for a number of percentages in a row; NaN as soon as a result would not be exact. */
const small = (percentages: number): Numbers<number> => {
  const parts = 10_000 ** percentages
  return {
    exact: (amount) => safe(amount * parts),
    plus: (a, b) => safe(a + b),
    percentOf: (value, basisPoints) => safe((value / 10_000) * basisPoints),
    rounded: (value) => halfUpSmall(value, parts),
    shown: (value) => value / parts,
  }
}
// By the number of percentages beside the party's; a trace, which shows what stands between, is reckoned in one way alone.
const doubles = [small(1), small(2)]

const max0 = (amount: number) => (amount < 0 ? 0 : amount)

const roundTo = (value: bigint, step: bigint, mode: Derivation['mode']): bigint => {
  if (mode === 'nearest') return halfUp(value, step)
  const rest = ((value % step) + step) % step
  const below = (value - rest) / step
  return mode === 'up' && rest !== 0n ? below + 1n : below
}

const roundSmall = (value: number, step: number, mode: Derivation['mode']): number => {
  if (mode === 'nearest') return halfUpSmall(value, step)
  const above = mode === 'up' ? value + step - 1 : value
  return Number.isSafeInteger(above) ? floorDivide(above, step) : Number.NaN
}

/** The price of a derived plan from that of its parent. */
export const derive = (amount: number, { type, value, roundTo: unit, mode }: Derivation): number => {
  const [of, plus, parts] = type === 'percent' ? [10_000 + value, 0, 10_000] : [1, value, 1]
  const units = roundSmall(amount * of + plus, parts * unit, mode)
  if (!Number.isNaN(units)) return units * unit
  return Number(roundTo(BigInt(amount) * BigInt(of) + BigInt(plus), BigInt(parts * unit), mode)) * unit
}

const adjusted = <N>({ exact, plus, percentOf }: Numbers<N>, value: N, by: Adjustment): N =>
  plus(value, by.type === 'percent' ? percentOf(value, by.value) : exact(by.value))

const forAdults = <N>(numbers: Numbers<N>, value: N, adults: number, prices: OccupancyPrices): N => {
  const entry = prices.adults[String(adults)]
  if (entry) return adjusted(numbers, value, entry)
  return numbers.plus(value, numbers.exact(Math.max(0, adults - prices.baseOccupancy) * prices.extraAdultAmount))
}

/** A percentage for a child is one of the price for the base occupancy. */
const forChildren = <N>(
  { exact, plus, percentOf }: Numbers<N>,
  value: N,
  base: N,
  children: PricedParty['children'],
  prices: OccupancyPrices,
): N =>
  children.reduce((total, category) => {
    const entry = prices.children.find((price) => price.ageCategoryId === category)
    if (!entry) return plus(total, exact(prices.extraAdultAmount))
    if (entry.type === 'free') return total
    return plus(total, entry.type === 'percent' ? percentOf(base, entry.value) : exact(entry.value))
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
  const numbers = trace ? undefined : doubles[(pricing.losRate === 0 ? 0 : 1) + (pricing.promo === null ? 0 : 1)]
  const price = numbers ? forParty(numbers, amount, pricing) : Number.NaN
  return max0(Number.isNaN(price) ? forParty(large, amount, pricing) : price)
}

/** The price of a night for a party, from the plan's own price on. */
const forParty = <N>(numbers: Numbers<N>, amount: number, pricing: NightPricing): number => {
  const { trace, party, occupancy, losRate: discount, promo } = pricing
  const { exact, plus, percentOf, rounded: toUnit, shown } = numbers
  const base = exact(amount)
  let value = base
  const step = (name: PriceStep['step'], after: N, recordId?: string) => {
    if (after !== value)
      trace?.push({ step: name, before: shown(value), after: shown(after), ...(recordId ? { recordId } : {}) })
    value = after
  }
  step('adults', forAdults(numbers, value, party.adults, occupancy))
  step('children', forChildren(numbers, value, base, party.children, occupancy))
  if (discount !== 0) step('los_discount', plus(value, percentOf(value, -discount)))
  if (promo?.type === 'percent') step('promo', plus(value, percentOf(value, -promo.value)), promo.id)
  const rounded = toUnit(value)
  if (exact(rounded) !== value) trace?.push({ step: 'rounding', before: shown(value), after: rounded })
  return rounded
}

/** Takes a fixed amount off a stay, spread over its nights by largest remainder; no night falls below 0. */
export const takePromo = (nights: readonly number[], amount: number): number[] => {
  const off = split(Math.min(amount, sum(nights)), nights)
  return nights.map((night, index) => night - (off[index] ?? 0))
}
