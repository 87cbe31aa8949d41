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

/** An amount with so many basis points more, or fewer where they are below 0, half-up to the minor unit. */
export const raisedBy = (amount: number, basisPoints: number) => scaled(amount, 10_000 + basisPoints, 10_000)

/**
 * Part of an amount that falls on the first `count` of `parts` equal parts, rounded towards 0. All of the parts together are the amount.
 */
export const ofFirst = (amount: number, count: number, parts: number): number =>
  Number((BigInt(amount) * BigInt(count)) / BigInt(Math.max(1, parts)))

/** Spreads an amount over equal parts in order: any first parts of it sum to `ofFirst`, and no two differ by more than one unit. */
export const spread = (amount: number, parts: number): number[] =>
  Array.from({ length: parts }, (_, index) => ofFirst(amount, index + 1, parts) - ofFirst(amount, index, parts))

/**
 * Splits a whole amount in proportion to weights, by largest remainder; the parts sum to it exactly. On a tie the earlier part
 * takes the unit. Without any weight all parts weigh the same. Some weights may be below 0, as long as all of them together are not.
 */
export const split = (amount: number, weights: readonly number[]): number[] => {
  if (weights.length < 2) return weights.map(() => amount)
  if (amount < 0) return split(-amount, weights).map((part) => 0 - part)
  const all = weights.reduce((total, weight) => total + BigInt(weight), 0n)
  if (all === 0n)
    return split(
      amount,
      weights.map(() => 1),
    )
  const parts = weights.map((weight, index) => {
    const product = BigInt(amount) * BigInt(weight)
    const rest = product % all
    return rest < 0n ? { index, whole: product / all - 1n, rest: rest + all } : { index, whole: product / all, rest }
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
