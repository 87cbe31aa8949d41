import { addDays, daysIn, todayIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { freeOn } from '../../units/index.ts'
import { readCalendar } from './calendar.ts'
import { catalogueOf } from './catalogue.ts'
import { countParty, fits } from '../rules/party.ts'
import type { Party } from '../rules/party.ts'
import { isAdvanceOpen, isSoldToday } from '../rules/restrictions.ts'
import { nightPrices } from '../rules/stay-price.ts'
import { isSelling, localeOf, propertyFor } from './sale-request.ts'
import type { Audience } from './sale-request.ts'
import { pairsOf } from './search.ts'

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

/** Summary of each day over all plans and types; `from` and `until` are included. Prices are those of one night. */
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
  const poolIds = [...new Set(types.flatMap((type) => type.pools.map((share) => share.poolId)))]
  const { priceOf, restrictionOf, left } = await readCalendar(trx, property.id, { ...range, poolIds })
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
      nightPrices(pricing, plan, type, counted, { arrival: request.from, departure: after }, { earnedBy: 1 }),
    ]),
  )
  const sells = isSelling(property, request.audience)
  const days = daysIn(request.from, after).map((date, index): DayOffer => {
    const open = fitting.flatMap(({ type, plan }) => {
      const restriction = restrictionOf(plan, type.id, date)
      const amount = prices.get(`${plan.id} ${type.id}`)?.[index] ?? null
      const within = date >= today && (request.audience === 'staff' || date <= last) && isSoldToday(plan, today, date)
      const sold = (freeOn(left, type.pools, date) ?? 0) < 1
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
      closedToArrival: open.every(
        ({ restriction, plan }) =>
          restriction.closedToArrival === true || !isAdvanceOpen([restriction, plan], today, date),
      ),
      closedToDeparture: fitting.every(
        ({ plan, type }) => restrictionOf(plan, type.id, date).closedToDeparture === true,
      ),
    }
  })
  return { currency: property.currency, days }
}
