import { businessDay } from '../financial/index.ts'
import type { PixModules } from '../cash/index.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { bookOfProperty } from './accounts.ts'
import { lockTargets, lockedTarget } from './allocations.ts'
import { recordPayment } from './payments/record.ts'
import { requestRefund } from './refunds/request.ts'

const propertyOf = async (trx: Trx, targetType: string, targetId: string): Promise<string | null> =>
  (
    await sqlOne<{ propertyId: string }>(trx, `select property_id from ?? where tenant_id = ? and id = ?`, [
      targetType,
      contextOf(trx).tenantId,
      targetId,
    ])
  )?.propertyId ?? null

/** The Pix charges of guests, and the use of their money (R25). */
export const pixMoney: Pick<PixModules, 'targetOf' | 'payment'> & { takenBack: PixModules['takenBack']['payment'] } = {
  targetOf: async (trx, { targetType, targetId }) => {
    const locked = await lockTargets(trx, [{ targetType, targetId }])
    const found = lockedTarget(locked, targetType, targetId)
    return found
      ? {
          bookId: await bookOfProperty(trx, found.propertyId),
          propertyId: found.propertyId,
          currency: found.currency,
          isOpen: found.open,
        }
      : null
  },
  payment: async (trx, { target, amount, currency, cashAccountId, at, reference, book }) => {
    if (!target || target.targetType === 'receivable') return null
    const propertyId = await propertyOf(trx, target.targetType, target.targetId)
    if (propertyId === null) return null
    await businessDay(trx, propertyId)
    const { targetType, targetId } = target
    const found = lockedTarget(await lockTargets(trx, [{ targetType, targetId }]), targetType, targetId)
    if (found?.currency !== currency) return null
    return recordPayment(trx, {
      propertyId,
      method: 'pix',
      amount,
      currency,
      targetType,
      targetId,
      receivedAt: at.toISOString(),
      cashAccountId,
      reference,
      channel: 'automatic',
      movement: await book(),
    })
  },
  takenBack: async (trx, { claimedById, amount, book }) => {
    const [refund] = await requestRefund(trx, { paymentId: claimedById, amount, reason: 'other', via: 'manual', book })
    return refund ? { id: refund.refundId } : null
  },
}
