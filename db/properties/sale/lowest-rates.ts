import { addDays, daysIn, todayIn } from '../../../config/time.ts'
import type { Trx } from '../../lib/connection.ts'
import { freeOn } from '../../units/index.ts'
import { readCalendar } from './calendar.ts'
import type { Catalogue, SalePlan, SaleProperty, SaleType } from './catalogue.ts'
import { countParty } from '../rules/party.ts'
import { isSoldToday } from '../rules/restrictions.ts'
import { nightPrices } from '../rules/stay-price.ts'

const nightsAhead = 90

/**
 * The lowest price of a night in the next 90 for each plan and type, for the base occupancy, over nights that are for sale today; keyed
 * `<plan> <type>`. What it says is a hint: stays have rules that one night has not.
 */
export const lowestAmounts = async (
  trx: Trx,
  property: SaleProperty,
  catalogue: Catalogue,
  pairs: readonly { type: SaleType; plan: SalePlan }[],
): Promise<Map<string, number>> => {
  const from = todayIn(property.timezone, property.now)
  const until = addDays(from, nightsAhead)
  const types = [...new Set(pairs.map((pair) => pair.type))]
  const range = {
    catalogue,
    plans: [...new Set(pairs.map((pair) => pair.plan))],
    unitTypeIds: types.map((type) => type.id),
    from,
    until,
  }
  const poolIds = [...new Set(types.flatMap((type) => type.pools.map((share) => share.poolId)))]
  const { priceOf, restrictionOf, left } = await readCalendar(trx, property.id, { ...range, poolIds })
  const pricing = {
    property,
    catalogue,
    priceOf,
    taxRules: [],
    promo: null,
    locale: property.locales[0] ?? 'en',
    now: property.now,
  }
  const nights = daysIn(from, until)
  const lowest = new Map<string, number>()
  for (const { type, plan } of pairs) {
    const counted = countParty(catalogue, { adults: type.baseOccupancy, childrenAges: [] })
    const prices = nightPrices(pricing, plan, type, counted, { arrival: from, departure: until }, { earnedBy: 1 })
    const amounts = nights.flatMap((date, index) => {
      if (!isSoldToday(plan, from, date) || (freeOn(left, type.pools, date) ?? 0) < 1) return []
      if (restrictionOf(plan, type.id, date).stopSell === true) return []
      return prices[index] ?? []
    })
    if (amounts.length > 0) lowest.set(`${plan.id} ${type.id}`, Math.min(...amounts))
  }
  return lowest
}
