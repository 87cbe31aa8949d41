import fc from 'fast-check'
import type { Adjust, PaperExtra, PaperPlan, PaperPrices, PaperTax, Says } from './house.ts'

/** Days from today on which stays begin, and everything else happens. */
export const first = 10
export const span = 24

/** Most say nothing, else all would be refused. */
const seldom = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })
const day = fc.integer({ min: first, max: first + span })
const adjust = (most: number): fc.Arbitrary<Adjust> =>
  fc.oneof(
    fc.record({ type: fc.constant('percent' as const), value: fc.integer({ min: -4_000, max: 4_000 }) }),
    fc.record({ type: fc.constant('amount' as const), value: fc.integer({ min: -most, max: most }) }),
  )

const limits = {
  minNights: seldom(fc.integer({ min: 1, max: 3 })),
  maxNights: seldom(fc.integer({ min: 4, max: 8 })),
  minAdvanceDays: seldom(fc.integer({ min: 0, max: 14 })),
  maxAdvanceDays: seldom(fc.integer({ min: 25, max: 60 })),
  stayFrom: seldom(fc.integer({ min: 0, max: 14 })),
  stayUntil: seldom(fc.integer({ min: 30, max: 60 })),
  bookableFrom: seldom(fc.integer({ min: -5, max: 0 })),
  bookableUntil: seldom(fc.integer({ min: 0, max: 5 })),
}
type RandomPlan = Pick<PaperPlan, 'inherits' | 'los'> & {
  derivation: NonNullable<PaperPlan['derivation']>
  /** Days from today where it says days. Most plans have no limits at all. */
  limits: { [Limit in keyof typeof limits]: number | null } | null
}
const plan: fc.Arbitrary<RandomPlan> = fc.record({
  derivation: fc
    .tuple(
      adjust(3_000),
      fc.constantFrom(1, 7, 50, 100),
      fc.constantFrom('nearest' as const, 'up' as const, 'down' as const),
    )
    .map(([by, roundTo, mode]) => ({ ...by, roundTo, mode })),
  inherits: fc.boolean(),
  los: fc
    .uniqueArray(fc.integer({ min: 2, max: 7 }), { maxLength: 3 })
    .chain((nights) =>
      fc.tuple(
        ...nights
          .toSorted((a, b) => a - b)
          .map((minNights) =>
            fc.record({ minNights: fc.constant(minNights), rate: fc.integer({ min: 1, max: 3_333 }) }),
          ),
      ),
    ),
  limits: fc.option(fc.record(limits), { freq: 2 }),
})

const prices: fc.Arbitrary<PaperPrices> = fc.record({
  standard: fc.option(fc.integer({ min: 5_000, max: 60_000 }), { freq: 8 }),
  adults: fc.dictionary(fc.constantFrom('1', '2', '3'), adjust(4_000), { maxKeys: 2 }),
  extraAdult: fc.integer({ min: 0, max: 9_999 }),
  children: fc.uniqueArray(fc.constantFrom('INFANT', 'CHILD'), { maxLength: 2 }).chain((names) =>
    fc.tuple(
      ...names.map((category) =>
        fc.record({
          category: fc.constant(category),
          type: fc.constantFrom('amount' as const, 'percent' as const, 'free' as const),
          value: fc.integer({ min: 0, max: 5_000 }),
        }),
      ),
    ),
  ),
})

type RandomTax = Omit<PaperTax, 'code' | 'from' | 'to'> & { from: number | null; to: number | null }
const tax: fc.Arbitrary<RandomTax> = fc
  .record({
    basis: fc.constantFrom(
      'percent' as const,
      'percent' as const,
      'per_night' as const,
      'per_stay' as const,
      'per_person_per_night' as const,
    ),
    value: fc.integer({ min: 1, max: 2_000 }),
    included: fc.boolean(),
    appliesTo: fc.constantFrom('room' as const, 'extras' as const, 'both' as const),
    exempt: fc.subarray(['INFANT', 'CHILD']),
    maxNights: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2 }),
    from: fc.option(day, { freq: 2 }),
    to: fc.option(day, { freq: 2 }),
  })
  .map((rule) =>
    // Only percentages are inside a price, or of extras.
    rule.basis === 'percent' ? rule : { ...rule, included: false, appliesTo: 'room' as const },
  )
  .filter(({ from, to }) => from === null || to === null || from <= to)

const says: fc.Arbitrary<Says> = fc
  .tuple(
    fc.constantFrom(
      'stopSell',
      'closedToArrival',
      'closedToDeparture',
      'minStayArrival',
      'maxStayArrival',
      'minStayThrough',
      'maxStayThrough',
      'minAdvanceDays',
      'maxAdvanceDays',
    ),
    fc.boolean(),
    fc.integer({ min: 1, max: 4 }),
  )
  .map(([kind, isTrue, number]) => {
    if (kind.startsWith('stop') || kind.startsWith('closed')) return { [kind]: isTrue }
    if (kind === 'minAdvanceDays') return { [kind]: number * 6 }
    if (kind === 'maxAdvanceDays') return { [kind]: number * 10 }
    return { [kind]: kind.startsWith('max') ? number + 2 : number }
  })

const extra: fc.Arbitrary<Pick<PaperExtra, 'basis' | 'amount'> & { types: number[]; isMandatory: boolean }> = fc.record(
  {
    basis: fc.constantFrom(
      'per_stay' as const,
      'per_night' as const,
      'per_person' as const,
      'per_person_per_night' as const,
      'per_unit' as const,
    ),
    amount: fc.integer({ min: 1, max: 7_777 }),
    types: fc.subarray([0, 1, 2]),
    isMandatory: fc.boolean(),
  },
)

const party = fc.record({
  adults: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 2 }) },
    { weight: 1, arbitrary: fc.integer({ min: 3, max: 4 }) },
  ),
  childrenAges: fc.oneof(
    { weight: 2, arbitrary: fc.constant<number[]>([]) },
    { weight: 1, arbitrary: fc.array(fc.integer({ min: 0, max: 17 }), { maxLength: 2 }) },
  ),
})
const index = (count: number) => fc.integer({ min: 0, max: count - 1 })
export const planCount = 5
export const typeCount = 3

/** A house with its calendar, and stays that somebody wants. Numbers stand for plans, types and days from today. */
export const randomHouse = fc.record({
  plans: fc.array(plan, { minLength: planCount, maxLength: planCount }),
  prices: fc.array(prices, { minLength: planCount * typeCount, maxLength: planCount * typeCount }),
  cells: fc.array(
    fc.record({
      type: index(typeCount),
      from: day,
      length: fc.integer({ min: 0, max: 6 }),
      amount: fc.integer({ min: 0, max: 99_999 }),
      inSeason: fc.boolean(),
      weekDays: fc.option(fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }), { freq: 2 }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  season: fc.record({ from: day, length: fc.integer({ min: 0, max: 10 }) }),
  rules: fc.array(
    fc.record({
      plan: fc.option(index(planCount), { freq: 2 }),
      type: fc.option(index(typeCount), { freq: 2 }),
      from: day,
      length: fc.integer({ min: 0, max: 4 }),
      says,
    }),
    { minLength: 4, maxLength: 10 },
  ),
  infantsUntil: fc.integer({ min: 0, max: 3 }),
  childrenUntil: fc.integer({ min: 5, max: 16 }),
  infantsCount: fc.boolean(),
  taxes: fc.array(tax, { maxLength: 4 }),
  extras: fc.tuple(extra, extra),
  promo: fc.option(
    fc.record({
      by: fc.oneof(
        fc.record({ type: fc.constant('percent' as const), value: fc.integer({ min: 1, max: 5_000 }) }),
        fc.record({ type: fc.constant('amount' as const), value: fc.integer({ min: 1, max: 90_000 }) }),
      ),
      plans: fc.subarray([0, 1, 2, 3, 4]),
      types: fc.subarray([0, 1, 2]),
    }),
    { freq: 2 },
  ),
  /** Units that are sold already, by pool. */
  sold: fc.array(fc.record({ pool: index(3), day, units: fc.integer({ min: 0, max: 4 }) }), { maxLength: 6 }),
  stays: fc.array(
    fc.record({
      plan: index(planCount),
      type: index(typeCount),
      from: day,
      nights: fc.integer({ min: 1, max: 8 }),
      rooms: fc.oneof(
        { weight: 3, arbitrary: fc.tuple(party) },
        { weight: 1, arbitrary: fc.tuple(party, party) },
        { weight: 1, arbitrary: fc.tuple(party, party, party) },
      ),
    }),
    { minLength: 5, maxLength: 5 },
  ),
})
export type RandomHouse = typeof randomHouse extends fc.Arbitrary<infer H> ? H : never
