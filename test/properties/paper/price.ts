import { daysBetween, daysIn } from '../../../config/time.ts'
import type { Adjust, PaperHouse, PaperPlan, PaperRoom, PaperStay, PaperTax } from './house.ts'

type Fraction = { n: bigint; d: bigint }
const whole = (n: number): Fraction => ({ n: BigInt(n), d: 1n })
const plus = (a: Fraction, b: Fraction): Fraction => ({ n: a.n * b.d + b.n * a.d, d: a.d * b.d })
const times = (a: Fraction, n: number, d: number): Fraction => ({ n: a.n * BigInt(n), d: a.d * BigInt(d) })
const floorOf = ({ n, d }: Fraction) => (n >= 0n ? n / d : -((-n + d - 1n) / d))
/** To a multiple of a unit; a half goes up. */
const rounded = (value: Fraction, unit: number, mode: 'nearest' | 'up' | 'down'): number => {
  const parts = times(value, 1, unit)
  const below = floorOf(parts)
  const isWhole = parts.n % parts.d === 0n
  if (mode === 'down' || isWhole) return Number(below) * unit
  if (mode === 'up') return Number(below + 1n) * unit
  return Number(floorOf(plus(parts, { n: 1n, d: 2n }))) * unit
}
const nearest = (value: Fraction) => rounded(value, 1, 'nearest')
const adjusted = (value: Fraction, by: Adjust): Fraction =>
  by.type === 'amount' ? plus(value, whole(by.value)) : times(value, 10_000 + by.value, 10_000)

/** Distributes a whole amount, one unit at a time, to the entry furthest below its share. */
const shared = (amount: number, weights: number[]): number[] => {
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const shares = weights.map((weight) =>
    all === 0 ? { n: BigInt(amount), d: BigInt(weights.length) } : times(whole(amount), weight, all),
  )
  const given = shares.map((share) => Number(floorOf(share)))
  const rest = (index: number) => plus(shares[index]!, whole(-given[index]!))
  const isMore = (a: Fraction, b: Fraction) => a.n * b.d > b.n * a.d
  while (given.reduce((sum, one) => sum + one, 0) < amount) {
    let furthest = 0
    for (const index of given.keys()) if (isMore(rest(index), rest(furthest))) furthest = index
    given[furthest]! += 1
  }
  return given
}

const sum = (amounts: number[]) => amounts.reduce((all, one) => all + one, 0)
export const perNight = (basis: string) => basis === 'per_night' || basis === 'per_person_per_night'

/** A plan and those that it follows, the topmost first. */
export const lineOf = (house: PaperHouse, name: string): PaperPlan[] => {
  const plan = house.plans.find((one) => one.name === name)!
  return plan.parent === null ? [plan] : [...lineOf(house, plan.parent), plan]
}

/** A party by the age bands of the house. */
export const partyOf = (house: PaperHouse, { adults, childrenAges }: PaperStay['rooms'][number]) => {
  const bandOf = (age: number) => house.ages.find((band) => age >= band.from && (band.to === null || age <= band.to))!
  const bands = childrenAges.map(bandOf)
  const children = bands.filter((band) => band.kind !== 'adult')
  const grown = adults + bands.length - children.length
  const adult = house.ages.find((band) => band.kind === 'adult')!.name
  const counted = children.filter((band) => band.counts).length
  return {
    adults: grown,
    children: children.map((band) => band.name),
    persons: [...Array<string>(grown).fill(adult), ...children.map((band) => band.name)],
    countedChildren: counted,
    counted: grown + counted,
  }
}

/** The price of a night; null without one. A promo code of a fixed amount comes later. */
const nightOf = (
  house: PaperHouse,
  stay: PaperStay,
  date: string,
  party: ReturnType<typeof partyOf>,
): number | null => {
  const line = lineOf(house, stay.plan)
  const own = house.prices[`${stay.plan} ${stay.type}`]!
  const start =
    house.cells[`${line[0]!.name} ${stay.type} ${date}`] ?? house.prices[`${line[0]!.name} ${stay.type}`]!.standard
  if (start === null) return null
  let price = start
  for (const { derivation } of line.slice(1))
    price = rounded(adjusted(whole(price), derivation!), derivation!.roundTo, derivation!.mode)
  const type = house.types.find((one) => one.name === stay.type)!
  const entry = own.adults[String(party.adults)]
  let value = entry
    ? adjusted(whole(price), entry)
    : plus(whole(price), whole(Math.max(0, party.adults - type.base) * own.extraAdult))
  for (const name of party.children) {
    const child = own.children.find((one) => one.category === name)
    if (!child) value = plus(value, whole(own.extraAdult))
    else if (child.type === 'amount') value = plus(value, whole(child.value))
    else if (child.type === 'percent') value = plus(value, times(whole(price), child.value, 10_000))
  }
  const nights = daysBetween(stay.arrival, stay.departure)
  const earned = line.at(-1)!.los.filter((one) => one.minNights <= nights)
  if (earned.length > 0) value = times(value, 10_000 - earned.at(-1)!.rate, 10_000)
  if (promoOf(house, stay)?.type === 'percent') value = times(value, 10_000 - house.promo!.value, 10_000)
  return Math.max(0, nearest(value))
}

const promoOf = ({ promo }: PaperHouse, { plan, type }: PaperStay) =>
  promo &&
  (promo.plans.length === 0 || promo.plans.includes(plan)) &&
  (promo.types.length === 0 || promo.types.includes(type))
    ? promo
    : null

/** Amounts by code of what is charged on one price. */
const percentages = (rules: PaperTax[], amount: number): [PaperTax, number][] => {
  const inside = rules.filter((rule) => rule.included)
  const rates = inside.map((rule) => rule.value)
  const together = nearest(times(whole(amount), sum(rates), 10_000 + sum(rates)))
  const parts = rates.length === 0 ? [] : shared(together, rates)
  return [
    ...inside.map((rule, index): [PaperTax, number] => [rule, parts[index]!]),
    ...rules
      .filter((rule) => !rule.included)
      .map((rule): [PaperTax, number] => [rule, nearest(times(whole(amount), rule.value, 10_000))]),
  ]
}

/** Null where a night has no price. */
export const roomOf = (house: PaperHouse, stay: PaperStay, room: PaperStay['rooms'][number]): PaperRoom | null => {
  const party = partyOf(house, room)
  const dates = daysIn(stay.arrival, stay.departure)
  const found = dates.map((date) => nightOf(house, stay, date, party))
  if (found.includes(null)) return null
  let nights = found.map((amount) => amount!)
  const promo = promoOf(house, stay)
  if (promo?.type === 'amount') {
    const off = shared(Math.min(promo.value, sum(nights)), nights)
    nights = nights.map((amount, index) => amount - off[index]!)
  }
  const taxes: Record<string, number> = {}
  let onTop = 0
  const charge = ([rule, amount]: [PaperTax, number]) => {
    if (amount === 0) return
    taxes[rule.code] = (taxes[rule.code] ?? 0) + amount
    if (!rule.included) onTop += amount
  }
  const validOn = (date: string) =>
    house.taxes.filter((rule) => rule.from <= date && (rule.to === null || date <= rule.to))
  for (const [index, date] of dates.entries()) {
    const due = validOn(date).filter(
      (rule) => rule.appliesTo !== 'extras' && (rule.maxNights === null || index < rule.maxNights),
    )
    for (const line of percentages(
      due.filter((rule) => rule.basis === 'percent'),
      nights[index]!,
    ))
      charge(line)
    for (const rule of due) {
      if (rule.basis === 'per_night') charge([rule, rule.value])
      if (rule.basis === 'per_stay' && index === 0) charge([rule, rule.value])
      if (rule.basis === 'per_person_per_night')
        charge([rule, rule.value * party.persons.filter((person) => !rule.exempt.includes(person)).length])
    }
  }
  let extras = 0
  for (const extra of house.extras) {
    if (extra.types.length > 0 && !extra.types.includes(stay.type)) continue
    const people = extra.basis === 'per_person' || extra.basis === 'per_person_per_night' ? party.counted : 1
    for (const date of perNight(extra.basis) ? dates : [stay.arrival]) {
      extras += extra.amount * people
      const due = validOn(date).filter((rule) => rule.appliesTo !== 'room' && rule.basis === 'percent')
      for (const line of percentages(due, extra.amount * people)) charge(line)
    }
  }
  return { nights, taxes, extras, total: sum(nights) + extras + onTop }
}
