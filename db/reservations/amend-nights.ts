import { unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import type { QuotedNight } from '../../config/quote.ts'
import { daysIn } from '../../config/time.ts'
import type { Trx } from '../lib/connection.ts'
import {
  readPrices,
  catalogueOf,
  countParty,
  componentsOf,
  localTaxRules,
  nightPrices,
  nightTaxes,
} from '../properties/index.ts'
import type { Catalogue, SalePlan, SaleProperty, SaleType, Party } from '../properties/index.ts'
import type { ReservationNightRow, ReservationRow } from '../rows.ts'
import { retaxed, taxPlaces } from './night-taxes.ts'

export type AmendedNight = QuotedNight & Pick<ReservationNightRow, 'unitTypeId' | 'ratePlanId' | 'status'>

/** Unit type and rate plan of a night. */
export type Sale = Pick<ReservationNightRow, 'unitTypeId' | 'ratePlanId'>

export type Target = {
  arrival: string
  departure: string
  party: Party
  /** Type and plan of nights from `from` on; undefined ones stay as they are. */
  sale: { unitTypeId: string | undefined; ratePlanId: string | undefined }
  /** Nights before it keep type and plan. */
  from: string
  /** Nights that were given back and are over: they are no part of the stay any more. */
  missed?: ReadonlySet<string>
  /** Prices set elsewhere, such as by a channel; null uses the property's own. */
  priced: readonly QuotedNight[] | null
  /** Every open night gets the price of today. */
  allAnew: boolean
  /** Nights that stand keep their price for another type, too: an upgrade. */
  keepsPrice?: boolean
  /** Prices that the desk sets, by date. */
  manual?: ReadonlyMap<string, number>
}

export type Before = {
  arrival: string
  nights: readonly ReservationNightRow[]
  isParted: boolean
  isFixed: (night: ReservationNightRow) => boolean
}

/** Nights that no change reaches: charged, waived or over. */
export const fixedNights =
  ({ status }: Pick<ReservationRow, 'status'>, businessDate: string) =>
  (night: Pick<ReservationNightRow, 'status' | 'date'>): boolean =>
    night.status !== 'open' || (status === 'checked_in' && night.date < businessDate)

/** Nights that were given back and are over, of a stay that stands: its guest came later, after a no-show. */
export const missedNights = (
  nights: readonly Pick<ReservationNightRow, 'status' | 'date'>[],
  businessDate: string,
): ReadonlySet<string> =>
  new Set(nights.filter(({ status, date }) => status === 'released' && date < businessDate).map(({ date }) => date))

const keyOf = ({ unitTypeId, ratePlanId }: Sale) => `${unitTypeId} ${ratePlanId}`

/** Type and plan of each night of an amended stay: as asked, else as before; an added night takes those of its neighbour. */
export const salesOf = (
  { arrival, departure, from, sale, missed }: Target,
  { nights, isFixed }: Pick<Before, 'nights' | 'isFixed'>,
): ReadonlyMap<string, Sale> => {
  const known = new Map(nights.map((night) => [night.date, night]))
  const dates = daysIn(arrival, departure).filter((date) => missed?.has(date) !== true)
  return new Map(
    dates.map((date) => {
      const own = known.get(date) ?? nights.findLast((night) => night.date < date) ?? nights[0]
      if (!own) throw new Error('a stay without nights')
      const stays = date < from || (known.has(date) && isFixed(own))
      const { unitTypeId, ratePlanId } = own
      return [
        date,
        stays
          ? { unitTypeId, ratePlanId }
          : { unitTypeId: sale.unitTypeId ?? unitTypeId, ratePlanId: sale.ratePlanId ?? ratePlanId },
      ]
    }),
  )
}

/** Dates of each type and plan. */
export const bySale = (
  dates: readonly string[],
  sales: ReadonlyMap<string, Sale>,
): { sale: Sale; dates: string[] }[] => {
  const groups = new Map<string, { sale: Sale; dates: string[] }>()
  for (const date of dates) {
    const sale = sales.get(date)
    if (!sale) continue
    const group = groups.get(keyOf(sale)) ?? { sale, dates: [] }
    group.dates.push(date)
    groups.set(keyOf(sale), group)
  }
  return [...groups.values()]
}

const asNight = ({ date, amount, taxes, components, unitTypeId, ratePlanId, status }: ReservationNightRow) => ({
  date,
  amount,
  taxes: taxes as QuotedNight['taxes'],
  components: components as QuotedNight['components'],
  unitTypeId,
  ratePlanId,
  status,
})

/** 422 for a type and plan that are not sold together. */
export const soldHere = (catalogue: Catalogue, target: Sale): { type: SaleType; plan: SalePlan } => {
  const type = catalogue.unitTypes.find((one) => one.id === target.unitTypeId)
  const plan = catalogue.ratePlans.find((one) => one.id === target.ratePlanId)
  const errors: FieldError[] = [
    ...(type ? [] : [{ field: 'unitTypeId', message: 'is not sold here' }]),
    ...(plan?.unitTypes.some((entry) => entry.unitTypeId === target.unitTypeId) === true
      ? []
      : [{ field: 'ratePlanId', message: 'is not sold for this type' }]),
  ]
  if (!type || !plan || errors.length > 0)
    throw unprocessable('reference_not_found', 'The stay cannot be sold so', errors)
  return { type, plan }
}

/**
 * The nights of an amended stay (R18): charged and past ones as they are, kept ones at their price unless type, plan or party changed,
 * all others by the one evaluator. 422 where a night has no price.
 */
export const amendedNights = async (
  trx: Trx,
  property: SaleProperty,
  target: Target,
  { arrival: began, nights: before, isParted, isFixed }: Before,
  sales: ReadonlyMap<string, Sale>,
): Promise<AmendedNight[]> => {
  const { arrival, departure, priced } = target
  const known = new Map(before.map((night) => [night.date, night]))
  const dates = [...sales.keys()]
  const isKept = (date: string) => {
    const night = known.get(date)
    const sale = sales.get(date)
    if (!night || !sale) return false
    if (isFixed(night)) return true
    if (target.manual?.has(date)) return false
    return !priced && !target.allAnew && !isParted && keyOf(night) === keyOf(sale)
  }
  const isUpgraded = (date: string) =>
    target.keepsPrice === true && !priced && !target.allAnew && !isParted && !target.manual?.has(date)
  const wanted = bySale(
    dates.filter((date) => !isKept(date)),
    sales,
  )
  const places = taxPlaces(dates, known)
  const made = new Map((priced ?? []).map((night) => [night.date, night]))
  for (const one of priced ? [] : wanted)
    for (const night of await evaluated(trx, property, target, one.sale, places))
      if (one.dates.includes(night.date)) made.set(night.date, night)
  const catalogue = await catalogueOf(trx, property)
  const rules = localTaxRules(catalogue, property, property.locales[0] ?? 'en')
  const { persons } = countParty(catalogue, target.party)
  return daysIn(arrival, departure).flatMap((date) => {
    const sale = sales.get(date)
    if (!sale) return []
    const night = known.get(date)
    const index = places.get(date) ?? 0
    if (night && (isKept(date) || isUpgraded(date))) {
      const kept = { ...asNight(night), ...sale }
      if (arrival === began || isFixed(night)) return [kept]
      return [{ ...kept, taxes: retaxed(rules, kept, { date, index, amount: kept.amount, persons }, before) }]
    }
    const price = made.get(date)
    if (!price)
      throw unprocessable('restriction_violated', 'The stay is not possible at this rate', [
        { field: `nights.${date}`, message: 'price_missing: a night has no price' },
      ])
    return [{ ...price, ...sale, status: 'open' as const }]
  })
}

const evaluated = async (
  trx: Trx,
  property: SaleProperty,
  { arrival, departure, party, manual }: Target,
  sale: Sale,
  places: ReadonlyMap<string, number>,
): Promise<QuotedNight[]> => {
  const catalogue = await catalogueOf(trx, property)
  const { type, plan } = soldHere(catalogue, sale)
  const range = { catalogue, plans: [plan], unitTypeIds: [type.id], from: arrival, until: departure }
  const locale = property.locales[0] ?? 'en'
  const taxRules = localTaxRules(catalogue, property, locale)
  const pricing = {
    property,
    catalogue,
    priceOf: await readPrices(trx, range),
    taxRules,
    promo: null,
    locale,
    now: property.now,
  }
  const counted = countParty(catalogue, party)
  const dates = daysIn(arrival, departure)
  const listed = nightPrices(pricing, plan, type, counted, { arrival, departure })
  // A price that the desk sets stands for the plan's, so that its taxes and components are its own (R17).
  const amounts = listed.map((amount, index) => manual?.get(dates[index] ?? '') ?? amount)
  const components = componentsOf(
    pricing,
    plan,
    counted,
    amounts.map((amount) => amount ?? 0),
  )
  return dates.flatMap((date, index) => {
    const amount = amounts[index]
    if (amount === null || amount === undefined) return []
    return [
      {
        date,
        amount,
        taxes: nightTaxes(taxRules, { date, index: places.get(date) ?? index, amount, persons: counted.persons }),
        components: components[index] ?? [],
      },
    ]
  })
}

/** Today's prices of the plans, by date, for the nights whose price the desk sets; nights without one are left out. */
export const listedPrices = async (
  trx: Trx,
  property: SaleProperty,
  { manual = new Map(), ...target }: Target,
  sales: ReadonlyMap<string, Sale>,
): Promise<ReadonlyMap<string, number>> => {
  const listed = new Map<string, number>()
  for (const { sale, dates } of bySale([...manual.keys()], sales))
    for (const { date, amount } of await evaluated(trx, property, target, sale, new Map()))
      if (dates.includes(date)) listed.set(date, amount)
  return listed
}
