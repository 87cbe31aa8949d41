import { readInvoicePayment } from '../../../../jobs/admin.ts'
import { sql, sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { enqueue } from '../../../lib/enqueue.ts'
import { unseal } from '../../../lib/sealing/index.ts'
import type { BillingAddress } from '../../tenants.ts'
import { submissionPlace, tenantOf, gate } from './shared.ts'
import type { Status } from './shared.ts'

export type InvoiceCall = {
  id: string
  provider: string
  method: 'card' | 'pix' | 'boleto'
  status: Status
  amount: number
  currency: string
  externalId: string | null
  methodRef: string | null
  customerRef: string | null
  cardToken: string | null
  returnUrl: string | null
  number: string
  sentAt: Date | null
  createdAt: Date
  now: Date
  customer: { name: string; billingEmail: string; document: string | null; billingAddress: BillingAddress | null }
}

/** A try as the gateway is asked for it; null where it has ended. Notes that it is sent. */
export const invoiceCall = async (trx: Trx, id: string): Promise<InvoiceCall | null> => {
  const row = await sqlOne<Omit<InvoiceCall, 'cardToken'> & { submission: Buffer | null }>(
    trx,
    `select p.id, p.provider, p.method, p.status, p.amount, p.currency, p.external_id, p.method_ref, p.customer_ref, p.submission, p.return_url, i.number, p.sent_at,
       p.created_at, now() as now, i.customer
     from invoice_payment p join subscription_invoice i on i.id = p.invoice_id where p.id = ?`,
    [id],
  )
  if (!row || ['captured', 'failed', 'cancelled'].includes(row.status)) return null
  const { submission, ...call } = row
  if (call.sentAt === null) await sql(trx, `update invoice_payment set sent_at = now() where id = ?`, [id])
  return {
    ...call,
    cardToken: submission ? await unseal<string>(trx, 'tenant', submissionPlace(id), submission) : null,
  }
}

const readSeconds = [3, 5, 10, 30, 60, 300]

/** Asks to have a try read again, sooner at first. */
export const readLater = async (trx: Trx, id: string): Promise<void> => {
  const row = await sqlOne<{ count: number }>(
    trx,
    `update invoice_payment set read_count = read_count + 1 where id = ? returning read_count as count`,
    [id],
  )
  const seconds = readSeconds[Math.min((row?.count ?? 1) - 1, readSeconds.length - 1)] ?? 300
  const wait = (row?.count ?? 0) > 20 ? 6 * 3_600 : seconds
  await enqueue(
    trx,
    readInvoicePayment,
    { tenantId: tenantOf(trx), invoicePaymentId: id },
    // The job that asks for the next one is alive still, so each has a key of its own.
    { at: new Date(Date.now() + wait * 1_000), uniqueKey: `${id} ${row?.count ?? 0}`, gate: gate() },
  )
}

/** No answer came: the other side is asked again. What was sent is not known to have failed. */
export const invoiceUnheard = async (trx: Trx, id: string, wasReached: boolean): Promise<void> => {
  if (wasReached)
    await sql(trx, `update invoice_payment set status = 'unknown' where id = ? and status = 'created'`, [id])
  await readLater(trx, id)
}
