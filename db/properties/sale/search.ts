import type { QuotedRoom } from '../../../config/quote.ts'
import { addDays, daysBetween, daysIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { freeOn } from '../../units/index.ts'
import { readCalendar } from './calendar.ts'
import type { Calendar } from './calendar.ts'
import { keptCatalogue } from './catalogue.ts'
import type { Catalogue, SalePlan, SaleType } from './catalogue.ts'
import { countParty, fits } from '../rules/party.ts'
import type { CountedParty, Party } from '../rules/party.ts'
import { extrasOf, localTaxRules, nightPrices, priceRoom } from '../rules/stay-price.ts'
import { dueNow } from '../rules/deposits.ts'
import { serviceDates } from '../rules/extras.ts'
import { sum } from '../../lib/amounts.ts'
import type { TaxRule } from '../rules/taxes.ts'
import {
  isSelling,
  openSale,
  planIsOffered,
  promoFor,
  propertyFor,
  shiftSale,
  typeIsOffered,
  violations,
} from './sale-request.ts'
import type { Audience, Sale } from './sale-request.ts'

export type SearchRequest = {
  propertyId: string
  arrival: string
  departure: string
  /** All of one type and plan. */
  rooms: Party[]
  promoCode?: string | null | undefined
  ratePlanIds?: string[] | undefined
  unitTypeIds?: string[] | undefined
  /** Stays of the same length that begin so many days earlier or later are looked at too. */
  flexibleDays?: number | undefined
  audience: Audience
  locale?: string | undefined
}

type Pair = { type: SaleType; plan: SalePlan }
export type Offer = Pair & {
  /** The question as this offer answers it: its stay may be another one than was asked for. */
  sale: Sale
  free: number
  rooms: QuotedRoom[]
  total: number
  dueNow: number
}
export type Refusal = Pair & { codes: string[] }
/** `unavailable` speaks of the stay that was asked for, not of those around it. */
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

/** Data shared by all pairs and stays of one search. */
type Evaluation = Calendar & {
  sale: Sale
  parties: readonly Party[]
  counted: readonly CountedParty[]
  taxRules: TaxRule[]
}

/** Least of the free units on each night, and what speaks against taking so many of them. */
const unitsLeft = ({ sale, parties, left }: Evaluation, type: SaleType): { free: number; codes: string[] } => {
  const { arrival, departure } = sale.stay
  const wanted = parties.length
  const units = daysIn(arrival, departure).map((night) => freeOn(left, type.pools, night))
  const extras = limitedExtras(sale, type).flatMap(({ poolId, nights }) =>
    nights.map((night) => freeOn(left, [{ poolId, quantity: 1 }], night)),
  )
  const all = [...units, ...extras]
  return {
    free: Math.min(...units.map((found) => found ?? 0)),
    codes: [
      ...(all.includes(null) ? ['beyond_horizon'] : []),
      ...(all.some((found) => found !== null && found < wanted) ? ['sold_out'] : []),
    ],
  }
}

/** Counters of what comes with every room of a type, one for each, on the days on which it is served. */
export const limitedExtras = ({ catalogue, stay }: Pick<Sale, 'catalogue' | 'stay'>, type: SaleType) =>
  extrasOf(catalogue, type).flatMap(({ id, poolId, mandatory, basis }) => {
    if (!mandatory || poolId === null) return []
    const { from, until } = serviceDates(basis, stay)
    return [{ extraId: id, poolId, nights: daysIn(from, addDays(until, 1)) }]
  })

const evaluate = (
  evaluation: Evaluation,
  { type, plan }: Pair,
  left: { free: number; codes: string[] },
): { codes: string[] } | { offer: Offer } => {
  const { sale, parties, counted, restrictionOf } = evaluation
  const pricing = {
    property: sale.property,
    catalogue: sale.catalogue,
    priceOf: evaluation.priceOf,
    taxRules: evaluation.taxRules,
    promo: promoFor(sale, plan.id, type.id),
    locale: sale.locale,
    now: sale.now,
  }
  const codes = [
    ...(counted.every((party) => fits(type, party)) ? [] : ['occupancy_exceeded']),
    ...new Set(violations(sale, restrictionOf, plan, type).map((check) => check.code)),
    ...left.codes,
  ]
  const priced =
    codes.length > 0
      ? []
      : counted.map((party, index) => ({ plan, type, party: parties[index]!, counted: party, extras: [] }))
  const rooms: QuotedRoom[] = []
  for (const [index, room] of priced.entries()) {
    const twin = parties.findIndex((party) => party === room.party)
    const quoted = twin < index ? rooms[twin] : priceRoom(pricing, room, sale.stay)
    if (quoted) rooms.push(quoted)
  }
  const hasPrices =
    codes.length > 0
      ? counted.slice(0, 1).every((party) => !nightPrices(pricing, plan, type, party, sale.stay).includes(null))
      : rooms.length === parties.length
  if (codes.length > 0 || !hasPrices) return { codes: [...codes, ...(hasPrices ? [] : ['price_missing'])] }
  return {
    offer: {
      type,
      plan,
      sale,
      free: left.free,
      rooms,
      total: sum(rooms.map((room) => room.total)),
      dueNow: sum(rooms.map((room) => dueNow(room.deposits))),
    },
  }
}

/** The stay that was asked for, then those around it, nearest first. */
const salesAround = (sale: Sale, flexibleDays: number): Sale[] => [
  sale,
  ...Array.from({ length: flexibleDays }, (_, index) => index + 1).flatMap((days) =>
    [days, -days].flatMap((shift) => shiftSale(sale, shift) ?? []),
  ),
]

/** The part of the calendar that a search reads: the stays that it may look at, of all that it may offer. */
const rangeOf = (catalogue: Catalogue, pairs: readonly Pair[], request: SearchRequest) => {
  const { arrival, departure, flexibleDays = 0 } = request
  const types = [...new Set(pairs.map((pair) => pair.type))]
  const poolIds = types.flatMap((type) => [
    ...type.pools.map((share) => share.poolId),
    ...limitedExtras({ catalogue, stay: { arrival, departure } }, type).map((extra) => extra.poolId),
  ])
  return {
    catalogue,
    plans: [...new Set(pairs.map((pair) => pair.plan))],
    unitTypeIds: types.map((type) => type.id),
    poolIds: [...new Set(poolIds)],
    from: addDays(arrival, -flexibleDays),
    until: addDays(departure, flexibleDays),
  }
}

/**
 * The calendar by what the property sold when it was last asked for, in the same round trip as the property itself: it is good where the
 * property has not changed since. Null where nothing is kept, or where what is sold hangs on a promo code.
 */
const readEarly = async (
  trx: Trx,
  request: SearchRequest,
): Promise<{ catalogue: Catalogue; pairs: Pair[]; calendar: Calendar } | null> => {
  const catalogue = keptCatalogue(trx, request.propertyId)
  const nights = daysBetween(request.arrival, request.departure)
  if (!catalogue || request.promoCode || !(nights > 0 && nights <= 366)) return null
  const pairs = pairsOf(
    { catalogue, audience: request.audience, promo: null },
    request.unitTypeIds,
    request.ratePlanIds,
  )
  return { catalogue, pairs, calendar: await readCalendar(trx, request.propertyId, rangeOf(catalogue, pairs, request)) }
}

/**
 * Offers for a stay, cheapest first, and why the others are none. Four queries whatever the number of plans, types and nights: property,
 * catalogue, promo code, calendar; one round trip where the catalogue is kept.
 */
export const searchOffers = async (trx: Trx, request: SearchRequest): Promise<Found> => {
  const [property, early] = await Promise.all([
    propertyFor(trx, request.propertyId, request.audience),
    readEarly(trx, request),
  ])
  const sale = await openSale(trx, { ...request, rooms: request.rooms.length, property })
  const isEarly = early?.catalogue === sale.catalogue
  const pairs = isEarly ? early.pairs : pairsOf(sale, request.unitTypeIds, request.ratePlanIds)
  if (!isSelling(sale.property, request.audience))
    return { sale, offers: [], unavailable: pairs.map((pair) => ({ ...pair, codes: ['property_not_selling'] })) }

  // Equal parties are one object, and priced once.
  const alike = new Map(request.rooms.map((party) => [JSON.stringify(party), party]))
  const parties = request.rooms.map((party) => alike.get(JSON.stringify(party)) ?? party)
  const calendar = isEarly
    ? early.calendar
    : await readCalendar(trx, request.propertyId, rangeOf(sale.catalogue, pairs, request))
  const shared = {
    ...calendar,
    parties,
    counted: parties.map((party) => countParty(sale.catalogue, party)),
    taxRules: localTaxRules(sale.catalogue, sale.property, sale.locale),
  }
  const offers: Offer[] = []
  const unavailable: Refusal[] = []
  for (const each of salesAround(sale, request.flexibleDays ?? 0)) {
    const evaluation = { ...shared, sale: each }
    const left = new Map<SaleType, ReturnType<typeof unitsLeft>>()
    for (const pair of pairs) {
      const ofType = left.get(pair.type) ?? unitsLeft(evaluation, pair.type)
      left.set(pair.type, ofType)
      const judged = evaluate(evaluation, pair, ofType)
      if ('offer' in judged) offers.push(judged.offer)
      else if (each === sale) unavailable.push({ ...pair, codes: judged.codes })
    }
  }
  return { sale, offers: offers.sort((a, b) => a.total - b.total).slice(0, most), unavailable }
}
