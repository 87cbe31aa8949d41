/** `numerator / denominator` rounded half-up; the denominator is positive. */
export const halfUp = (numerator: bigint, denominator: bigint): bigint => {
  const doubled = 2n * numerator + denominator
  const whole = doubled / (2n * denominator)
  return doubled < 0n && doubled % (2n * denominator) !== 0n ? whole - 1n : whole
}

/** A share of an amount in basis points, half-up to the minor unit. */
export const shareOf = (amount: number, basisPoints: number) =>
  Number(halfUp(BigInt(amount) * BigInt(basisPoints), 10_000n))

/**
 * Splits a whole amount in proportion to weights, by largest remainder; the parts sum to it exactly. On a tie the earlier part
 * takes the unit. Without any weight all parts weigh the same.
 */
export const split = (amount: number, weights: readonly number[]): number[] => {
  if (weights.length === 0) return []
  const sum = weights.reduce((total, weight) => total + BigInt(weight), 0n)
  if (sum === 0n)
    return split(
      amount,
      weights.map(() => 1),
    )
  const parts = weights.map((weight, index) => {
    const product = BigInt(amount) * BigInt(weight)
    return { index, whole: product / sum, rest: product % sum }
  })
  let left = BigInt(amount) - parts.reduce((total, part) => total + part.whole, 0n)
  for (const part of parts.toSorted((a, b) => (a.rest === b.rest ? a.index - b.index : a.rest < b.rest ? 1 : -1))) {
    if (left === 0n) break
    part.whole += 1n
    left -= 1n
  }
  return parts.map((part) => Number(part.whole))
}

export const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0)
