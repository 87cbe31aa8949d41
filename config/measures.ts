/** The measure in which stock of an item is kept. */
export const bases = ['g', 'ml', 'un'] as const
export type Base = (typeof bases)[number]

/** So many of the base are one of the measure, exactly: numerator and denominator. */
export type Fraction = readonly [numerator: bigint, denominator: bigint]
type Measure = { base: Base; fraction: Fraction }

const mass = (numerator: bigint, denominator = 1n): Measure => ({ base: 'g', fraction: [numerator, denominator] })
const volume = (numerator: bigint, denominator = 1n): Measure => ({ base: 'ml', fraction: [numerator, denominator] })
const number = (numerator: bigint): Measure => ({ base: 'un', fraction: [numerator, 1n] })

/** The international pound and ounce of 1959, and the gallon of the United States, which are exact. */
export const measures: Readonly<Record<string, Measure>> = {
  mg: mass(1n, 1_000n),
  g: mass(1n),
  kg: mass(1_000n),
  t: mass(1_000_000n),
  oz: mass(45_359_237n, 1_600_000n),
  lb: mass(45_359_237n, 100_000n),
  ml: volume(1n),
  cl: volume(10n),
  dl: volume(100n),
  l: volume(1_000n),
  fl_oz_us: volume(473_176_473n, 16_000_000n),
  gal_us: volume(473_176_473n, 125_000n),
  un: number(1n),
  dozen: number(12n),
  hundred: number(100n),
}
