import { notFound } from '../../../../config/errors.ts'
import { contextOf, sql, sqlOne } from '../../../lib/connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../../../lib/connection.ts'
import { withinDays } from '../../../lib/days.ts'
import { fact, readPage, where } from '../../../lib/paging.ts'
import type { Page, Paging } from '../../../lib/paging.ts'
import { totalOf } from '../../rules/lines.ts'
import { billOf, customerOf, readFacts } from '../bill.ts'
import { triesOf } from '../collect/read.ts'
import type { BillingAddress } from '../../tenants.ts'

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
  billingAddress: BillingAddress | null
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
    `select coalesce(sum(n), 0)::bigint as count from list_count where tenant_id = ? and list = 'subscription_invoice'`,
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

const isOverdue = `i.status = 'issued' and i.due_on < (now() at time zone 'UTC')::date`

/** Invoices of all tenants, by their days of issue. */
export const listInvoices = (trx: PlatformTrx, { tenantId, status, overdue, from, to, ...paging }: InvoiceFilter) =>
  readPage<InvoiceSummary>(
    trx,
    {
      columns,
      from: 'subscription_invoice i',
      conditions: [...where('i.tenant_id = ?', tenantId), ...where('i.status = ?', status)],
      days: withinDays('i.issued_at', { from, to }),
      facts: fact(overdue, isOverdue),
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
