import { pixOfPayment } from '../../cash/index.ts'
import { businessDay } from '../../financial/index.ts'
import { sum } from '../../lib/amounts.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { giveBack, lockTargets, postGivenBack } from '../allocations.ts'
import { lockPayment } from '../payments/read.ts'
import type { TargetType } from '../targets.ts'
import { freeMoneyOn, moneyOn, requestRefund, reserveRefund } from './request.ts'
import type { RefundReason } from './request.ts'

type Released = { targetType: TargetType; targetId: string; amount: number; reason: RefundReason }

/** Takes recorded money off a target, newest first: a Pix goes back by the bank, other money stands unallocated on its payment then. */
const takeOff = async (
  trx: Trx,
  target: { targetType: TargetType; targetId: string },
  { amount, reason }: { amount: number; reason: RefundReason },
): Promise<void> => {
  const sources = await moneyOn(trx, target.targetType, target.targetId, 'recorded')
  const [first] = sources
  if (!first) return
  const day = await businessDay(trx, first.propertyId)
  await lockTargets(trx, [target])
  let left = amount
  for (const { paymentId, amount: standing } of sources.toSorted((a, b) => (a.paymentId < b.paymentId ? -1 : 1))) {
    const payment = await lockPayment(trx, paymentId)
    if (!payment || left <= 0) continue
    if (payment.method === 'pix' && (await pixOfPayment(trx, paymentId))?.isReturnable) {
      const share = Math.min(left, standing)
      await reserveRefund(trx, payment, share, { reason }, { businessDate: day, only: target })
      left -= share
      continue
    }
    const given = await giveBack(trx, payment, left, day, target)
    const returned = sum(given.map((one) => one.amount))
    left -= returned
    await sql(trx, `update payment set allocated_amount = allocated_amount - ?, version = version + 1 where id = ?`, [
      returned,
      paymentId,
    ])
    await postGivenBack(trx, payment, given)
  }
}

/**
 * Takes money off a target that buys nothing there: gateways send back what they took, the bank of the house a Pix, and what was recorded by hand stands
 * unallocated until a person hands it back (R16). The target is locked.
 */
export const releaseMoney = async (trx: Trx, { targetType, targetId, amount, reason }: Released): Promise<void> => {
  const back = Math.min(amount, await freeMoneyOn(trx, targetType, targetId))
  if (back > 0) await requestRefund(trx, { targetType, targetId, amount: back, reason })
  if (amount > back) await takeOff(trx, { targetType, targetId }, { amount: amount - back, reason })
}

/** Takes all of a payment off a target that it stands on; the money stays, unallocated. The target is locked. */
export const takeOffTarget = async (
  trx: Trx,
  paymentId: string,
  target: { targetType: TargetType; targetId: string },
): Promise<void> => {
  await lockTargets(trx, [target])
  const payment = await lockPayment(trx, paymentId)
  if (!payment) throw new Error(`payment ${paymentId} is gone`)
  const day = await businessDay(trx, payment.propertyId)
  const given = await giveBack(trx, payment, payment.allocatedAmount, day, target)
  await sql(trx, `update payment set allocated_amount = allocated_amount - ?, version = version + 1 where id = ?`, [
    sum(given.map((one) => one.amount)),
    paymentId,
  ])
  await postGivenBack(trx, payment, given)
}
