import { sendPaymentLink } from '../../../jobs/payment.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { unseal } from '../../lib/sealing/index.ts'
import { queueMessage } from '../../ocp/index.ts'
import type { PaymentRow } from '../../rows.ts'
import { payerPlace, submissionPlace } from './create.ts'
import type { Payer, Submission } from './create.ts'
import { readPayment } from './read.ts'

/** A link that has its page is sent, if that was asked for. */
export const announceLink = async (trx: Trx, { channel, action, tenantId, id }: PaymentRow): Promise<void> => {
  if (channel === 'link' && action !== null)
    await enqueue(trx, sendPaymentLink, { tenantId, paymentId: id }, { uniqueKey: `link-${id}` })
}

/** Queues the message that brings a payer to the page of the gateway: one for each link, while it can be paid. */
export const sendLink = async (trx: Trx, paymentId: string): Promise<void> => {
  const payment = await readPayment(trx, paymentId)
  if (payment?.status !== 'requires_action' || payment.action === null || payment.submission === null) return
  if (payment.cancelRequestedAt !== null) return
  const { send } = await unseal<Submission>(trx, 'tenant', submissionPlace(paymentId), payment.submission)
  if (!send) return
  const payer = payment.payer ? await unseal<Payer>(trx, 'tenant', payerPlace(paymentId), payment.payer) : null
  const to = send.to ?? (send.channel === 'email' ? payer?.email : payer?.phone)
  const leftMs = (payment.expiresAt?.getTime() ?? 0) - Date.now()
  if (to === undefined || leftMs <= 0) return
  await queueMessage(trx, {
    propertyId: payment.propertyId,
    templateKey: 'payment-link',
    dedupeKey: `link-${paymentId}`,
    recipient: {
      name: send.name ?? payer?.name ?? '',
      ...(send.channel === 'email' ? { email: to } : { phone: to }),
      ...(send.language ? { language: send.language } : {}),
    },
    paymentId,
    data: { linkOfPaymentId: paymentId },
    plan: [{ channel: send.channel, waitMinutes: 30 }],
    validMinutes: Math.max(1, Math.floor(leftMs / 60_000)),
  })
}
