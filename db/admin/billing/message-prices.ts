import type { PriceTier } from '../../../config/add-ons.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { tiered } from '../rules/prices.ts'
import { readFacts } from './bill.ts'

type Metered = { month: string; meter: string; quantity: number }
export type PricedUse = Metered & { allowance: number | null; billable: number; amount: number; currency: string }

/** Units that cost nothing, from the first on; null where all do. */
const allowanceOf = (tiers: readonly PriceTier[]): number | null => {
  const [first] = tiers
  if (!first) return null
  return Number(first.unitPrice) === 0 ? first.upTo : 0
}

const tiersOf = async (trx: Trx) => {
  const { billedPlan, currency } = await readFacts(trx, contextOf(trx).tenantId ?? '')
  const found = new Map(
    billedPlan.features.flatMap(({ meters = {} }) =>
      Object.entries(meters).map(([meter, prices]) => [meter, prices[currency] ?? []] as const),
    ),
  )
  return { currency, of: (meter: string): readonly PriceTier[] => found.get(meter) ?? [] }
}

/** Used units of months with the allowance and prices of the present plan. */
export const priceOfMonths = async (trx: Trx, used: readonly Metered[]): Promise<PricedUse[]> => {
  const { currency, of } = await tiersOf(trx)
  return used.map((one) => {
    const allowance = allowanceOf(of(one.meter))
    const billable = allowance === null ? 0 : Math.max(0, one.quantity - allowance)
    return { ...one, allowance, billable, amount: tiered(one.quantity, of(one.meter)), currency }
  })
}

/** Minor units that further message units would add to the bill of the present period. */
export const messagePrices = async (
  trx: Trx,
  further: Readonly<Record<string, number>>,
): Promise<{ amount: number; currency: string }> => {
  const { tenantId, periodStart, periodEnd } = await readFacts(trx, contextOf(trx).tenantId ?? '')
  const { currency, of } = await tiersOf(trx)
  const used = await sql<{ meter: string; quantity: number }>(
    trx,
    `select meter, sum(quantity)::bigint as quantity from usage_day where tenant_id = ? and meter = any(?) and day >= ?::date and day < ?::date group by meter`,
    [tenantId, Object.keys(further), periodStart, periodEnd],
  )
  const amount = Object.entries(further).reduce((sum, [meter, quantity]) => {
    const before = used.find((one) => one.meter === meter)?.quantity ?? 0
    return sum + tiered(before + quantity, of(meter)) - tiered(before, of(meter))
  }, 0)
  return { amount, currency }
}
