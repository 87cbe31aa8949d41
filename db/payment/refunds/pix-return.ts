import { accountFacts } from '../../cash/index.ts'
import type { PixModules, PixReturnAnswer } from '../../cash/index.ts'
import { businessDay } from '../../financial/index.ts'
import type { Trx } from '../../lib/connection.ts'
import type { RefundRow } from '../../rows.ts'
import { lockedTarget, lockTargets } from '../allocations.ts'
import { lockPayment, readPayment } from '../payments/read.ts'
import { lockRefund, readRefund } from './read.ts'
import { wayOf } from './by-hand.ts'
import { requestRefund } from './request.ts'
import { applyRefundSnapshot } from './snapshot.ts'

const refundOf = async (trx: Trx, refundId: string): Promise<RefundRow> => {
  const refund = await readRefund(trx, refundId)
  if (!refund) throw new Error(`there is no refund ${refundId}`)
  return refund
}

/** The end of a refund that the bank of the house sends back as a Pix, in the transaction in which it is known (R20). */
export const refundByPix: PixReturnAnswer = {
  hold: async (trx, refundId) => {
    const { propertyId, paymentId } = await refundOf(trx, refundId)
    await businessDay(trx, propertyId)
    await lockPayment(trx, paymentId)
    await lockRefund(trx, refundId)
  },
  end: async (trx, refundId, end) => {
    const { cashAccountId } = (await readPayment(trx, (await refundOf(trx, refundId)).paymentId)) ?? {}
    const { ledgerAccountId } = end.status === 'succeeded' ? end.movement : await accountFacts(trx, cashAccountId ?? '')
    const failure =
      end.status === 'failed' ? ({ code: 'other', message: end.failure.message.slice(0, 200) } as const) : null
    await applyRefundSnapshot(trx, refundId, { status: end.status, externalId: null, failure }, ledgerAccountId)
  },
}

/** Sends back a Pix for a booking that takes nothing any more (R16), unless the bank cannot: it stands unallocated then. */
export const returnUnwanted: PixModules['unwanted'] = async (trx, paymentId) => {
  const payment = await readPayment(trx, paymentId)
  if (payment?.targetType !== 'booking' || payment.targetId === null || payment.allocatedAmount > 0) return
  const { targetType, targetId } = payment
  const target = lockedTarget(await lockTargets(trx, [{ targetType, targetId }]), targetType, targetId)
  if (!target || target.open || (await wayOf(trx, payment, undefined)).via !== 'pix_return') return
  await requestRefund(trx, { paymentId, reason: 'late_payment' })
}
