import { daysIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { freeOn, leftIn, readNights, tightestOn } from '../../units/index.ts'
import type { Counters } from '../../units/index.ts'
import { readLevels, readPrices } from './calendar.ts'
import type { Level, LevelsOf } from './calendar.ts'
import { fits } from '../rules/party.ts'
import type { Party } from '../rules/party.ts'
import { localTaxRules, nightPrices } from '../rules/stay-price.ts'
import { allChecks, findRooms, isSelling, openSale, promoFor } from './sale-request.ts'
import type { Audience, Sale, SaleRoom } from './sale-request.ts'
import { takePromo } from '../rules/prices.ts'
import type { PriceStep, Promo } from '../rules/prices.ts'
import { sentenceOf } from '../rules/restrictions.ts'
import type { Check, Restriction } from '../rules/restrictions.ts'
import { limitedExtras } from './search.ts'

export type ExplainRequest = {
  propertyId: string
  arrival: string
  departure: string
  unitTypeId: string
  ratePlanId: string
  rooms: Party[]
  promoCode?: string | undefined
  audience: Audience
}

export type ExplainedCheck = Omit<Check, 'code'> & {
  code: string
  level?: Level | 'portal'
  recordId?: string
  message: string
}
export type Explanation = {
  sellable: boolean
  checks: ExplainedCheck[]
  nights: { date: string; counters: Counters | null; free: number | null }[]
  price: { date: string; steps: PriceStep[] }[]
}

/** The kind of restriction that each check reads. */
const kindOf: Record<string, keyof Restriction> = {
  stop_sell: 'stopSell',
  closed_to_arrival: 'closedToArrival',
  closed_to_departure: 'closedToDeparture',
  min_stay_arrival: 'minStayArrival',
  max_stay_arrival: 'maxStayArrival',
  min_stay_through: 'minStayThrough',
  max_stay_through: 'maxStayThrough',
  min_advance: 'minAdvanceDays',
  max_advance: 'maxAdvanceDays',
}

/** Names the level whose restriction wins, and what stands there: the most general one of those that say the same. */
const placed = (check: Check, room: SaleRoom, propertyId: string, levelsOf: LevelsOf): ExplainedCheck => {
  const message = sentenceOf(check)
  const kind = kindOf[check.code]
  if (check.code.startsWith('portal_')) return { ...check, level: 'portal', recordId: propertyId, message }
  if (check.code.startsWith('plan_')) return { ...check, level: 'rate_plan', recordId: room.plan.id, message }
  if (!kind || check.date === undefined) return { ...check, message }
  const winner = levelsOf(room.plan, room.type.id, check.date).find((row) => row[kind] === ruling(check))
  return winner
    ? { ...check, level: winner.level, recordId: winner.ratePlanId ?? winner.unitTypeId ?? propertyId, message }
    : { ...check, message }
}

/** The value that rules: of a yes or no what stands, else the limit. */
const ruling = (check: Check) => (typeof check.actual === 'boolean' ? check.actual : check.limit)

const of = (
  code: string,
  passed: boolean,
  actual: Check['actual'],
  limit: Check['limit'],
  message: string,
  date?: string,
) => ({
  code,
  passed,
  actual,
  limit,
  message,
  ...(date === undefined ? {} : { date }),
})

const unitsCheck = (date: string, free: number | null, wanted: number, what: string): ExplainedCheck =>
  free === null
    ? of('beyond_horizon', false, false, true, 'the night cannot be booked yet', date)
    : of('sold_out', free >= wanted, free, wanted, `enough ${what} is left`, date)

/** Checks beside restrictions: the property sells, the party fits, every night has units and a price. */
const otherChecks = (
  sale: Sale,
  rooms: SaleRoom[],
  nights: Explanation['nights'],
  prices: (number | null)[],
): ExplainedCheck[] => [
  of(
    'property_not_selling',
    isSelling(sale.property, sale.audience),
    sale.property.status,
    'live',
    'the property sells',
  ),
  ...rooms.map(({ type, counted }) =>
    of('occupancy_exceeded', fits(type, counted), counted.counted, type.maxOccupancy, 'the party fits the room'),
  ),
  ...nights.map(({ date, free }) => unitsCheck(date, free, rooms.length, 'of the type')),
  ...daysIn(sale.stay.arrival, sale.stay.departure).map((date, index) =>
    of('price_missing', prices[index] !== null, prices[index] !== null, true, 'the night has a price', date),
  ),
]

/** A promo code of a fixed amount is taken off the stay as a whole: it is a step of nights that all have a price. */
const takeFixed = (promo: Promo | null, prices: readonly (number | null)[], price: Explanation['price']) => {
  const amounts = prices.flatMap((amount) => amount ?? [])
  if (promo?.type !== 'amount' || amounts.length < prices.length) return
  for (const [index, after] of takePromo(amounts, promo.value).entries())
    price[index]?.steps.push({ step: 'promo', before: amounts[index] ?? 0, after, recordId: promo.id })
}

/** Every check of a stay, passed or not, with the level that rules; and each night's price, step by step. */
export const explainStay = async (trx: Trx, request: ExplainRequest): Promise<Explanation> => {
  const sale = await openSale(trx, { ...request, rooms: request.rooms.length })
  const { arrival, departure } = sale.stay
  const rooms = findRooms(
    sale,
    request.rooms.map((party) => ({
      ...party,
      unitTypeId: request.unitTypeId,
      ratePlanId: request.ratePlanId,
      extras: [],
    })),
  )
  const [room] = rooms
  if (!room) throw new Error('a stay is of one room at least')
  const { plan, type } = room
  const range = { catalogue: sale.catalogue, plans: [plan], unitTypeIds: [type.id], from: arrival, until: departure }
  const priceOf = await readPrices(trx, range)
  const { effective, levelsOf } = await readLevels(trx, request.propertyId, range)
  const extras = limitedExtras(sale, type)
  const poolIds = [...type.pools.map((share) => share.poolId), ...extras.map((extra) => extra.poolId)]
  const counters = await readNights(trx, [...new Set(poolIds)], arrival, departure)
  const left = leftIn(counters)
  const nights = daysIn(arrival, departure).map((date) => ({
    date,
    counters: tightestOn(counters, type.pools, date),
    free: freeOn(left, type.pools, date),
  }))
  const price: Explanation['price'] = []
  const pricing = {
    property: sale.property,
    catalogue: sale.catalogue,
    priceOf,
    taxRules: localTaxRules(sale.catalogue, sale.property, sale.locale),
    promo: promoFor(sale, plan.id, type.id),
    locale: sale.locale,
    now: sale.now,
  }
  const prices = nightPrices(pricing, plan, type, room.counted, sale.stay, { trace: price })
  takeFixed(pricing.promo, prices, price)
  const checks = [
    ...otherChecks(sale, rooms, nights, prices),
    ...extras.flatMap(({ extraId, poolId, nights: days }) =>
      days.map((date) => ({
        ...unitsCheck(date, freeOn(left, [{ poolId, quantity: 1 }], date), rooms.length, 'of what comes with it'),
        recordId: extraId,
      })),
    ),
    ...allChecks(sale, effective, plan, type).map((check) => placed(check, room, request.propertyId, levelsOf)),
  ]
  return { sellable: checks.every((check) => check.passed), checks, nights, price }
}
