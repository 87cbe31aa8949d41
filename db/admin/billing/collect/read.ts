import { readInvoicePayment } from '../../../../jobs/admin.ts'
import { sql, sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { enqueue } from '../../../lib/enqueue.ts'
import type { Action } from '../../../payment/index.ts'
import { gate } from './shared.ts'
import type { Status } from './shared.ts'

/** Tries of an invoice, the last first. */
export const triesOf = (trx: Trx, invoiceId: string) =>
  sql<{
    id: string
    method: 'card' | 'pix' | 'boleto'
    amount: number
    status: Status
    action: Action | null
    failureCode: string | null
    failureMessage: string | null
    createdAt: Date
    endedAt: Date | null
  }>(
    trx,
    `select id, method, amount, status, action, failure_code, failure_message, created_at, ended_at from invoice_payment where invoice_id = ? order by try desc limit 50`,
    [invoiceId],
  )

/** Asks to have read what a callback of the platform's own account is about. */
export const resolvePlatformCallback = async (
  trx: Trx,
  { provider, objectRef, ourId }: { provider: string; objectRef: string | null; ourId: string | null },
): Promise<string | null> => {
  const row = await sqlOne<{ id: string; tenantId: string }>(
    trx,
    `select id, tenant_id from invoice_payment where provider = ? and (external_id = ? or id::text = ?) limit 1`,
    [provider, objectRef, ourId],
  )
  if (!row) return null
  await enqueue(
    trx,
    readInvoicePayment,
    { tenantId: row.tenantId, invoicePaymentId: row.id },
    { class: 'urgent', uniqueKey: `told ${row.id}`, gate: gate() },
  )
  return row.tenantId
}
