import { daysIn } from '../../../config/time.ts'
import type { House } from '../../support/factories.ts'
import type { PaperHouse } from './house.ts'
import type { RandomHouse } from './random.ts'

export const planNames = ['FLEX', 'SAVER', 'THIRD', 'FOURTH', 'CODE'] as const
export const typeNames = ['STD', 'SUITE', 'WHOLE'] as const
const poolNames = ['A', 'B', 'X1'] as const
export const capacity = { A: 4, B: 1, X1: 3 }
const isDerived = (index: number) => index > 0 && index < 4

const weekDay = (date: string) => new Date(`${date}T00:00:00Z`).getUTCDay() || 7

/** Writes a random house down on paper. */
export const paperOf = (house: House, random: RandomHouse): PaperHouse => {
  const day = (offset: number | null) => (offset === null ? null : house.day(offset))
  const season = { from: house.day(random.season.from), to: house.day(random.season.from + random.season.length) }
  const cells: PaperHouse['cells'] = {}
  for (const { plan, type, dates, amount } of cellsOf(random, house, season))
    for (const date of dates) cells[`${plan} ${type} ${date}`] = amount
  const rules = new Map<string, PaperHouse['rules'][number]>()
  for (const { plan, type, from, length, says } of random.rules)
    for (const date of daysIn(house.day(from), house.day(from + length + 1))) {
      const key = `${plan} ${type} ${date}`
      const place = {
        plan: plan === null ? null : planNames[plan]!,
        type: type === null ? null : typeNames[type]!,
        date,
      }
      rules.set(key, { ...place, says: { ...rules.get(key)?.says, ...says } })
    }
  const free: PaperHouse['free'] = {}
  for (const pool of poolNames)
    for (const date of daysIn(house.day(0), house.day(60))) free[`${pool} ${date}`] = capacity[pool]
  for (const { pool, date, units } of soldOf(random, house)) free[`${pool} ${date}`] = capacity[pool] - units
  return {
    today: house.today,
    types: [
      { name: 'STD', base: 2, maxAdults: 3, maxChildren: 2, most: 4, takes: { A: 1 } },
      { name: 'SUITE', base: 2, maxAdults: 2, maxChildren: 1, most: 3, takes: { B: 1 } },
      { name: 'WHOLE', base: 3, maxAdults: 3, maxChildren: 1, most: 4, takes: { A: 2, B: 1 } },
    ],
    plans: random.plans.map(({ derivation, inherits, los, limits }, index) => ({
      name: planNames[index]!,
      parent: isDerived(index) ? planNames[index - 1]! : null,
      derivation: isDerived(index) ? derivation : null,
      inherits,
      los,
      minNights: limits?.minNights ?? null,
      maxNights: limits?.maxNights ?? null,
      minAdvanceDays: limits?.minAdvanceDays ?? null,
      maxAdvanceDays: limits?.maxAdvanceDays ?? null,
      stayFrom: day(limits?.stayFrom ?? null),
      stayUntil: day(limits?.stayUntil ?? null),
      bookableFrom: day(limits?.bookableFrom ?? null),
      bookableUntil: day(limits?.bookableUntil ?? null),
    })),
    prices: Object.fromEntries(
      random.prices.map((one, index) => {
        const plan = index % planNames.length
        const type = typeNames[Math.floor(index / planNames.length)]!
        return [`${planNames[plan]} ${type}`, { ...one, standard: isDerived(plan) ? null : one.standard }]
      }),
    ),
    cells,
    rules: [...rules.values()],
    ages: [
      { name: 'INFANT', from: 0, to: random.infantsUntil, kind: 'infant', counts: random.infantsCount },
      { name: 'CHILD', from: random.infantsUntil + 1, to: random.childrenUntil, kind: 'child', counts: true },
      { name: 'ADULT', from: random.childrenUntil + 1, to: null, kind: 'adult', counts: true },
    ],
    taxes: random.taxes.map((rule, index) => ({
      ...rule,
      code: `T${index}`,
      from: day(rule.from) ?? '2020-01-01',
      to: day(rule.to),
    })),
    extras: random.extras.flatMap(({ basis, amount, types, isMandatory }, index) =>
      isMandatory
        ? [{ name: `X${index}`, basis, amount, types: types.map((one) => typeNames[one]!), limited: index === 1 }]
        : [],
    ),
    promo: random.promo && {
      ...random.promo.by,
      plans: random.promo.plans.map((one) => planNames[one]!),
      types: random.promo.types.map((one) => typeNames[one]!),
    },
    free,
  }
}

/** Prices of a calendar, with the days that they are for. */
export const cellsOf = (random: RandomHouse, house: House, season: { from: string; to: string }) =>
  random.cells.map(({ type, from, length, amount, inSeason, weekDays }, index) => ({
    plan: index % 3 === 2 ? ('CODE' as const) : ('FLEX' as const),
    type: typeNames[type]!,
    from: house.day(from),
    to: house.day(from + length),
    inSeason,
    weekDays,
    amount,
    dates: daysIn(house.day(from), house.day(from + length + 1)).filter(
      (date) =>
        (!inSeason || (season.from <= date && date <= season.to)) && (!weekDays || weekDays.includes(weekDay(date))),
    ),
  }))

/** Units that are sold, by pool and night. The last entry for a night counts. */
export const soldOf = (random: RandomHouse, house: House) => [
  ...new Map(
    random.sold.map(({ pool, day, units }) => {
      const name = poolNames[pool]!
      const one = { pool: name, date: house.day(day), units: Math.min(units, capacity[name]) }
      return [`${name} ${one.date}`, one]
    }),
  ).values(),
]

/** The plan and the type of a random stay; a plan behind a code is wanted with the code alone. */
export const wantedOf = (random: RandomHouse, stay: RandomHouse['stays'][number]): { plan: string; type: string } => {
  const opens = random.promo?.plans.includes(4) === true
  return { plan: planNames[stay.plan === 4 && !opens ? 0 : stay.plan]!, type: typeNames[stay.type]! }
}
