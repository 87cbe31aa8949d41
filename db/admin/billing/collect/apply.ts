import { moneyText } from '../../../../config/minor-units.ts'
import { subscriptionInvoicePaid } from '../../../../config/events/admin.ts'
import { retryInvoice } from '../../../../jobs/admin.ts'
import { audit } from '../../../lib/audit.ts'
import { sql, sqlOne } from '../../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../../lib/connection.ts'
import { enqueue } from '../../../lib/enqueue.ts'
import { emit } from '../../../lib/events.ts'
import type { PaymentSnapshot } from '../../../payment/index.ts'
import { tellOwners } from '../../notices.ts'
import { invoiceOf, tenantOf } from './shared.ts'
import type { Status, Invoice } from './shared.ts'
import { readLater } from './call.ts'
import { startCollection } from './start.ts'

const dayMs = 86_400_000

/** After the day of issue, the days on which a card is tried again. */
const retryDays = [3, 7, 14]
/** The least time between two tries: the clock of a process is not that of another. */
const leastApartMs = 3_600_000

type Locked = {
  id: string
  invoiceId: string
  status: Status
  try: number
  method: string
  amount: number
  /** The try is of the tenant's present way to pay. */
  isPresent: boolean
}

const lockTry = async (trx: Trx, id: string): Promise<{ payment: Locked; invoice: Invoice } | null> => {
  const found = await sqlOne<{ invoiceId: string }>(trx, `select invoice_id from invoice_payment where id = ?`, [id])
  if (!found) return null
  const tenantId = tenantOf(trx)
  await sql(trx, `select tenant_id from subscription where tenant_id = ? for no key update`, [tenantId])
  const invoice = await invoiceOf(trx, found.invoiceId, 'for no key update')
  const payment = await sqlOne<Locked>(
    trx,
    `select p.id, p.invoice_id, p.status, p.try, p.method, p.amount,
       exists (select from subscription s where s.tenant_id = ? and s.method_no = p.method_no) as is_present
     from invoice_payment p where p.id = ? for no key update of p`,
    [tenantId, id],
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
  // A tenant that pays another way by now, or has paid, is asked for nothing.
  if (payment.isPresent && status === 'requires_action' && invoice.status === 'issued')
    await sql(trx, `update subscription set action = ?::jsonb where tenant_id = ?`, [
      JSON.stringify({ invoiceId: invoice.id, ...snapshot.action }),
      tenantOf(trx),
    ])
  else if (payment.isPresent || status === 'captured') await endAction(trx, tenantOf(trx), invoice.id)
  if (status === 'captured') return captured(trx, { payment, invoice }, snapshot)
  if (!payment.isPresent && ranks[status] >= 3) {
    // The way to pay was changed while the try was under way: what is owed is asked for by the present one.
    await startCollection(trx, invoice.id)
    return
  }
  if (status === 'failed') return failed(trx, { payment, invoice })
  if (status !== 'cancelled') await readLater(trx, id)
}

type Pair = { payment: Locked; invoice: Invoice }

const captured = async (trx: Trx, { payment, invoice }: Pair, snapshot: PaymentSnapshot): Promise<void> => {
  const tenantId = tenantOf(trx)
  const { savedMethodRef = null, savedCustomerRef = null, card = null } = snapshot
  if (payment.isPresent && savedMethodRef !== null)
    await sql(
      trx,
      `update subscription set method_ref = ?, customer_ref = ?, card_token = null where tenant_id = ? and card_token is not null`,
      [savedMethodRef, savedCustomerRef, tenantId],
    )
  if (payment.isPresent)
    await sql(
      trx,
      `update subscription set payment_method = payment_method || jsonb_build_object('status', 'active') || cast(? as jsonb) where tenant_id = ?`,
      [JSON.stringify(card ?? {}), tenantId],
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

/** Asks the tenant no more to do something for this invoice; what is asked for another one stands. */
export const endAction = (trx: PlatformTrx | Trx, tenantId: string, invoiceId: string) =>
  sql(trx, `update subscription set action = null where tenant_id = ? and action ->> 'invoiceId' = ?`, [
    tenantId,
    invoiceId,
  ])

/** A subscription without an invoice past its day is past due no more. */
export const clearPastDue = (trx: PlatformTrx | Trx, tenantId: string) =>
  sql(
    trx,
    `update subscription s set past_due_since = null where s.tenant_id = ? and s.past_due_since is not null
       and not exists (select from subscription_invoice i where i.tenant_id = s.tenant_id and i.status = 'issued' and i.due_on < (now() at time zone 'UTC')::date)`,
    [tenantId],
  )

/** Asks for the next try of a card on the next of its days, however many tries there were: one that was tried late, or is new, is not tried again at once. */
const retryLater = async (trx: Trx, { id: invoiceId, issuedAt }: Invoice): Promise<void> => {
  const clock = await sqlOne<{ now: Date }>(trx, `select now() as now`)
  const soonest = (clock?.now.getTime() ?? Date.now()) + leastApartMs
  const days = retryDays.find((after) => issuedAt.getTime() + after * dayMs > soonest)
  if (days === undefined) return
  const at = new Date(issuedAt.getTime() + days * dayMs)
  await enqueue(trx, retryInvoice, { tenantId: tenantOf(trx), invoiceId }, { at, uniqueKey: `${invoiceId} ${days}` })
}

const failed = async (trx: Trx, { payment, invoice }: Pair): Promise<void> => {
  const tenantId = tenantOf(trx)
  await sql(
    trx,
    `update subscription set payment_method = payment_method || '{"status": "failed"}' where tenant_id = ?`,
    [tenantId],
  )
  if (invoice.status !== 'issued') return
  const { number, total, currency, dueOn, locale } = invoice
  await tellOwners(trx, 'subscription_payment_failed', payment.id, {
    key: number,
    day: dueOn,
    amount: moneyText(total, currency, locale),
  })
  if (payment.method === 'card') await retryLater(trx, invoice)
}
