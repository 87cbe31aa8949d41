import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { subscriptionInvoicePaid, subscriptionInvoiceVoided } from '../../../config/events/admin.ts'
import { audit } from '../../lib/audit.ts'
import { contextOf, enterTenant, sql, sqlOne } from '../../lib/connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import { totalOf } from '../rules/lines.ts'
import { settings } from '../../../config/env.ts'
import { billOf, customerOf, readFacts } from './bill.ts'
import { clearPastDue, storeMethod, triesOf } from './collect.ts'
import type { MethodKind } from './collect.ts'

type Status = 'next' | 'issued' | 'paid' | 'void'
export type InvoiceSummary = {
  id: string
  tenantId: string
  number: string | null
  status: Status
  overdue: boolean
  currency: string
  periodStart: string
  periodEnd: string
  total: number
  issuedAt: Date | null
  dueOn: string | null
  paidAt: Date | null
  voidedAt: Date | null
  reason: string | null
}
export type InvoiceLine = {
  kind: 'plan' | 'add_on' | 'usage' | 'adjustment' | 'carried'
  subjectId: string
  description: string
  from: string
  to: string
  quantity: number
  unitPrice: string | null
  amount: number
  priceId: string | null
}
type Customer = {
  name: string
  legalName: string | null
  document: string | null
  billingEmail: string
  billingAddress: unknown
  country: string
}
export type Invoice = InvoiceSummary & {
  customer: Customer
  lines: InvoiceLine[]
  payments: Awaited<ReturnType<typeof triesOf>>
}

const columns = `i.id, i.tenant_id, i.number, i.status, i.status = 'issued' and i.due_on < (now() at time zone 'UTC')::date as overdue, i.currency,
  i.period_start::text as period_start, i.period_end::text as period_end, i.total, i.issued_at, i.due_on::text as due_on, i.paid_at, i.voided_at, i.reason`

/** The invoice that would be billed now. It has no number, and changes with purchases and usage. */
export const nextInvoice = async (trx: Trx): Promise<Invoice> => {
  const { tenantId } = contextOf(trx)
  const subscription = await readFacts(trx, tenantId ?? '')
  const { lines } = await billOf(trx, subscription)
  const { periodStart, periodEnd, currency } = subscription
  return {
    id: 'next',
    tenantId: subscription.tenantId,
    number: null,
    status: 'next',
    overdue: false,
    currency,
    periodStart,
    periodEnd,
    total: totalOf(lines).total,
    issuedAt: null,
    dueOn: null,
    paidAt: null,
    voidedAt: null,
    reason: null,
    customer: customerOf(subscription),
    lines: lines.map((line) => ({ ...line, from: periodStart, to: periodEnd })),
    payments: [],
  }
}

/** Own invoices, the next one first. */
export const listOwnInvoices = async (trx: Trx, { page, limit }: Paging): Promise<Page<InvoiceSummary>> => {
  const { tenantId } = contextOf(trx)
  const isFirst = page === 1
  const rows = await sql<InvoiceSummary>(
    trx,
    `select ${columns} from subscription_invoice i where i.tenant_id = ? order by i.period_start desc, i.issued_at desc, i.id limit ? offset ?`,
    [tenantId, isFirst ? limit - 1 : limit, isFirst ? 0 : (page - 1) * limit - 1],
  )
  const counted = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from subscription_invoice where tenant_id = ?`,
    [tenantId],
  )
  const {
    lines: _,
    customer: __,
    payments: ___,
    ...next
  } = isFirst ? await nextInvoice(trx) : { lines: [], customer: null, payments: [] }
  return { total: 1 + (counted?.count ?? 0), rows: [...(isFirst ? [next as InvoiceSummary] : []), ...rows] }
}

type InvoiceFilter = Paging & {
  tenantId?: string | undefined
  status?: string | undefined
  overdue?: boolean | undefined
  from?: string | undefined
  to?: string | undefined
}

/** Invoices of all tenants, by their days of issue. */
export const listInvoices = (trx: PlatformTrx, { tenantId, status, overdue, from, to, ...paging }: InvoiceFilter) =>
  readPage<InvoiceSummary>(
    trx,
    {
      columns,
      from: 'subscription_invoice i',
      conditions: [
        ...where('i.tenant_id = ?', tenantId),
        ...where('i.status = ?', status),
        ...where(`(i.status = 'issued' and i.due_on < (now() at time zone 'UTC')::date) = ?`, overdue),
        ...where(`(i.issued_at at time zone 'UTC')::date >= ?::date`, from),
        ...where(`(i.issued_at at time zone 'UTC')::date <= ?::date`, to),
      ],
      order: 'i.issued_at desc, i.id',
    },
    paging,
  )

/** An issued invoice with its lines; of one tenant where the transaction belongs to it. 404. */
export const readInvoice = async (trx: AnyTrx, id: string): Promise<Invoice> => {
  const { tenantId } = contextOf(trx)
  const row = await sqlOne<InvoiceSummary & { customer: Customer }>(
    trx,
    `select ${columns}, i.customer from subscription_invoice i where i.id = ? and (?::uuid is null or i.tenant_id = ?::uuid)`,
    [id, tenantId, tenantId],
  )
  if (!row) throw notFound()
  const lines = await sql<InvoiceLine>(
    trx,
    `select kind, subject_id, description, from_on::text as "from", to_on::text as "to", quantity, unit_price, amount, price_id
     from subscription_invoice_line where invoice_id = ? order by place`,
    [id],
  )
  return { ...row, lines, payments: await triesOf(trx as Trx, id) }
}

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
  const inside = await enterTenant(trx, invoice.tenantId)
  await clearPastDue(inside, invoice.tenantId)
  await emit(inside, subscriptionInvoicePaid, {
    propertyId: null,
    id,
    version: null,
    data: eventData(invoice),
  })
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
  const inside = await enterTenant(trx, invoice.tenantId)
  await clearPastDue(inside, invoice.tenantId)
  await emit(inside, subscriptionInvoiceVoided, {
    propertyId: null,
    id,
    version: null,
    data: eventData(invoice),
  })
  return readInvoice(trx, id)
}

/** Adds a credit or a charge to the next invoice of a tenant. */
export const addAdjustment = async (
  trx: PlatformTrx,
  tenantId: string,
  { amount, description, reason }: { amount: number; description: string; reason: string },
) => {
  const row = await sqlOne<{ id: string; amount: number; description: string; reason: string; createdAt: Date }>(
    trx,
    `insert into billing_adjustment (tenant_id, amount, description, reason, created_by)
     select id, ?, ?, ?, ? from tenant where id = ? and status <> 'deleted' returning id, amount, description, reason, created_at`,
    [amount, description, reason, contextOf(trx).actor.id, tenantId],
  )
  if (!row) throw notFound('There is no such tenant')
  await audit(trx, {
    tenantId,
    action: 'billing_adjustment.create',
    subjectType: 'BillingAdjustment',
    subjectId: row.id,
    reason,
    changes: [
      { field: 'amount', after: amount },
      { field: 'description', after: description },
    ],
  })
  return { ...row, tenantId }
}

type GivenMethod = { kind: MethodKind; cardToken?: string | undefined; returnUrl?: string | undefined }

/** Sets the payment method of a tenant and collects open invoices at once. Without a payment provider only transfer is left: 422 `provider_not_configured`. */
export const setPaymentMethod = async (trx: Trx, { kind, cardToken, returnUrl }: GivenMethod): Promise<void> => {
  if (kind !== 'transfer' && settings.billingGateway === 'none')
    throw unprocessable('provider_not_configured', 'Invoices are paid by transfer here; no payment provider is set up')
  if ((kind === 'card') !== (cardToken !== undefined))
    throw invalid([{ field: 'cardToken', message: kind === 'card' ? 'is required for a card' : 'is for cards alone' }])
  const { tenantId } = contextOf(trx)
  await storeMethod(trx, { kind, cardToken, returnUrl })
  await audit(trx, {
    action: 'subscription.payment_method',
    subjectType: 'Subscription',
    subjectId: tenantId,
    changes: [{ field: 'kind', after: kind }],
  })
}
