import { conflict, invalid, unprocessable } from '../../../../config/errors.ts'
import { subscriptionInvoicePaid, subscriptionInvoiceVoided } from '../../../../config/events/admin.ts'
import { audit } from '../../../lib/audit.ts'
import { contextOf, enterTenant, sql, sqlOne } from '../../../lib/connection.ts'
import type { PlatformTrx } from '../../../lib/connection.ts'
import { emit } from '../../../lib/events.ts'
import { hasMoved } from '../../moving/moved.ts'
import { clearPastDue, endAction } from '../collect/apply.ts'
import { readInvoice } from './read.ts'
import type { Invoice } from './read.ts'

/** Holds the subscription, then the invoice, as whatever collects it does. */
const lockInvoice = async (trx: PlatformTrx, id: string): Promise<Invoice> => {
  await sql(
    trx,
    `select tenant_id from subscription where tenant_id = (select tenant_id from subscription_invoice where id = ?) for no key update`,
    [id],
  )
  await sql(trx, `select id from subscription_invoice where id = ? for no key update`, [id])
  return readInvoice(trx, id)
}

/** Ends an invoice that is paid or void: nothing is asked of the tenant for it any more. The tenant is told, unless it has moved to another installation, which has a feed of its own. */
const settle = async (trx: PlatformTrx, invoice: Invoice, event: typeof subscriptionInvoicePaid): Promise<void> => {
  const { id, tenantId } = invoice
  await endAction(trx, tenantId, id)
  await clearPastDue(trx, tenantId)
  if (await hasMoved(trx, tenantId)) return
  await emit(await enterTenant(trx, tenantId), event, { propertyId: null, id, version: null, data: eventData(invoice) })
}

const eventData = ({ id, number, total, currency, dueOn }: Invoice) => ({
  invoiceId: id,
  number: number ?? '',
  total,
  currency,
  dueOn: dueOn ?? '',
})

/** Records that an invoice was paid outside the gateway. A paid one stays as it is. */
export const recordInvoicePayment = async (
  trx: PlatformTrx,
  id: string,
  outside: { paidOn: string; reference: string; note?: string | undefined },
): Promise<Invoice> => {
  const invoice = await lockInvoice(trx, id)
  if (invoice.status === 'paid') return invoice
  if (invoice.status !== 'issued')
    throw conflict('invalid_transition', `An invoice that is ${invoice.status} cannot be paid`)
  // Nowhere is it later than in UTC+14.
  const clock = await sqlOne<{ ahead: boolean }>(
    trx,
    `select ?::date > (now() at time zone 'UTC' + interval '14 hours')::date as ahead`,
    [outside.paidOn],
  )
  if (clock?.ahead) throw invalid([{ field: 'paidOn', message: 'must not be in the future' }])
  await sql(trx, `update subscription_invoice set status = 'paid', paid_at = now(), paid_outside = ? where id = ?`, [
    JSON.stringify(outside),
    id,
  ])
  await audit(trx, {
    tenantId: invoice.tenantId,
    action: 'subscription_invoice.record_payment',
    subjectType: 'SubscriptionInvoice',
    subjectId: id,
    changes: [
      { field: 'paidOn', after: outside.paidOn },
      { field: 'reference', after: outside.reference },
    ],
  })
  await settle(trx, invoice, subscriptionInvoicePaid)
  return readInvoice(trx, id)
}

/**
 * Voids an unpaid invoice. With `rebill` what it asked for comes on the next one, as one line for each of its own; the adjustments that it
 * took are free again in either case.
 */
export const voidInvoice = async (
  trx: PlatformTrx,
  id: string,
  { reason, rebill }: { reason: string; rebill: boolean },
): Promise<Invoice> => {
  const invoice = await lockInvoice(trx, id)
  if (invoice.status === 'void') return invoice
  if (invoice.status !== 'issued')
    throw conflict('invalid_transition', `An invoice that is ${invoice.status} cannot be voided`)
  if (invoice.payments.some(({ status }) => ['created', 'unknown', 'processing'].includes(status)))
    throw unprocessable('payment_in_flight', 'A payment of the invoice is under way; try again when it has ended')
  await sql(trx, `update subscription_invoice set status = 'void', voided_at = now(), reason = ? where id = ?`, [
    reason,
    id,
  ])
  await sql(trx, `update billing_adjustment set invoice_id = null where invoice_id = ?`, [id])
  const again = rebill
    ? invoice.lines.filter(({ kind, amount }) => amount !== 0 && !['adjustment', 'carried'].includes(kind))
    : []
  if (again.length > 0)
    await sql(
      trx,
      `insert into billing_adjustment (tenant_id, amount, description, reason, created_by)
       select :tenantId, l.amount, l.description, :reason, :by from jsonb_to_recordset(:lines::jsonb) as l (amount bigint, description text)`,
      {
        tenantId: invoice.tenantId,
        reason,
        by: contextOf(trx).actor.id,
        lines: JSON.stringify(
          again.map(({ amount, description, from, to }) => ({
            amount,
            description: `${description}, ${from} to ${to}`,
          })),
        ),
      },
    )
  await audit(trx, {
    tenantId: invoice.tenantId,
    action: 'subscription_invoice.void',
    subjectType: 'SubscriptionInvoice',
    subjectId: id,
    reason,
    changes: [{ field: 'rebill', after: rebill }],
  })
  await settle(trx, invoice, subscriptionInvoiceVoided)
  return readInvoice(trx, id)
}
