import { invalid, notFound, unprocessable } from '../../../../config/errors.ts'
import { audit } from '../../../lib/audit.ts'
import { contextOf, sqlOne } from '../../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../../lib/connection.ts'
import { settings } from '../../../../config/env.ts'
import { storeMethod } from '../collect/start.ts'
import type { MethodKind } from '../collect/shared.ts'

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
export const setPaymentMethod = async (
  trx: Trx,
  { kind, cardToken, returnUrl }: GivenMethod,
  expected: number | null = null,
): Promise<void> => {
  if (kind !== 'transfer' && settings.billingGateway === 'none')
    throw unprocessable('provider_not_configured', 'Invoices are paid by transfer here; no payment provider is set up')
  if ((kind === 'card') !== (cardToken !== undefined))
    throw invalid([{ field: 'cardToken', message: kind === 'card' ? 'is required for a card' : 'is for cards alone' }])
  const { tenantId } = contextOf(trx)
  await storeMethod(trx, { kind, cardToken, returnUrl }, expected)
  await audit(trx, {
    action: 'subscription.payment_method',
    subjectType: 'Subscription',
    subjectId: tenantId,
    changes: [{ field: 'kind', after: kind }],
  })
}
