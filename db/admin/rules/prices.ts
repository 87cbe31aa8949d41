import type { AddOnPrice, PriceTier } from '../../../config/add-ons.ts'
import { halfUp } from '../../lib/amounts.ts'

const places = 6n
const unit = 10n ** places

/** A decimal text with up to six places, as a whole number of millionths. */
export const millionths = (decimal: string): bigint => {
  const [whole = '0', part = ''] = decimal.split('.')
  return BigInt(whole) * unit + BigInt(part.padEnd(Number(places), '0').slice(0, Number(places)))
}

/** A quantity at a unit price, half-up to the minor unit. */
export const metered = (quantity: number, unitPrice: string): number =>
  Number(halfUp(BigInt(quantity) * millionths(unitPrice), unit))

/** A quantity at graduated prices: each unit at the price of its tier, rounded once on the sum. */
export const tiered = (quantity: number, tiers: readonly PriceTier[]): number => {
  let from = 0n
  let sum = 0n
  const all = BigInt(quantity)
  for (const { upTo, unitPrice } of tiers) {
    const end = upTo === null || BigInt(upTo) > all ? all : BigInt(upTo)
    if (end > from) sum += (end - from) * millionths(unitPrice)
    from = end > from ? end : from
  }
  return Number(halfUp(sum, unit))
}

/** A quantity at the price of an add-on, or of a meter of a plan. */
export const priced = (quantity: number, { unitPrice, tiers }: AddOnPrice): number =>
  tiers ? tiered(quantity, tiers) : unitPrice === undefined ? 0 : metered(quantity, unitPrice)
