import type { ChannelRestrictions } from '../../config/channels.ts'
import { addDays, daysBetween, daysIn, todayIn } from '../../config/time.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { ChannelConnectionRow, ChannelMappingRow } from '../rows.ts'
import { freeOn, readLeft } from '../units/index.ts'
import {
  readPrices,
  readRestrictions,
  catalogueOf,
  readProperty,
  countParty,
  nightPrices,
} from '../properties/index.ts'
import type { Catalogue, SalePlan, SaleProperty, SaleType, Restriction } from '../properties/index.ts'
import { raisedBy } from '../lib/amounts.ts'
import type { Kind } from './marks.ts'
import type { ChannelDay } from './rules/ranges.ts'

type Connection = Pick<ChannelConnectionRow, 'id' | 'propertyId' | 'status' | 'buffer' | 'horizonDays'>
/** Days of a unit type that are to be told, both ends included. */
export type Stretch = { unitTypeId: string; from: string; to: string }

type House = {
  property: SaleProperty
  catalogue: Catalogue
  today: string
  /** True if anything can be sold through the connection at all (R30). `last` is the last night of its horizon. */
  isOpen: boolean
  last: string
  mappings: ChannelMappingRow[]
}

const houseOf = async (trx: Trx, connection: Connection): Promise<House> => {
  const property = await readProperty(trx, connection.propertyId)
  if (!property) throw new Error(`property ${connection.propertyId} is gone`)
  const tenant = await sqlOne<{ status: string }>(trx, `select status from tenant where id = ?`, [
    contextOf(trx).tenantId,
  ])
  const mappings = await sql<ChannelMappingRow>(
    trx,
    `select * from channel_mapping where channel_connection_id = ? order by external_unit_type_id, external_rate_plan_id nulls first`,
    [connection.id],
  )
  const today = todayIn(property.timezone, property.now)
  return {
    property,
    catalogue: await catalogueOf(trx, property),
    today,
    last: addDays(today, connection.horizonDays - 1),
    isOpen: property.status === 'live' && tenant?.status === 'active' && connection.status === 'active',
    mappings,
  }
}

/** The days of each type from today on, each once. */
const daysOf = (stretches: readonly Stretch[], today: string): Map<string, string[]> => {
  const days = new Map<string, Set<string>>()
  for (const { unitTypeId, from, to } of stretches) {
    const known = days.get(unitTypeId) ?? new Set<string>()
    for (const day of daysIn(from < today ? today : from, addDays(to, 1))) known.add(day)
    days.set(unitTypeId, known)
  }
  return new Map([...days].map(([id, found]) => [id, [...found].sort()]))
}

const spanOf = (days: Map<string, string[]>) => {
  const all = [...days.values()].flat().sort()
  return { from: all[0] ?? '', until: addDays(all.at(-1) ?? '1970-01-01', 1) }
}

/**
 * Values of some days for a connection, from the evaluator that search and quote use. Days beyond its horizon are closed: it
 * may have been told of them while the horizon was longer.
 */
export const channelDays = async (
  trx: Trx,
  connection: Connection,
  kind: Kind,
  stretches: readonly Stretch[],
): Promise<ChannelDay[]> => {
  const house = await houseOf(trx, connection)
  const days = daysOf(stretches, house.today)
  if ([...days.values()].every((dates) => dates.length === 0)) return []
  return kind === 'availability' ? availabilityDays(trx, house, connection.buffer, days) : rateDays(trx, house, days)
}

const availabilityDays = async (
  trx: Trx,
  { catalogue, mappings, isOpen, last }: House,
  buffer: number,
  days: Map<string, string[]>,
): Promise<ChannelDay[]> => {
  const types = catalogue.unitTypes.filter((type) => days.has(type.id))
  const { from, until } = spanOf(days)
  const pools = [...new Set(types.flatMap((type) => type.pools.map((share) => share.poolId)))]
  const left = await readLeft(trx, pools, from, until)
  // One of theirs is open as long as one of the ways to sell it is.
  const places = new Map<string, { unitTypeId: string; enabled: boolean }>()
  for (const { unitTypeId, externalUnitTypeId, enabled } of mappings) {
    const known = places.get(externalUnitTypeId)
    if (!known?.enabled) places.set(externalUnitTypeId, { unitTypeId, enabled })
  }
  return [...places].flatMap(([unitType, { unitTypeId, enabled }]) => {
    const type = types.find((one) => one.id === unitTypeId)
    const sells = isOpen && enabled && type?.bookable === true && type.pools.length > 0
    return (days.get(unitTypeId) ?? []).map((date) => ({
      unitType,
      date,
      available: sells && date <= last ? Math.max(0, (freeOn(left, type.pools, date) ?? 0) - buffer) : 0,
    }))
  })
}

const closed: ChannelRestrictions = {
  stopSell: true,
  closedToArrival: false,
  closedToDeparture: false,
  minStayArrival: null,
  maxStayArrival: null,
  minStayThrough: null,
  maxStayThrough: null,
  minAdvanceDays: null,
  maxAdvanceDays: null,
}

const largest = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.max(a, b))
const smallest = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.min(a, b))

/** The calendar and the plan's own limits as one: a channel knows no plans. */
const told = (cell: Restriction, plan: SalePlan, date: string, today: string): ChannelRestrictions => ({
  stopSell:
    cell.stopSell === true ||
    (plan.stayFrom !== null && date < plan.stayFrom) ||
    (plan.stayUntil !== null && date > plan.stayUntil) ||
    (plan.bookableFrom !== null && today < plan.bookableFrom) ||
    (plan.bookableUntil !== null && today > plan.bookableUntil),
  closedToArrival: cell.closedToArrival === true,
  closedToDeparture: cell.closedToDeparture === true,
  minStayArrival: largest(cell.minStayArrival, plan.minNights),
  maxStayArrival: smallest(cell.maxStayArrival, plan.maxNights),
  minStayThrough: cell.minStayThrough,
  maxStayThrough: cell.maxStayThrough,
  minAdvanceDays: largest(cell.minAdvanceDays, plan.minAdvanceDays),
  maxAdvanceDays: smallest(cell.maxAdvanceDays, plan.maxAdvanceDays),
})

/** A price with the modifier of its mapping, in basis points, half-up; never below 0. */
export const modified = (amount: number, modifierRate: number): number => Math.max(0, raisedBy(amount, modifierRate))

const rateDays = async (
  trx: Trx,
  { property, catalogue, mappings, isOpen, today, last }: House,
  days: Map<string, string[]>,
): Promise<ChannelDay[]> => {
  const rates = mappings.flatMap((mapping) => {
    const dates = days.get(mapping.unitTypeId) ?? []
    if (mapping.ratePlanId === null || dates.length === 0) return []
    const type = catalogue.unitTypes.find((one) => one.id === mapping.unitTypeId)
    const plan = catalogue.ratePlans.find((one) => one.id === mapping.ratePlanId)
    const isSold = isOpen && mapping.enabled && plan?.unitTypes.some((entry) => entry.unitTypeId === type?.id) === true
    return [{ mapping, dates, sold: isSold && type && plan ? { type, plan } : null }]
  })
  const { from, until } = spanOf(days)
  const plans = [...new Set(rates.flatMap(({ sold }) => (sold ? [sold.plan] : [])))]
  const unitTypeIds = [...days.keys()]
  const range = { catalogue, plans, unitTypeIds, from, until }
  const priceOf = await readPrices(trx, range)
  const restrictionOf = await readRestrictions(trx, property.id, range)
  const pricing = { property, catalogue, priceOf, taxRules: [], promo: null, locale: 'en', now: property.now }

  const amountsOf = (plan: SalePlan, type: SaleType, modifierRate: number) => {
    const stay = { arrival: from, departure: until }
    const rows = Array.from({ length: type.maxAdults }, (_, index) => {
      const party = countParty(catalogue, { adults: index + 1, childrenAges: [] })
      return nightPrices(pricing, plan, type, party, stay, { earnedBy: 1 })
    })
    return (date: string): Record<string, number> | null => {
      const at = daysBetween(from, date)
      const entries = rows.map((row, index) => [String(index + 1), row[at] ?? null] as const)
      return entries.some(([, amount]) => amount === null)
        ? null
        : Object.fromEntries(entries.map(([adults, amount]) => [adults, modified(amount ?? 0, modifierRate)]))
    }
  }

  return rates.flatMap(({ mapping, dates, sold }) => {
    const place = { unitType: mapping.externalUnitTypeId, ratePlan: mapping.externalRatePlanId ?? '' }
    if (!sold) return dates.map((date) => ({ ...place, date, restrictions: closed }))
    const { plan, type } = sold
    const amountsOn = amountsOf(plan, type, mapping.modifierRate)
    return dates.map((date) => {
      if (date > last) return { ...place, date, restrictions: closed }
      const amounts = amountsOn(date)
      const restrictions = told(restrictionOf(plan, type.id, date), plan, date, today)
      return amounts === null
        ? { ...place, date, restrictions: { ...restrictions, stopSell: true } }
        : { ...place, date, amounts, restrictions }
    })
  })
}
