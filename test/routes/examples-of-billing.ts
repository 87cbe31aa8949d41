import fc from 'fast-check'
import { closePeriod, startRun } from '../../db/admin/index.ts'
import { makeTenant } from '../auth/support.ts'
import { addDays } from '../../config/time.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

/** An add-on that can be bought, one that is held, and an invoice. */
export const ofBilling = async ({
  tenantId,
}: Pick<House, 'tenantId'>): Promise<{ known: Known; examples: Record<string, unknown[]>; priceId: string }> => {
  const offer = async (key: string) => {
    const [row] = await inPlatform((trx) =>
      sql<{ id: string; priceId: string }>(
        trx,
        `select a.id, p.id as price_id from add_on a join add_on_price p on p.add_on_id = a.id where a.key = ?`,
        [key],
      ),
    )
    if (!row) throw new Error(`no add-on ${key}`)
    return row
  }
  const invoiceIds = await invoicesOf(tenantId, 2)
  // Of a tenant that nobody collects from meanwhile.
  const quiet = await invoicesOf(await makeTenant('Starter'), 2)
  // No plan has webhooks, and others of these tests may have been given them: that is no purchase.
  const hooks = await offer('webhooks')
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  return {
    priceId: hooks.priceId,
    known: {
      addOnId: one(hooks.id),
      priceId: one(hooks.priceId),
      'billing.invoice invoiceId': one('next', ...invoiceIds),
      'superuser.invoices.read invoiceId': one(...invoiceIds),
      'superuser.invoices.void invoiceId': one(quiet[0]),
      'superuser.invoices.recordPayment invoiceId': one(quiet[1]),
    },
    examples: {
      'billing.purchase': [{ priceId: hooks.priceId }],
      'billing.paymentMethod': [{ kind: 'transfer' }],
      'superuser.billingRuns.create': [{}],
    },
  }
}

/** Invoices of the next periods of a tenant. */
export const invoicesOf = async (tenantId: string, count: number): Promise<string[]> => {
  for (let made = 0; made < count; made += 1) {
    const [row] = await inPlatform((trx) =>
      sql<{ periodStart: string; periodEnd: string }>(
        trx,
        `select period_start::text as period_start, period_end::text as period_end from subscription where tenant_id = ?`,
        [tenantId],
      ),
    )
    if (!row) throw new Error('the tenant has no subscription')
    const { id } = await inPlatform((trx) => startRun(trx, { date: addDays(row.periodEnd, 1), tenantIds: [tenantId] }))
    await inTenant(tenantId, (trx) =>
      closePeriod(trx, { tenantId, periodStart: row.periodStart, runId: id, force: true }),
    )
  }
  const rows = await inTenant(tenantId, (trx) =>
    sql<{ id: string }>(trx, `select id from subscription_invoice where tenant_id = ? order by period_start`, [
      tenantId,
    ]),
  )
  return rows.map(({ id }) => id)
}
