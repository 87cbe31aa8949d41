import { halfUp, shareOf, split, sum } from '../../lib/amounts.ts'

/** Amount of a line: quantity in ten-thousandths × price of one, half-up. */
export const lineAmount = (quantity: number, unitAmount: number): number =>
  Number(halfUp(BigInt(quantity) * BigInt(unitAmount), 10_000n))

export type Terms = {
  /** Minor units, of the live lines together. */
  discount: number
  /** Basis points of what is left after the discount. */
  serviceChargeRate: number
  serviceCharge: boolean
}

/** Totals of an order by its live lines (R19). The discount is split over the lines by largest remainder. */
export const totalsOf = (amounts: readonly number[], { discount, serviceChargeRate, serviceCharge }: Terms) => {
  const subtotal = sum(amounts)
  const serviceChargeAmount = serviceCharge ? shareOf(subtotal - discount, serviceChargeRate) : 0
  return {
    subtotal,
    discountShares: split(discount, amounts),
    serviceChargeAmount,
    total: subtotal - discount + serviceChargeAmount,
  }
}

/** A part of what an order charges: a revenue group, or the service charge. */
export type Part = { category: string; amount: number }

/** Splits what is left of the parts for one settlement, and takes it off them. Each takes its share by largest remainder. */
export const takeShare = (parts: Part[], amount: number): Part[] => {
  const shares = split(
    amount,
    parts.map((part) => part.amount),
  )
  return parts.flatMap((part, index) => {
    const share = shares[index] ?? 0
    part.amount -= share
    return share > 0 ? [{ category: part.category, amount: share }] : []
  })
}
