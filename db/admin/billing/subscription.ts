import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { together, totalOf } from '../rules/lines.ts'
import { billOf, readFacts } from './bill.ts'
import { listStore } from './store.ts'

/** The subscription of the tenant: plan, what it holds beside it, what it has used in this period, and what that costs so far. */
export const readSubscription = async (trx: Trx) => {
  const { tenantId } = contextOf(trx)
  const facts = await readFacts(trx, tenantId ?? '')
  const { lines, usage } = await billOf(trx, facts)
  const { rows } = await listStore(trx, { page: 1, limit: 100 })
  const entitlements = await sql<{
    key: string
    source: 'PLAN_DEFAULT' | 'STORE_PURCHASE' | 'N1_GRANT'
    startsAt: Date
    expiresAt: Date | null
  }>(
    trx,
    `select key, source, starts_at, expires_at from entitlement_grant where tenant_id = ? and ended_at is null
       and (expires_at is null or expires_at > now()) order by key, source`,
    [tenantId],
  )
  const meters = [...new Set(usage.map(({ meter }) => meter))].map((meter) => {
    const days = usage.filter((one) => one.meter === meter).map(({ day, quantity }) => ({ day, quantity }))
    return {
      meter,
      quantity: together(
        meter,
        days.map(({ quantity }) => quantity),
      ),
      days,
    }
  })
  const {
    plan,
    versionNumber,
    currency,
    periodStart,
    periodEnd,
    anchorDay,
    paymentMethod,
    action,
    pastDueSince,
    version,
    prices,
  } = facts
  return {
    plan,
    planVersion: versionNumber,
    price: { currency, amount: prices[currency] ?? 0 },
    anchorDay,
    periodStart,
    periodEnd,
    items: rows.filter(({ state }) => state === 'owned'),
    entitlements,
    usage: meters,
    nextTotal: totalOf(lines).total,
    currency,
    paymentMethod,
    action,
    pastDueSince,
    version,
  }
}
