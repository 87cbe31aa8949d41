import type { QuotedTax } from '../../../config/quote.ts'
import { halfUp, shareOf, split } from './amounts.ts'

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
  const together = rates.reduce((total, rate) => total + BigInt(rate), 0n)
  const extracted = split(Number(halfUp(BigInt(price) * together, 10_000n + together)), rates)
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

/** Rules that hold together on some dates. */
type TaxedAlike = {
  rules: TaxRule[]
  hangsOnIndex: boolean
  /** Of a party, by the index of the night where the rules hang on it, else by 0: lines by the amount. */
  lines: WeakMap<TaxedNight['persons'], Map<number, Map<number, QuotedTax[]>>>
}
type KeptTaxes = {
  dates: Map<string, TaxedAlike>
  /** By the ids of the rules; dates with the same ones share one. */
  alike: Map<string, TaxedAlike>
}
const kept = new WeakMap<readonly TaxRule[], KeptTaxes>()

const taxedOn = (rules: readonly TaxRule[], date: string): TaxedAlike => {
  const due = rules.filter((rule) => rule.appliesTo !== 'extras' && validOn(rule, date))
  const hangsOnIndex = due.some((rule) => rule.maxNights !== null || rule.basis === 'per_stay')
  return { rules: due, hangsOnIndex, lines: new WeakMap() }
}

const known = <Key, Value>(values: Map<Key, Value>, key: Key, make: () => Value): Value => {
  const there = values.get(key)
  if (there !== undefined) return there
  const made = make()
  values.set(key, made)
  return made
}

/**
 * Taxes of a night, by the rules valid on its date. A tax per stay is taken on the first night. Computed once for all nights of one list
 * of rules and one list of persons that are taxed alike, as most of a search are: the lines are shared.
 */
export const nightTaxes = (rules: readonly TaxRule[], night: TaxedNight): QuotedTax[] => {
  const { dates, alike } = kept.get(rules) ?? {
    dates: new Map<string, TaxedAlike>(),
    alike: new Map<string, TaxedAlike>(),
  }
  kept.set(rules, { dates, alike })
  const day = known(dates, night.date, () => {
    const made = taxedOn(rules, night.date)
    return known(alike, made.rules.map((rule) => rule.id).join(), () => made)
  })
  const ofParty = day.lines.get(night.persons) ?? new Map<number, Map<number, QuotedTax[]>>()
  day.lines.set(night.persons, ofParty)
  const byAmount = known(ofParty, day.hangsOnIndex ? night.index : 0, () => new Map<number, QuotedTax[]>())
  return known(byAmount, night.amount, () => taxesOf(day.rules, night))
}

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
export const addTaxes = (lines: readonly QuotedTax[]): QuotedTax[] => {
  const totals = new Map<string, QuotedTax>()
  for (const tax of lines) {
    const total = totals.get(tax.taxRuleId)
    if (total) total.amount += tax.amount
    else totals.set(tax.taxRuleId, { ...tax })
  }
  return [...totals.values()]
}

/** The same for lines of nights and extras: a list that several of them share is gone through once. */
export const addTaxesOf = (lines: readonly { taxes: readonly QuotedTax[] }[]): QuotedTax[] => {
  const times = new Map<readonly QuotedTax[], number>()
  for (const { taxes } of lines) times.set(taxes, (times.get(taxes) ?? 0) + 1)
  return addTaxes([...times].flatMap(([taxes, count]) => taxes.map((tax) => ({ ...tax, amount: tax.amount * count }))))
}

export const onTop = (lines: readonly QuotedTax[]) =>
  lines.reduce((total, tax) => total + (tax.included ? 0 : tax.amount), 0)
