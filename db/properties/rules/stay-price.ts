import { textIn } from '../../../config/local-text.ts'
import type { QuotedExtra, QuotedNight, QuotedRoom } from '../../../config/quote.ts'
import { addDays, daysIn } from '../../../config/time.ts'
import { sum } from '../../lib/amounts.ts'
import type { Catalogue, SaleExtra, SalePlan, SaleProperty, SaleType } from '../sale/catalogue.ts'
import { depositSchedule } from './deposits.ts'
import { descent } from './descent.ts'
import type { PriceOf } from './descent.ts'
import { dailyAmount, extraAmount, serviceDates } from './extras.ts'
import type { CountedParty, Party } from './party.ts'
import { losRate, nightPrice, takePromo } from './prices.ts'
import type { PriceStep, Promo } from './prices.ts'
import { addTaxes, extraTaxes, onTop, stayTaxes } from './taxes.ts'
import type { TaxRule } from './taxes.ts'

export type Stay = { arrival: string; departure: string }

/** Data shared by all prices of one evaluation. `taxRules` have their names in the locale. */
export type Pricing = {
  property: SaleProperty
  catalogue: Catalogue
  priceOf: PriceOf
  taxRules: TaxRule[]
  promo: Promo | null
  locale: string
  now: Date
}

const taxRulesIn = new WeakMap<Catalogue, Map<string, TaxRule[]>>()

/** A catalogue's rules with their names in a locale of the property. */
export const localTaxRules = (catalogue: Catalogue, property: SaleProperty, locale: string): TaxRule[] => {
  const byLocale = taxRulesIn.get(catalogue) ?? new Map<string, TaxRule[]>()
  taxRulesIn.set(catalogue, byLocale)
  const key = [locale, ...property.locales].join()
  const rules =
    byLocale.get(key) ??
    catalogue.taxRules.map((rule) => ({ ...rule, name: textIn(rule.name, locale, ...property.locales) }))
  byLocale.set(key, rules)
  return rules
}

type NightOptions = {
  trace?: { date: string; steps: PriceStep[] }[]
  /** Nights by which a discount for long stays is earned, where the nights are not those of one stay. */
  earnedBy?: number
}

/** The price of each night for a party; null on nights without a price. A fixed promo is taken off by the whole stay alone. */
export const nightPrices = (
  pricing: Pricing,
  plan: SalePlan,
  type: SaleType,
  party: CountedParty,
  stay: Stay,
  { trace, earnedBy }: NightOptions = {},
): (number | null)[] => {
  const line = descent(pricing.catalogue, plan)
  const standard = line?.[0]
  const own = plan.unitTypes.find((entry) => entry.unitTypeId === type.id)
  const dates = daysIn(stay.arrival, stay.departure)
  const base = standard?.unitTypes.find((entry) => entry.unitTypeId === type.id)
  if (!line || !standard || !own || !base) return dates.map(() => null)
  const priceOn = pricing.priceOf(standard.id, type.id)
  const night = {
    derivations: line.flatMap(({ id, derivation }) => (derivation ? [{ planId: id, derivation }] : [])),
    occupancy: { ...own, baseOccupancy: type.baseOccupancy },
    party,
    losRate: losRate(plan.losDiscounts, earnedBy ?? dates.length),
    promo: pricing.promo,
  }
  // Most nights of a stay begin with the same price.
  const priced = new Map<number, number>()
  return dates.map((date) => {
    const amount = priceOn(date) ?? base.standardAmount
    if (amount === null) return null
    if (trace) {
      const steps: PriceStep[] = [{ step: 'base', before: amount, after: amount, recordId: standard.id }]
      trace.push({ date, steps })
      return nightPrice(amount, { ...night, trace: steps })
    }
    const same = priced.get(amount)
    if (same !== undefined) return same
    const price = nightPrice(amount, night)
    priced.set(amount, price)
    return price
  })
}

export const extrasOf = (catalogue: Catalogue, type: SaleType) =>
  catalogue.extras.filter((extra) => extra.unitTypeIds.length === 0 || extra.unitTypeIds.includes(type.id))

const nothing: QuotedNight['components'] = []

/** Shares of each night that belong to the extras in the plan; those not of every night are part of the first. */
export const componentsOf = (
  pricing: Pricing,
  plan: SalePlan,
  party: CountedParty,
  amounts: readonly number[],
): QuotedNight['components'][] =>
  amounts.map((amount, index) => {
    if (plan.includedExtras.length === 0) return nothing
    let left = amount
    return plan.includedExtras.flatMap(({ extraId, quantity }) => {
      const extra = pricing.catalogue.extras.find((known) => known.id === extraId)
      const everyNight = extra?.basis === 'per_night' || extra?.basis === 'per_person_per_night'
      if (!extra || (!everyNight && index > 0)) return []
      const share = Math.min(left, dailyAmount(extra.amount, extra.basis, quantity, party.counted))
      left -= share
      return share > 0 ? [{ extraId, amount: share }] : []
    })
  })

const priceExtra = (
  pricing: Pricing,
  extra: SaleExtra,
  quantity: number,
  party: CountedParty,
  stay: Stay,
): QuotedExtra => {
  const nights = daysIn(stay.arrival, stay.departure)
  const { from, until } = serviceDates(extra.basis, stay)
  const daily = dailyAmount(extra.amount, extra.basis, quantity, party.counted)
  const taxes = daysIn(from, addDays(until, 1)).flatMap((date) => extraTaxes(pricing.taxRules, { date, amount: daily }))
  return {
    extraId: extra.id,
    name: textIn(extra.name, pricing.locale, ...pricing.property.locales),
    basis: extra.basis,
    quantity,
    unitAmount: extra.amount,
    amount: extraAmount(extra.amount, extra.basis, quantity, {
      ...stay,
      nights: nights.length,
      persons: party.counted,
    }),
    mandatory: extra.mandatory,
    from,
    until,
    taxes: addTaxes(taxes),
  }
}

const arePriced = (amounts: readonly (number | null)[]): amounts is number[] => !amounts.includes(null)

export type RoomToPrice = {
  plan: SalePlan
  type: SaleType
  party: Party
  counted: CountedParty
  /** Chosen ones; mandatory ones come by themselves. */
  extras: { extraId: string; quantity: number }[]
  /** Amounts of nights that the desk has set (R17 of reservations.md), by date; promo codes do not touch them. */
  manual?: ReadonlyMap<string, number> | undefined
}

/** A room with every line of its price; null where a night has none. Lines sum to the totals exactly. */
export const priceRoom = (pricing: Pricing, room: RoomToPrice, stay: Stay): QuotedRoom | null => {
  const { plan, type, counted } = room
  const dates = daysIn(stay.arrival, stay.departure)
  const full = nightPrices(pricing, plan, type, counted, stay)
  const whole = full.map((amount, index) => amount ?? room.manual?.get(dates[index] ?? '') ?? null)
  if (!arePriced(whole)) return null
  const own = pricing.promo?.type === 'amount' ? takePromo(whole, pricing.promo.value) : whole
  const amounts = room.manual ? own.map((amount, index) => room.manual?.get(dates[index] ?? '') ?? amount) : own
  const components = componentsOf(pricing, plan, counted, amounts)
  const taxesOf = stayTaxes(pricing.taxRules, dates, counted.persons)
  let taxTotal = 0
  const nights: QuotedNight[] = dates.map((date, index) => {
    const amount = amounts[index] ?? 0
    const taxes = taxesOf(index, amount)
    taxTotal += taxes.onTop
    return { date, amount, taxes: taxes.lines, components: components[index] ?? nothing }
  })
  const offered = extrasOf(pricing.catalogue, type)
  const chosen = new Map(room.extras.map((extra) => [extra.extraId, extra.quantity]))
  const extras = offered.flatMap((extra) => {
    const quantity = chosen.get(extra.id) ?? (extra.mandatory ? 1 : 0)
    return quantity > 0 ? [priceExtra(pricing, extra, quantity, counted, stay)] : []
  })
  const roomTotal = sum(amounts)
  const extrasTotal = sum(extras.map((extra) => extra.amount))
  for (const extra of extras) taxTotal += onTop(extra.taxes)
  const total = roomTotal + extrasTotal + taxTotal
  const { property, now } = pricing
  return {
    unitTypeId: type.id,
    ratePlanId: plan.id,
    adults: room.party.adults,
    childrenAges: room.party.childrenAges,
    arrival: stay.arrival,
    departure: stay.departure,
    nights,
    extras,
    roomTotal,
    extrasTotal,
    taxTotal,
    total,
    policies: {
      cancellation: plan.cancellation.versionId,
      noShow: plan.noShow.versionId,
      deposit: plan.deposit?.versionId ?? null,
    },
    deposits: depositSchedule(plan.deposit?.rules ?? null, {
      arrival: stay.arrival,
      checkInFrom: property.checkInFrom,
      timeZone: property.timezone,
      nights: amounts,
      total,
      now,
    }).map((line) => ({ dueAt: line.dueAt?.toISOString() ?? null, amount: line.amount })),
  }
}
