export const matchKinds = ['document', 'email', 'phone', 'name_birth', 'name_city'] as const
export type MatchKind = (typeof matchKinds)[number]

const weight: Readonly<Record<MatchKind, number>> = {
  document: 100,
  name_birth: 80,
  email: 60,
  phone: 50,
  name_city: 40,
}
const perFurther = 10
export const leastListed = 60

/** The probability that two profiles are one person (R6): the highest weight, and 10 for each further match, at most 100. */
export const scoreOf = (matches: readonly MatchKind[]): number =>
  matches.length === 0
    ? 0
    : Math.min(100, Math.max(...matches.map((match) => weight[match])) + perFurther * (matches.length - 1))
