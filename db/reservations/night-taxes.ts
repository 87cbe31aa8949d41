import type { QuotedNight } from '../../config/quote.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { catalogueOf, countParty, localTaxRules, nightTaxes } from '../properties/index.ts'
import type { SaleProperty, TaxedNight, TaxRule } from '../properties/index.ts'
import type { ReservationNightRow, ReservationRow } from '../rows.ts'

type Taxes = QuotedNight['taxes']

/** Rules of taxes that hang on how many nights come before: once a stay, or for its first nights. */
const movingRules = (rules: readonly TaxRule[]): ReadonlySet<string> =>
  new Set(rules.filter((rule) => rule.basis === 'per_stay' || rule.maxNights !== null).map((rule) => rule.id))

/** Those of them that some nights have: a tax that a channel's price leaves out is not added. */
const movingAmong = (rules: readonly TaxRule[], nights: readonly { taxes: Taxes }[]): ReadonlySet<string> => {
  const taken = new Set(nights.flatMap(({ taxes }) => taxes.map((tax) => tax.taxRuleId)))
  return new Set([...movingRules(rules)].filter((id) => taken.has(id)))
}

const withMoved = (taxes: Taxes, moving: ReadonlySet<string>, due: Taxes): Taxes => [
  ...taxes.filter((tax) => !moving.has(tax.taxRuleId)),
  ...due,
]

/**
 * Taxes of a night that keeps its price, where another number of nights comes before it: those that hang on that are taken anew, as far as the nights of the stay
 * have them.
 */
export const retaxed = (
  rules: readonly TaxRule[],
  { taxes }: { taxes: Taxes },
  night: TaxedNight,
  stay: readonly { taxes: unknown }[],
): Taxes => {
  const moving = movingAmong(rules, stay as readonly { taxes: Taxes }[])
  if (moving.size === 0) return taxes
  return withMoved(
    taxes,
    moving,
    nightTaxes(rules, night).filter((tax) => moving.has(tax.taxRuleId)),
  )
}

/**
 * The nights of a price without some of its days, which are missed or paid for otherwise. Taxes that are taken once a stay, or of its first nights, are those
 * of the first that are left.
 */
export const withoutDays = <Night extends { date: string; amount: number; taxes: Taxes }>(
  rules: readonly TaxRule[],
  nights: readonly Night[],
  persons: TaxedNight['persons'],
  gone: ReadonlySet<string>,
): Night[] => {
  const left = nights.filter(({ date }) => !gone.has(date))
  const moving = movingAmong(rules, nights)
  if (left.length === nights.length || moving.size === 0) return left
  return left.map((night, index) => {
    const { date, amount, taxes } = night
    const due = nightTaxes(rules, { date, index, amount, persons }).filter((tax) => moving.has(tax.taxRuleId))
    return { ...night, taxes: withMoved(taxes, moving, due) }
  })
}

/** The number of nights that are paid for before each night. Waived ones are never charged, nor are their taxes. */
export const taxPlaces = (
  dates: readonly string[],
  nights: ReadonlyMap<string, Pick<ReservationNightRow, 'status'>>,
): ReadonlyMap<string, number> => {
  let paid = 0
  return new Map(
    dates.map((date) => {
      const place = paid
      if (nights.get(date)?.status !== 'waived') paid += 1
      return [date, place]
    }),
  )
}

const rulesOf = (taxes: Taxes) =>
  taxes
    .map((tax) => tax.taxRuleId)
    .sort()
    .join()

/**
 * Brings the taxes of a stay that were taken of its first nights to the first nights that are still charged, where others were missed or waived. A tax that
 * no night of the stay has, such as one that a channel's price leaves out, is not added.
 */
export const moveFirstTaxes = async (
  trx: Trx,
  property: SaleProperty,
  stay: Pick<ReservationRow, 'id' | 'adults' | 'childrenAges'>,
): Promise<void> => {
  const rows = await sql<ReservationNightRow>(
    trx,
    `select * from reservation_night where reservation_id = ? order by date`,
    [stay.id],
  )
  const nights = rows.map((row) => ({ ...row, taxes: row.taxes as Taxes }))
  const catalogue = await catalogueOf(trx, property)
  const rules = localTaxRules(catalogue, property, property.locales[0] ?? 'en')
  const moving = movingAmong(rules, nights)
  if (moving.size === 0) return
  const { persons } = countParty(catalogue, stay)
  const changed = nights
    .filter(({ status }) => status === 'open' || status === 'charged')
    .flatMap(({ date, amount, status, taxes }, index) => {
      const due = nightTaxes(rules, { date, index, amount, persons }).filter((tax) => moving.has(tax.taxRuleId))
      const has = taxes.filter((tax) => moving.has(tax.taxRuleId))
      return status === 'charged' || rulesOf(due) === rulesOf(has)
        ? []
        : [{ date, taxes: withMoved(taxes, moving, due) }]
    })
  if (changed.length === 0) return
  await sql(
    trx,
    `update reservation_night n set taxes = v.taxes from jsonb_to_recordset(?::jsonb) as v (date date, taxes jsonb)
     where n.reservation_id = ? and n.date = v.date`,
    [JSON.stringify(changed), stay.id],
  )
}
