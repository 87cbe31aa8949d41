/**
 * Stripe's units in so many minor units of ours, where the two differ: it counts ISK and UGX, which have no cents, in hundredths, and MGA, whose minor unit
 * is not in use, whole.
 */
const units: Readonly<Record<string, readonly [theirs: number, ours: number]>> = {
  ISK: [100, 1],
  UGX: [100, 1],
  MGA: [1, 100],
}

const unitsOf = (currency: string) => units[currency.toUpperCase()] ?? ([1, 1] as const)

/** An amount as Stripe counts it; less than a unit of Stripe is cut off. */
export const toStripe = (amount: number, currency: string): number => {
  const [theirs, ours] = unitsOf(currency)
  return Math.trunc(amount / ours) * theirs
}

/** Tells whether Stripe can be asked for exactly this amount. */
export const isWhole = (amount: number, currency: string): boolean => amount % unitsOf(currency)[1] === 0

/** An amount of Stripe in minor units of ours. Of fees in hundredths of what has no cents the nearest. */
export const fromStripe = (amount: number, currency: string): number => {
  const [theirs, ours] = unitsOf(currency)
  return Math.round((amount * ours) / theirs)
}

/** An amount that Stripe cannot take: nothing is asked of it. */
export const notWhole = (currency: string) =>
  Promise.resolve({
    kind: 'refused' as const,
    code: 'amount_not_whole',
    message: `The gateway takes whole amounts of ${currency} alone`,
  })
