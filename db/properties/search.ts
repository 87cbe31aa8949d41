import type { QuotedRoom } from '../../config/quote.ts'
import { addDays, daysIn } from '../../config/time.ts'
import type { Trx } from '../connection.ts'
import { freeOn, readNights } from '../units/availability.ts'
import { readPrices, readRestrictions } from './calendar.ts'
import type { PriceOf, RestrictionOf } from './calendar.ts'
import type { SalePlan, SaleType } from './catalogue.ts'
import { countParty, fits } from './party.ts'
import type { CountedParty, Party } from './party.ts'
import { extrasOf, localTaxRules, nightPrices, priceRoom } from './price.ts'
import { dueNow } from './rules/deposits.ts'
import { serviceDates } from './rules/extras.ts'
import { sum } from './rules/amounts.ts'
import type { TaxRule } from './rules/taxes.ts'
import { isSelling, openSale, planIsOffered, promoFor, shiftSale, typeIsOffered, violations } from './sale.ts'
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

/** What all pairs and stays of one search share. */
type Evaluation = {
  sale: Sale
  parties: readonly Party[]
  counted: readonly CountedParty[]
  priceOf: PriceOf
  restrictionOf: RestrictionOf
  taxRules: TaxRule[]
  counters: Awaited<ReturnType<typeof readNights>>
}

/** Least of the free units on each night, and what speaks against taking so many of them. */
const unitsLeft = ({ sale, parties, counters }: Evaluation, type: SaleType): { free: number; codes: string[] } => {
  const { arrival, departure } = sale.stay
  const wanted = parties.length
  const units = daysIn(arrival, departure).map((night) => freeOn(counters, type.pools, night))
  const extras = limitedExtras(sale, type).flatMap(({ poolId, nights }) =>
    nights.map((night) => freeOn(counters, [{ poolId, quantity: 1 }], night)),
  )
  const all = [...units, ...extras]
  return {
    free: Math.min(...units.map((left) => left ?? 0)),
    codes: [
      ...(all.includes(null) ? ['beyond_horizon'] : []),
      ...(all.some((left) => left !== null && left < wanted) ? ['sold_out'] : []),
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

/**
 * Offers for a stay, cheapest first, and why the others are none. Six queries whatever the number of plans, types and nights:
 * property, catalogue, promo code, prices, restrictions, counters.
 */
export const searchOffers = async (trx: Trx, request: SearchRequest): Promise<Found> => {
  const sale = await openSale(trx, { ...request, rooms: request.rooms.length })
  const pairs = pairsOf(sale, request.unitTypeIds, request.ratePlanIds)
  if (!isSelling(sale.property, request.audience))
    return { sale, offers: [], unavailable: pairs.map((pair) => ({ ...pair, codes: ['property_not_selling'] })) }

  const sales = salesAround(sale, request.flexibleDays ?? 0)
  const arrivals = sales.map(({ stay }) => stay.arrival).sort()
  const from = arrivals[0] ?? sale.stay.arrival
  const until = addDays(arrivals.at(-1) ?? sale.stay.arrival, sale.nights)
  const types = [...new Set(pairs.map((pair) => pair.type))]
  const poolIds = types.flatMap((type) => [
    ...type.pools.map((share) => share.poolId),
    ...limitedExtras(sale, type).map((extra) => extra.poolId),
  ])
  const range = {
    catalogue: sale.catalogue,
    plans: [...new Set(pairs.map((pair) => pair.plan))],
    unitTypeIds: types.map((type) => type.id),
    from,
    until,
  }
  // Equal parties are one object, and priced once.
  const alike = new Map(request.rooms.map((party) => [JSON.stringify(party), party]))
  const parties = request.rooms.map((party) => alike.get(JSON.stringify(party)) ?? party)
  const shared = {
    parties,
    counted: parties.map((party) => countParty(sale.catalogue, party)),
    priceOf: await readPrices(trx, range),
    restrictionOf: await readRestrictions(trx, request.propertyId, range),
    taxRules: localTaxRules(sale.catalogue, sale.property, sale.locale),
    counters: await readNights(trx, [...new Set(poolIds)], from, until),
  }
  const offers: Offer[] = []
  const unavailable: Refusal[] = []
  for (const each of sales) {
    const evaluation = { ...shared, sale: each }
    const left = new Map(types.map((type) => [type, unitsLeft(evaluation, type)]))
    for (const pair of pairs) {
      const judged = evaluate(evaluation, pair, left.get(pair.type)!)
      if ('offer' in judged) offers.push(judged.offer)
      else if (each === sale) unavailable.push({ ...pair, codes: judged.codes })
    }
  }
  return { sale, offers: offers.sort((a, b) => a.total - b.total).slice(0, most), unavailable }
}
