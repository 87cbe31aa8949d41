import { randomUUID } from 'node:crypto'
import { addDays, todayIn } from '../../config/time.ts'
import { closePeriod, listStore, purchaseAddOn, recordInvoicePayment, startRun } from '../admin/index.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'
import { recordUsage } from '../lib/usage.ts'
import { timeZone } from './prices.ts'

/** Buys add-ons by their keys, at the price that the store shows. */
export const buyAddOns = async (trx: Trx, keys: readonly string[]): Promise<void> => {
  const { rows } = await listStore(trx, { page: 1, limit: 100 })
  for (const { addOn, price } of rows) if (keys.includes(addOn.key)) await purchaseAddOn(trx, addOn.id, price.priceId)
}

/** A day moved back by so many months; days of the month are 28 at most. */
const monthsBefore = (day: string, months: number): string => {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  return new Date(Date.UTC(year, month - 1 - months, date)).toISOString().slice(0, 10)
}

/** An anchor whose last period has been over for some days: a day that every month has. */
const lastAnchor = (): string => {
  const recent = addDays(todayIn(timeZone), -3)
  const date = Number(recent.slice(8))
  return date > 28 ? addDays(recent, 28 - date) : recent
}

const months = 2

/** A tenant of two months: both are billed as runs bill them, the first is paid by transfer, the second is open. */
export const buildBills = async (
  trx: PlatformTrx,
  inside: Trx,
  tenantId: string,
  { emails, texts }: { emails: number; texts: number },
): Promise<void> => {
  const anchor = lastAnchor()
  const starts = Array.from({ length: months + 1 }, (_, index) => monthsBefore(anchor, months - index))
  await sql(trx, `update subscription set anchor_day = ?, period_start = ?, period_end = ? where tenant_id = ?`, [
    Number(anchor.slice(8)),
    starts[0],
    starts[1],
    tenantId,
  ])
  const { id: runId } = await startRun(trx, { tenantIds: [tenantId] })
  for (const periodStart of starts.slice(0, months)) {
    const at = new Date(`${periodStart}T15:00:00Z`)
    await recordUsage(trx, 'messages.email', `demo-${randomUUID()}`, [{ tenantId, quantity: emails, at }])
    await recordUsage(trx, 'messages.phone', `demo-${randomUUID()}`, [{ tenantId, quantity: texts, at }])
    await closePeriod(inside, { tenantId, periodStart, runId, force: false })
  }
  const first = await sqlOne<{ id: string }>(
    trx,
    `select id from subscription_invoice where tenant_id = ? and status = 'issued' order by period_start limit 1`,
    [tenantId],
  )
  if (first) await recordInvoicePayment(trx, first.id, { paidOn: todayIn(timeZone), reference: 'TED 1047' })
}
