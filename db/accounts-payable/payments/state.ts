import { notFound, versionConflict } from '../../../config/errors.ts'
import type { Event } from '../../../config/events/event.ts'
import type { PayablePaymentStatus } from '../../../config/payables.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import type { ItemRecord, PaymentRecord } from '../models.ts'

export const paymentMoves = lifecycle<PayablePaymentStatus>('A payment')({
  approved: { from: ['awaiting_approval'], to: 'approved' },
  voided: { from: ['awaiting_approval', 'approved', 'sending', 'paid', 'partly_paid', 'failed'], to: 'void' },
})

export const itemsOf = (trx: Trx, paymentId: string): Promise<ItemRecord[]> =>
  sql<ItemRecord>(
    trx,
    `select * from payable_payment_item where tenant_id = ? and payable_payment_id = ? order by position`,
    [contextOf(trx).tenantId, paymentId],
  )

/** Locks the bills of a payment, then the payment. Answers it with its items as they stand under the lock. 404, 409 `version_conflict`. */
export const lockPayment = async (
  trx: Trx,
  id: string,
  expected: number | null = null,
): Promise<{ payment: PaymentRecord; items: ItemRecord[] }> => {
  const { tenantId } = contextOf(trx)
  await sql(
    trx,
    `select p.id from payable p where p.tenant_id = :tenantId
       and p.id in (select payable_id from payable_payment_item where tenant_id = :tenantId and payable_payment_id = :id) order by p.id for no key update`,
    { tenantId, id },
  )
  const payment = await sqlOne<PaymentRecord>(
    trx,
    `select * from payable_payment where tenant_id = ? and id = ? for no key update`,
    [tenantId, id],
  )
  if (!payment) throw notFound()
  if (expected !== null && payment.version !== expected) throw versionConflict(payment.version)
  return { payment, items: await itemsOf(trx, id) }
}

/** Derives the state of a payment from its items. The caller holds it. Answers it as it stands then. */
export const refreshPayment = async (trx: Trx, id: string): Promise<PaymentRecord> => {
  const row = await sqlOne<PaymentRecord>(
    trx,
    `update payable_payment p set version = p.version + 1, status = case
         when s.sending > 0 or (s.queued > 0 and s.paid + s.failed > 0 and p.status <> 'awaiting_approval') then 'sending'
         when s.queued > 0 then p.status
         when s.paid = 0 and s.failed = 0 then 'void'
         when s.paid = 0 then 'failed'
         when s.failed + s.void > 0 then 'partly_paid' else 'paid' end
     from (select count(*) filter (where status = 'queued') as queued, count(*) filter (where status = 'sending') as sending,
         count(*) filter (where status = 'paid') as paid, count(*) filter (where status = 'failed') as failed, count(*) filter (where status = 'void') as void
       from payable_payment_item where tenant_id = :tenantId and payable_payment_id = :id) s
     where p.tenant_id = :tenantId and p.id = :id returning p.*`,
    { tenantId: contextOf(trx).tenantId, id },
  )
  if (!row) throw notFound()
  return row
}

/** Tells of a payment, with the bills of the items that it is about. */
export const tellPayment = (
  trx: Trx,
  event: Event,
  payment: PaymentRecord,
  items: readonly Pick<ItemRecord, 'payableId' | 'cash'>[],
) =>
  emit(trx, event, {
    propertyId: null,
    id: payment.id,
    version: payment.version,
    data: {
      payablePaymentId: payment.id,
      amount: items.reduce((total, { cash }) => total + cash, 0),
      currency: payment.currency,
      // Of a larger batch the first ones: an event is bounded.
      payableIds: [...new Set(items.flatMap(({ payableId }) => payableId ?? []))].slice(0, 100),
    },
  })
