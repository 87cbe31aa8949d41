import type { QuotedTax } from '../../../config/quote.ts'
import { scaled, shareOf, split, sum } from '../../lib/amounts.ts'

export type TaxRule = {
  id: string
  code: string
  name: string
  basis: 'percent' | 'per_night' | 'per_stay' | 'per_person_per_night'
  rate: number | null
  amount: number | null
  included: boolean
  appliesTo: 'room' | 'extras' | 'both'
  exemptAgeCategoryIds: readonly string[]
  maxNights: number | null
  validFrom: string
  validTo: string | null
}

const validOn = (rule: TaxRule, date: string) =>
  rule.validFrom <= date && (rule.validTo === null || date <= rule.validTo)
const line = (rule: TaxRule, amount: number): QuotedTax => ({
  taxRuleId: rule.id,
  code: rule.code,
  name: rule.name,
  included: rule.included,
  amount,
})

/** Percentages of one price. Included ones are extracted together and split; those on top are each of the price as it stands. */
const percentages = (rules: readonly TaxRule[], price: number): QuotedTax[] => {
  const included = rules.filter((rule) => rule.included)
  const rates = included.map((rule) => rule.rate ?? 0)
  const together = sum(rates)
  const extracted = split(scaled(price, together, 10_000 + together), rates)
  return [
    ...included.map((rule, index) => line(rule, extracted[index] ?? 0)),
    ...rules.filter((rule) => !rule.included).map((rule) => line(rule, shareOf(price, rule.rate ?? 0))),
  ]
}

export type TaxedNight = {
  date: string
  /** 0 on the day of arrival. */
  index: number
  amount: number
  /** Age category of each person; null where it has no id. */
  persons: readonly (string | null)[]
}

/** Lines of one night, shared by all nights that are taxed alike, and what they put on top of its price. */
export type NightTaxes = { lines: QuotedTax[]; onTop: number }
/** By the amount. */
type Taxed = Map<number, NightTaxes>

/** Rules that hold together on some dates. */
type TaxedAlike = {
  rules: TaxRule[]
  hangsOnIndex: boolean
  /** Taxes of a party, by the index of the night if rules depend on it, else by 0. */
  lines: WeakMap<TaxedNight['persons'], Map<number, Taxed>>
}
type KeptTaxes = {
  dates: Map<string, TaxedAlike>
  /** By the ids of the rules; dates with the same ones share one. */
  alike: Map<string, TaxedAlike>
  /** Taxes of a party, by the list of nights. */
  stays: WeakMap<TaxedNight['persons'], Map<readonly string[], ((amount: number) => NightTaxes)[]>>
}
const kept = new WeakMap<readonly TaxRule[], KeptTaxes>()
const mostDates = 2_000
const keptFor = (rules: readonly TaxRule[]) =>
  known(kept, rules, () => ({ dates: new Map(), alike: new Map(), stays: new WeakMap() }))

const taxedOn = (rules: readonly TaxRule[], date: string): TaxedAlike => {
  const due = rules.filter((rule) => rule.appliesTo !== 'extras' && validOn(rule, date))
  const hangsOnIndex = due.some((rule) => rule.maxNights !== null || rule.basis === 'per_stay')
  return { rules: due, hangsOnIndex, lines: new WeakMap() }
}

const known = <Key, Value>(
  values: { get: (key: Key) => Value | undefined; set: (key: Key, value: Value) => unknown },
  key: Key,
  make: () => Value,
): Value => {
  const there = values.get(key)
  if (there !== undefined) return there
  const made = make()
  values.set(key, made)
  return made
}

/**
 * Taxes of the nights of a stay for some persons, by the index of the night and its amount; by the rules valid on its date. A tax per stay
 * is taken on the first night. Computed once for all nights of one list of rules and one list of persons that are taxed alike, as most of
 * a search are.
 */
export const stayTaxes = (
  rules: readonly TaxRule[],
  dates: readonly string[],
  persons: TaxedNight['persons'],
): ((index: number, amount: number) => NightTaxes) => {
  const { stays } = keptFor(rules)
  const ofParty = known(stays, persons, () => new Map<readonly string[], ((amount: number) => NightTaxes)[]>())
  const days = known(ofParty, dates, () => dates.map((date, index) => dayTaxes(rules, { date, index, persons })))
  return (index, amount) => days[index]!(amount)
}

const dayTaxes = (rules: readonly TaxRule[], night: Omit<TaxedNight, 'amount'>): ((amount: number) => NightTaxes) => {
  const { dates, alike } = keptFor(rules)
  if (dates.size > mostDates) dates.clear()
  const day = known(dates, night.date, () => {
    const made = taxedOn(rules, night.date)
    return known(alike, made.rules.map((rule) => rule.id).join(), () => made)
  })
  const ofParty = known(day.lines, night.persons, () => new Map<number, Taxed>())
  const byAmount = known(ofParty, day.hangsOnIndex ? night.index : 0, () => new Map<number, NightTaxes>())
  return (amount) => {
    const there = byAmount.get(amount)
    if (there !== undefined) return there
    const lines = taxesOf(day.rules, { ...night, amount })
    const made = { lines, onTop: onTop(lines) }
    byAmount.set(amount, made)
    return made
  }
}

/** Taxes of one night. */
export const nightTaxes = (rules: readonly TaxRule[], { amount, ...night }: TaxedNight): QuotedTax[] =>
  dayTaxes(rules, night)(amount).lines

const taxesOf = (rules: readonly TaxRule[], night: TaxedNight): QuotedTax[] => {
  const due = rules.filter((rule) => rule.maxNights === null || night.index < rule.maxNights)
  const fixed = due.flatMap((rule) => {
    const amount = rule.amount ?? 0
    if (rule.basis === 'per_night') return [line(rule, amount)]
    if (rule.basis === 'per_stay') return night.index === 0 ? [line(rule, amount)] : []
    if (rule.basis !== 'per_person_per_night') return []
    return [
      line(
        rule,
        amount *
          night.persons.filter((person) => person === null || !rule.exemptAgeCategoryIds.includes(person)).length,
      ),
    ]
  })
  return [
    ...percentages(
      due.filter((rule) => rule.basis === 'percent'),
      night.amount,
    ),
    ...fixed,
  ].filter((tax) => tax.amount > 0)
}

/** Taxes of one day's service of an extra. */
export const extraTaxes = (rules: readonly TaxRule[], service: { date: string; amount: number }): QuotedTax[] =>
  percentages(
    rules.filter((rule) => rule.appliesTo !== 'room' && rule.basis === 'percent' && validOn(rule, service.date)),
    service.amount,
  ).filter((tax) => tax.amount > 0)

/** Lines of one rule added up, in the order of their first appearance. */
export const addTaxes = (lines: readonly QuotedTax[]): QuotedTax[] => addTaxesOf([{ taxes: lines }])

/** Adds up the taxes of several sets of lines, such as nights and extras. */
export const addTaxesOf = (...parts: readonly (readonly { taxes: readonly QuotedTax[] }[])[]): QuotedTax[] => {
  const totals: QuotedTax[] = []
  for (const lines of parts)
    for (const { taxes } of lines)
      for (const tax of taxes) {
        // There are few rules, and their order seldom changes from night to night.
        const total = totals.find(({ taxRuleId }) => taxRuleId === tax.taxRuleId)
        if (total) total.amount += tax.amount
        else totals.push({ ...tax })
      }
  return totals
}

/** Amount that taxes add to a price; included taxes are part of it already. */
export const onTop = (lines: readonly Pick<QuotedTax, 'included' | 'amount'>[]) =>
  lines.reduce((total, tax) => total + (tax.included ? 0 : tax.amount), 0)
