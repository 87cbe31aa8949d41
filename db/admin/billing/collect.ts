import { randomUUID } from 'node:crypto'
import { settings } from '../../../config/env.ts'
import { subscriptionInvoicePaid } from '../../../config/events/admin.ts'
import { collectInvoice, readInvoicePayment, retryInvoice } from '../../../jobs/admin.ts'
import { audit } from '../../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import type { PaymentSnapshot } from '../../payment/index.ts'
import { tellOwners } from '../notices.ts'

export type MethodKind = 'card' | 'pix' | 'boleto' | 'transfer'
type Status = 'created' | 'unknown' | 'requires_action' | 'processing' | 'captured' | 'failed' | 'cancelled'
/** The account of the provider of this service, at the gateway that bills are paid through. */
export const platformAccount = 'platform'

/** Words of an amount for a mail. */
export const wordsOf = (amount: number, currency: string, locale = 'en'): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency }).format(amount / 100)

type Invoice = {
  id: string
  number: string
  status: 'issued' | 'paid' | 'void'
  total: number
  currency: string
  dueOn: string
  issuedAt: Date
}
const invoiceOf = (trx: Trx, invoiceId: string, lock = ''): Promise<Invoice | null> =>
  sqlOne<Invoice>(
    trx,
    `select id, number, status, total, currency, due_on::text as due_on, issued_at from subscription_invoice where id = ? ${lock}`,
    [invoiceId],
  )

type Method = {
  kind: MethodKind | null
  methodRef: string | null
  customerRef: string | null
  cardToken: Buffer | null
}
const tokenPlace = (tenantId: string) => ({ table: 'subscription', rowId: tenantId, purpose: 'card_token' })
const submissionPlace = (id: string) => ({ table: 'invoice_payment', rowId: id, purpose: 'submission' })
const tenantOf = (trx: Trx): string => contextOf(trx).tenantId ?? ''

/**
 * Asks for the money of an invoice by the way that its tenant pays: one try, which is not begun while another is under way. Nothing where it is
 * paid by transfer, or paid already. The invoice is locked.
 */
export const startCollection = async (trx: Trx, invoiceId: string): Promise<string | null> => {
  const tenantId = tenantOf(trx)
  const invoice = await invoiceOf(trx, invoiceId, 'for no key update')
  if (invoice?.status !== 'issued' || settings.billingGateway === 'none') return null
  const method = await sqlOne<Method>(
    trx,
    `select payment_method->>'kind' as kind, method_ref, customer_ref, card_token from subscription where tenant_id = ?`,
    [tenantId],
  )
  const kind = method?.kind
  if (!method || (kind !== 'card' && kind !== 'pix' && kind !== 'boleto')) return null
  const busy = await sqlOne(
    trx,
    `select 1 from invoice_payment where invoice_id = ? and (status in ('created', 'unknown', 'processing') or (status = 'requires_action' and method = ?))`,
    [invoiceId, kind],
  )
  if (busy) return null
  const id = randomUUID()
  const token = method.cardToken ? await unseal<string>(trx, 'tenant', tokenPlace(tenantId), method.cardToken) : null
  await sql(
    trx,
    `insert into invoice_payment (id, tenant_id, invoice_id, try, provider, method, amount, currency, method_ref, customer_ref, submission)
     select :id, :tenantId, :invoiceId, coalesce(max(try), 0) + 1, :provider, :method, :amount, :currency, :methodRef, :customerRef, :submission::bytea
     from invoice_payment where invoice_id = :invoiceId`,
    {
      id,
      tenantId,
      invoiceId,
      provider: settings.billingGateway,
      method: kind,
      amount: invoice.total,
      currency: invoice.currency,
      methodRef: kind === 'card' ? method.methodRef : null,
      customerRef: kind === 'card' ? method.customerRef : null,
      submission:
        kind === 'card' && token !== null && method.methodRef === null
          ? await seal(trx, 'tenant', submissionPlace(id), token)
          : null,
    },
  )
  await enqueue(trx, collectInvoice, { tenantId, invoicePaymentId: id }, { gate: gate() })
  return id
}

const gate = () => `${settings.billingGateway}:${platformAccount}`

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
  number: string
  sentAt: Date | null
  createdAt: Date
  now: Date
  customer: { name: string; billingEmail: string; document: string | null }
}

/** A try as the gateway is asked for it; null where it has ended. Notes that it is sent. */
export const invoiceCall = async (trx: Trx, id: string): Promise<InvoiceCall | null> => {
  const row = await sqlOne<Omit<InvoiceCall, 'cardToken'> & { submission: Buffer | null }>(
    trx,
    `select p.id, p.provider, p.method, p.status, p.amount, p.currency, p.external_id, p.method_ref, p.customer_ref, p.submission, i.number, p.sent_at,
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

const dayMs = 86_400_000
/** After the day of issue, the days on which a card is tried again. */
const retryDays = [3, 7, 14]
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

type Locked = { id: string; invoiceId: string; status: Status; try: number; method: string; amount: number }

const lockTry = async (trx: Trx, id: string): Promise<{ payment: Locked; invoice: Invoice } | null> => {
  const found = await sqlOne<{ invoiceId: string }>(trx, `select invoice_id from invoice_payment where id = ?`, [id])
  if (!found) return null
  await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantOf(trx)])
  const invoice = await invoiceOf(trx, found.invoiceId, 'for no key update')
  const payment = await sqlOne<Locked>(
    trx,
    `select id, invoice_id, status, try, method, amount from invoice_payment where id = ? for no key update`,
    [id],
  )
  return invoice && payment ? { payment, invoice } : null
}

const ranks: Record<Status, number> = {
  created: 0,
  unknown: 0,
  requires_action: 1,
  processing: 2,
  failed: 3,
  cancelled: 3,
  captured: 4,
}

/** Takes what the gateway says of a try. Facts may come twice and in any order; money that came stays. */
export const applyInvoicePayment = async (trx: Trx, id: string, snapshot: PaymentSnapshot): Promise<void> => {
  const locked = await lockTry(trx, id)
  if (!locked) return
  const { payment, invoice } = locked
  const status: Status = snapshot.status === 'authorised' ? 'processing' : snapshot.status
  if (
    ranks[status] < ranks[payment.status] ||
    (ranks[status] === ranks[payment.status] && status === payment.status && status !== 'requires_action')
  ) {
    if (!['captured', 'failed', 'cancelled'].includes(payment.status)) await readLater(trx, id)
    return
  }
  await sql(
    trx,
    `update invoice_payment set status = :status, external_id = coalesce(:externalId, external_id), captured_amount = :captured, action = :action::jsonb,
       failure_code = :code, failure_message = :message, submission = case when :ended then null else submission end,
       ended_at = case when :ended then now() end where id = :id`,
    {
      id,
      status,
      externalId: snapshot.externalId,
      captured: snapshot.capturedAmount,
      action: snapshot.action ? JSON.stringify(snapshot.action) : null,
      code: snapshot.failure?.code ?? null,
      message: snapshot.failure?.message.slice(0, 200) ?? null,
      ended: ranks[status] >= 3,
    },
  )
  await sql(trx, `update subscription set action = ?::jsonb where tenant_id = ?`, [
    status === 'requires_action' ? JSON.stringify({ invoiceId: invoice.id, ...snapshot.action }) : null,
    tenantOf(trx),
  ])
  if (status === 'captured') return captured(trx, { payment, invoice }, snapshot)
  if (status === 'failed') return failed(trx, { payment, invoice })
  if (status !== 'cancelled') await readLater(trx, id)
}

type Pair = { payment: Locked; invoice: Invoice }

const captured = async (trx: Trx, { payment, invoice }: Pair, snapshot: PaymentSnapshot): Promise<void> => {
  const tenantId = tenantOf(trx)
  if (snapshot.savedMethodRef)
    await sql(
      trx,
      `update subscription set method_ref = ?, card_token = null where tenant_id = ? and payment_method->>'kind' = 'card' and card_token is not null`,
      [snapshot.savedMethodRef, tenantId],
    )
  await sql(
    trx,
    `update subscription set payment_method = payment_method || '{"status": "active"}' where tenant_id = ? and payment_method->>'kind' = ?`,
    [tenantId, payment.method],
  )
  const due = invoice.status === 'issued' ? invoice.total : 0
  const over = snapshot.capturedAmount - due
  if (invoice.status === 'issued' && over >= 0) await payInvoice(trx, invoice)
  const credit = invoice.status === 'issued' && over < 0 ? snapshot.capturedAmount : over
  if (credit > 0)
    await sql(
      trx,
      `insert into billing_adjustment (tenant_id, amount, description, reason) values (?, ?, ?, 'paid beyond what was due')`,
      [tenantId, -credit, `Paid for invoice ${invoice.number}`],
    )
}

/** Marks an invoice, which is locked, as paid, and tells of it. */
export const payInvoice = async (trx: Trx, invoice: Invoice): Promise<void> => {
  const tenantId = tenantOf(trx)
  await sql(
    trx,
    `update subscription_invoice set status = 'paid', paid_at = now() where id = ? and status = 'issued'`,
    [invoice.id],
  )
  await clearPastDue(trx, tenantId)
  await audit(trx, {
    action: 'subscription_invoice.pay',
    subjectType: 'SubscriptionInvoice',
    subjectId: invoice.id,
    changes: [{ field: 'status', before: 'issued', after: 'paid' }],
  })
  const { id, number, total, currency, dueOn } = invoice
  await emit(trx, subscriptionInvoicePaid, {
    propertyId: null,
    id,
    version: null,
    data: { invoiceId: id, number, total, currency, dueOn },
  })
}

/** A subscription without an invoice past its day is past due no more. */
export const clearPastDue = (trx: Trx, tenantId: string) =>
  sql(
    trx,
    `update subscription s set past_due_since = null where s.tenant_id = ? and s.past_due_since is not null
       and not exists (select from subscription_invoice i where i.tenant_id = s.tenant_id and i.status = 'issued' and i.due_on < (now() at time zone 'UTC')::date)`,
    [tenantId],
  )

const failed = async (trx: Trx, { payment, invoice }: Pair): Promise<void> => {
  const tenantId = tenantOf(trx)
  await sql(
    trx,
    `update subscription set payment_method = payment_method || '{"status": "failed"}' where tenant_id = ? and payment_method->>'kind' = ?`,
    [tenantId, payment.method],
  )
  if (invoice.status !== 'issued') return
  const { number, total, currency, dueOn } = invoice
  await tellOwners(trx, 'subscription_payment_failed', payment.id, {
    key: number,
    day: dueOn,
    amount: wordsOf(total, currency),
  })
  const days = retryDays[payment.try - 1]
  if (days !== undefined && payment.method === 'card')
    await enqueue(
      trx,
      retryInvoice,
      { tenantId, invoiceId: invoice.id },
      { at: new Date(invoice.issuedAt.getTime() + days * dayMs), uniqueKey: `${invoice.id} ${payment.try}` },
    )
}

type Given = { kind: MethodKind; cardToken?: string | undefined; returnUrl?: string | undefined }

/** Keeps how a tenant pays, and collects its open invoices at once. Under the lock of the subscription: of two at once, the later one stays. */
export const storeMethod = async (trx: Trx, { kind, cardToken, returnUrl }: Given): Promise<void> => {
  const tenantId = tenantOf(trx)
  await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantId])
  const sealed = cardToken === undefined ? null : await seal(trx, 'tenant', tokenPlace(tenantId), cardToken)
  await sql(
    trx,
    `update subscription set payment_method = :method::jsonb, card_token = :token, method_ref = null, customer_ref = null, return_url = :returnUrl, action = null,
       version = version + 1 where tenant_id = :tenantId`,
    {
      tenantId,
      method: JSON.stringify({ kind, status: kind === 'card' ? 'pending' : 'active' }),
      token: sealed,
      returnUrl: returnUrl ?? null,
    },
  )
  const open = await sql<{ id: string }>(
    trx,
    `select id from subscription_invoice where tenant_id = ? and status = 'issued' order by issued_at, id limit 100`,
    [tenantId],
  )
  for (const { id } of open) await startCollection(trx, id)
}

/** Tries of an invoice, the last first. */
export const triesOf = (trx: Trx, invoiceId: string) =>
  sql<{
    id: string
    method: 'card' | 'pix' | 'boleto'
    amount: number
    status: Status
    action: unknown
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
