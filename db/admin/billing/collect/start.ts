import { randomUUID } from 'node:crypto'
import { settings } from '../../../../config/env.ts'
import { versionConflict } from '../../../../config/errors.ts'
import { collectInvoice, retryInvoice } from '../../../../jobs/admin.ts'
import { sql, sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'
import { enqueue } from '../../../lib/enqueue.ts'
import { seal, unseal } from '../../../lib/sealing/index.ts'
import { invoiceOf, tokenPlace, submissionPlace, tenantOf, gate } from './shared.ts'
import type { MethodKind } from './shared.ts'

type Method = {
  kind: MethodKind | null
  methodRef: string | null
  customerRef: string | null
  cardToken: Buffer | null
}

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

/** A try of a card is over by then. */
const soon = () => new Date(Date.now() + 600_000)

type Given = { kind: MethodKind; cardToken?: string | undefined; returnUrl?: string | undefined }

/** Keeps how a tenant pays, and collects its open invoices at once. Under the lock of the subscription: of two at once, the later one stays. */
export const storeMethod = async (
  trx: Trx,
  { kind, cardToken, returnUrl }: Given,
  expected: number | null,
): Promise<void> => {
  const tenantId = tenantOf(trx)
  const held = await sqlOne<{ version: number }>(
    trx,
    `select version from subscription where tenant_id = ? for no key update`,
    [tenantId],
  )
  if (held && expected !== null && held.version !== expected) throw versionConflict(held.version)
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
  for (const { id } of open)
    if ((await startCollection(trx, id)) === null && kind !== 'transfer')
      // A try by the former way is under way: this one has its turn where that fails.
      await enqueue(trx, retryInvoice, { tenantId, invoiceId: id }, { at: soon(), uniqueKey: `${id} method` })
}
