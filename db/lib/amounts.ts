/** `numerator / denominator` rounded half-up; the denominator is positive. */
export const halfUp = (numerator: bigint, denominator: bigint): bigint => {
  const doubled = 2n * numerator + denominator
  const whole = doubled / (2n * denominator)
  return doubled < 0n && doubled % (2n * denominator) !== 0n ? whole - 1n : whole
}

// Whole numbers that a double holds exactly are reckoned with as such: a price has thousands of them, and almost none is larger.

/** Rounds half up on plain numbers; NaN if an intermediate value does not fit a double exactly. */
export const halfUpSmall = (numerator: number, denominator: number): number => {
  const doubled = 2 * numerator + denominator
  if (!Number.isSafeInteger(doubled) || !Number.isSafeInteger(2 * denominator)) return Number.NaN
  return floorDivide(doubled, 2 * denominator)
}

/** The largest whole number that is not above the quotient, of safe integers. */
export const floorDivide = (numerator: number, denominator: number): number => {
  const rest = numerator % denominator
  return (numerator - (rest < 0 ? rest + denominator : rest)) / denominator
}

/** `amount × numerator / denominator`, half-up to the minor unit. */
export const scaled = (amount: number, numerator: number, denominator: number): number => {
  const small = halfUpSmall(amount * numerator, denominator)
  return Number.isNaN(small) ? Number(halfUp(BigInt(amount) * BigInt(numerator), BigInt(denominator))) : small
}

/** A share of an amount in basis points, half-up to the minor unit. */
export const shareOf = (amount: number, basisPoints: number) => scaled(amount, basisPoints, 10_000)

/**
 * Splits a whole amount in proportion to weights, by largest remainder; the parts sum to it exactly. On a tie the earlier part
 * takes the unit. Without any weight all parts weigh the same.
 */
export const split = (amount: number, weights: readonly number[]): number[] => {
  if (weights.length < 2) return weights.map(() => amount)
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
