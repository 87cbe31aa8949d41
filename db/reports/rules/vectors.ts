import { halfUp } from '../../lib/amounts.ts'

/** Amounts of one row, one for each column of a statement, in minor units. */
export type Vector = readonly number[]

export const zeros = (width: number): number[] => Array.from({ length: width }, () => 0)
export const added = (one: Vector, other: Vector): number[] => one.map((amount, index) => amount + (other[index] ?? 0))
export const summed = (vectors: readonly Vector[], width: number): number[] =>
  vectors.reduce<number[]>(added, zeros(width))
// Not times -1: there is no negative zero in a reply.
export const negated = (vector: Vector): number[] => vector.map((amount) => 0 - amount)
export const signed = (vector: Vector, sign: 1 | -1): number[] => (sign === 1 ? [...vector] : negated(vector))
export const isZero = (vector: Vector) => vector.every((amount) => amount === 0)

/** A quotient with four places, half-up, such as `"0.8125"`; null where the divisor is 0. */
export const ratioOf = (numerator: number, divisor: number): string | null => {
  if (divisor === 0) return null
  const sign = divisor < 0 ? -1n : 1n
  const scaled = halfUp(BigInt(numerator) * sign * 10_000n, BigInt(divisor) * sign)
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(5, '0')
  return `${scaled < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`
}
