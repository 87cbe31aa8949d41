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

type KeptTaxes = {
  /** Rules of a date; dates with the same rules share one list. */
  dates: Map<string, { rules: TaxRule[]; key: string; hangsOnIndex: boolean }>
  lines: Map<string, QuotedTax[]>
}
const kept = new WeakMap<readonly TaxRule[], KeptTaxes>()

/**
 * Taxes of a night, by the rules valid on its date. A tax per stay is taken on the first night. Computed once for all nights of one list
 * of rules that are taxed alike, as most of a search are: the lines are shared.
 */
export const nightTaxes = (rules: readonly TaxRule[], night: TaxedNight): QuotedTax[] => {
  const known = kept.get(rules) ?? { dates: new Map(), lines: new Map<string, QuotedTax[]>() }
  kept.set(rules, known)
  let day = known.dates.get(night.date)
  if (!day) {
    const due = rules.filter((rule) => rule.appliesTo !== 'extras' && validOn(rule, night.date))
    const hangsOnIndex = due.some((rule) => rule.maxNights !== null || rule.basis === 'per_stay')
    day = { rules: due, key: due.map((rule) => rule.id).join(), hangsOnIndex }
    known.dates.set(night.date, day)
  }
  const key = `${night.amount} ${day.hangsOnIndex ? night.index : ''} ${night.persons.join()} ${day.key}`
  const lines = known.lines.get(key) ?? taxesOf(day.rules, night)
  known.lines.set(key, lines)
  return lines
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
    const known = totals.get(tax.taxRuleId)
    totals.set(tax.taxRuleId, known ? { ...known, amount: known.amount + tax.amount } : tax)
  }
  return [...totals.values()]
}

export const onTop = (lines: readonly QuotedTax[]) =>
  lines.reduce((total, tax) => total + (tax.included ? 0 : tax.amount), 0)
