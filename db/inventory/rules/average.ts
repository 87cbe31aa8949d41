import { halfUp } from '../../lib/amounts.ts'

/** Stock of an item in a location: ten-thousandths of the base, and minor units. */
export type Level = { quantity: number; value: number }

/** Value that leaves with a quantity: all of it with the last, else the average, half-up (R6). */
export const valueOut = ({ quantity, value }: Level, out: number): number => {
  if (out > quantity) throw new Error('more would be taken than there is')
  return out === quantity ? value : Number(halfUp(BigInt(value) * BigInt(out), BigInt(quantity)))
}

/** Takes a quantity off a level, and answers its value. */
export const take = (level: Level, quantity: number): number => {
  const value = valueOut(level, quantity)
  level.quantity -= quantity
  level.value -= value
  return value
}

/** Adds a quantity with its value. */
export const put = (level: Level, quantity: number, value: number): void => {
  level.quantity += quantity
  level.value += value
}

/** Value of a quantity at the cost of another: `value` for `of`, half-up. */
export const atCost = (quantity: number, { value, of }: { value: number; of: number }): number =>
  Number(halfUp(BigInt(value) * BigInt(quantity), BigInt(of)))
