import type { QuotedRoom } from '../../config/quote.ts'
import { addDays, daysIn, todayIn } from '../../config/time.ts'
import type { Trx } from '../connection.ts'
import { freeOn, readNights } from '../units/availability.ts'
import { readPrices, readRestrictions } from './calendar.ts'
import { catalogueOf } from './catalogue.ts'
import type { SalePlan, SaleType } from './catalogue.ts'
import { countParty, fits } from './party.ts'
import type { Party } from './party.ts'
import { localTaxRules, nightPrices, priceRoom } from './price.ts'
import { dueNow } from './rules/deposits.ts'
import { sum } from './rules/amounts.ts'
import {
  isSelling,
  localeOf,
  openSale,
  planIsOffered,
  promoFor,
  propertyFor,
  typeIsOffered,
  violations,
} from './sale.ts'
import type { Audience, Sale } from './sale.ts'

export type SearchRequest = {
  propertyId: string
  arrival: string
  departure: string
  /** All of one type and plan. */
  rooms: Party[]
  promoCode?: string | null | undefined
  ratePlanIds?: string[] | undefined
  unitTypeIds?: string[] | undefined
  audience: Audience
  locale?: string | undefined
}

export type Offer = { type: SaleType; plan: SalePlan; free: number; rooms: QuotedRoom[]; total: number; dueNow: number }
export type Refusal = { type: SaleType; plan: SalePlan; codes: string[] }
export type Found = { sale: Sale; offers: Offer[]; unavailable: Refusal[] }

const most = 200

/** Pairs of a type and a plan that the audience may see, by the order of the catalogue. */
export const pairsOf = (
  sale: Pick<Sale, 'catalogue' | 'audience' | 'promo'>,
  unitTypeIds?: string[],
  ratePlanIds?: string[],
) =>
  sale.catalogue.unitTypes
    .filter((type) => typeIsOffered(sale, type) && (!unitTypeIds || unitTypeIds.includes(type.id)))
    .flatMap((type) =>
      sale.catalogue.ratePlans
        .filter(
          (plan) =>
            planIsOffered(sale, plan) &&
            plan.unitTypes.some((entry) => entry.unitTypeId === type.id) &&
            (!ratePlanIds || ratePlanIds.includes(plan.id)),
        )
        .map((plan) => ({ type, plan })),
    )

/**
 * Offers for a stay, cheapest first, and why the others are none. Six queries whatever the number of plans, types and nights:
 * property, catalogue, promo code, prices, restrictions, counters.
 */
export const searchOffers = async (trx: Trx, request: SearchRequest): Promise<Found> => {
  const sale = await openSale(trx, { ...request, rooms: request.rooms.length })
  const { arrival, departure } = sale.stay
  const pairs = pairsOf(sale, request.unitTypeIds, request.ratePlanIds)
  if (!isSelling(sale.property, request.audience))
    return { sale, offers: [], unavailable: pairs.map((pair) => ({ ...pair, codes: ['property_not_selling'] })) }

  const types = [...new Set(pairs.map((pair) => pair.type))]
  const limited = sale.catalogue.extras.flatMap((extra) => (extra.mandatory && extra.poolId ? [extra.poolId] : []))
  const poolIds = [...new Set([...types.flatMap((type) => type.pools.map((share) => share.poolId)), ...limited])]
  const range = {
    catalogue: sale.catalogue,
    plans: [...new Set(pairs.map((pair) => pair.plan))],
    unitTypeIds: types.map((type) => type.id),
    from: arrival,
    until: departure,
  }
  const priceOf = await readPrices(trx, range)
  const restrictionOf = await readRestrictions(trx, request.propertyId, range)
  const counters = await readNights(trx, poolIds, arrival, departure)
  const taxRules = localTaxRules(sale.catalogue, sale.property, sale.locale)
  const counted = request.rooms.map((party) => countParty(sale.catalogue, party))

  const offers: Offer[] = []
  const unavailable: Refusal[] = []
  for (const { type, plan } of pairs) {
    const free = daysIn(arrival, departure).map((night) => freeOn(counters, type.pools, night))
    const left = free.includes(null) ? 0 : Math.min(...free.map((units) => units ?? 0))
    const pricing = {
      property: sale.property,
      catalogue: sale.catalogue,
      priceOf,
      taxRules,
      promo: promoFor(sale, plan.id, type.id),
      locale: sale.locale,
      now: sale.now,
    }
    const rooms = request.rooms.flatMap(
      (party, index) =>
        priceRoom(pricing, { plan, type, party, counted: counted[index]!, extras: [] }, sale.stay) ?? [],
    )
    const codes = [
      ...(counted.every((party) => fits(type, party)) ? [] : ['occupancy_exceeded']),
      ...new Set(violations(sale, restrictionOf, plan, type).map((check) => check.code)),
      ...(free.includes(null) ? ['beyond_horizon'] : left < request.rooms.length ? ['sold_out'] : []),
      ...(rooms.length < request.rooms.length ? ['price_missing'] : []),
      ...(limitedExtraShort(sale, type, request.rooms.length, counters) ? ['extra_unavailable'] : []),
    ]
    if (codes.length > 0) unavailable.push({ type, plan, codes })
    else
      offers.push({
        type,
        plan,
        free: left,
        rooms,
        total: sum(rooms.map((room) => room.total)),
        dueNow: sum(rooms.map((room) => dueNow(room.deposits))),
      })
  }
  return { sale, offers: offers.sort((a, b) => a.total - b.total).slice(0, most), unavailable }
}

const limitedExtraShort = (
  sale: Sale,
  type: SaleType,
  rooms: number,
  counters: Awaited<ReturnType<typeof readNights>>,
): boolean =>
  sale.catalogue.extras
    .filter(
      (extra) =>
        extra.mandatory &&
        extra.poolId !== null &&
        (extra.unitTypeIds.length === 0 || extra.unitTypeIds.includes(type.id)),
    )
    .some((extra) => {
      const nights =
        extra.basis === 'per_night' || extra.basis === 'per_person_per_night'
          ? daysIn(sale.stay.arrival, sale.stay.departure)
          : [sale.stay.arrival]
      return nights.some(
        (night) => (freeOn(counters, [{ poolId: extra.poolId ?? '', quantity: 1 }], night) ?? 0) < rooms,
      )
    })

export type DayOffer = {
  date: string
  open: boolean
  lowestAmount: number | null
  minStay: number | null
  closedToArrival: boolean
  closedToDeparture: boolean
}

export type DaysRequest = {
  propertyId: string
  from: string
  until: string
  party: Party
  unitTypeIds?: string[] | undefined
  audience: Audience
  locale?: string | undefined
}

/** What each day looks like over all plans and types: `from` and `until` both included. Prices are those of one night. */
export const searchDays = async (trx: Trx, request: DaysRequest): Promise<{ currency: string; days: DayOffer[] }> => {
  const property = await propertyFor(trx, request.propertyId, request.audience)
  const catalogue = await catalogueOf(trx, property)
  const today = todayIn(property.timezone, property.now)
  const last = addDays(today, property.settings.portal.maxAdvanceDays)
  const pairs = pairsOf({ catalogue, audience: request.audience, promo: null }, request.unitTypeIds)
  const types = [...new Set(pairs.map((pair) => pair.type))]
  const counted = countParty(catalogue, request.party)
  const after = addDays(request.until, 1)
  const range = {
    catalogue,
    plans: [...new Set(pairs.map((pair) => pair.plan))],
    unitTypeIds: types.map((type) => type.id),
    from: request.from,
    until: after,
  }
  const priceOf = await readPrices(trx, range)
  const restrictionOf = await readRestrictions(trx, property.id, range)
  const counters = await readNights(
    trx,
    [...new Set(types.flatMap((type) => type.pools.map((share) => share.poolId)))],
    request.from,
    after,
  )
  const pricing = {
    property,
    catalogue,
    priceOf,
    taxRules: [],
    promo: null,
    locale: localeOf(property, request.locale),
    now: property.now,
  }
  const fitting = pairs.filter(({ type }) => fits(type, counted))
  const prices = new Map(
    fitting.map(({ type, plan }) => [
      `${plan.id} ${type.id}`,
      daysIn(request.from, after).map(
        (date) => nightPrices(pricing, plan, type, counted, { arrival: date, departure: addDays(date, 1) })[0] ?? null,
      ),
    ]),
  )
  const sells = isSelling(property, request.audience)
  const days = daysIn(request.from, after).map((date, index): DayOffer => {
    const open = fitting.flatMap(({ type, plan }) => {
      const restriction = restrictionOf(plan, type.id, date)
      const amount = prices.get(`${plan.id} ${type.id}`)?.[index] ?? null
      const within =
        date >= today &&
        (request.audience === 'staff' || date <= last) &&
        (plan.stayFrom ?? date) <= date &&
        date <= (plan.stayUntil ?? date)
      const sold = (freeOn(counters, type.pools, date) ?? 0) < 1
      return sells && within && !sold && amount !== null && restriction.stopSell !== true
        ? [{ restriction, amount, plan }]
        : []
    })
    const stays = open.map(({ restriction, plan }) =>
      Math.max(restriction.minStayArrival ?? 1, restriction.minStayThrough ?? 1, plan.minNights ?? 1),
    )
    return {
      date,
      open: open.length > 0,
      lowestAmount: open.length > 0 ? Math.min(...open.map((pair) => pair.amount)) : null,
      minStay: open.length > 0 ? Math.min(...stays) : null,
      closedToArrival: open.every(({ restriction }) => restriction.closedToArrival === true),
      closedToDeparture: fitting.every(
        ({ plan, type }) => restrictionOf(plan, type.id, date).closedToDeparture === true,
      ),
    }
  })
  return { currency: property.currency, days }
}
