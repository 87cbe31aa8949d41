import { businessDay } from '../../financial/index.ts'
import { prepared, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Payable, PaymentTarget } from '../../payment/index.ts'
import type { PosOrderRow } from '../../rows.ts'
import { lockPosOrder } from './state.ts'

type Owed = Pick<PosOrderRow, 'currency' | 'propertyId' | 'total' | 'paidAmount' | 'status'>

/** The account that a locked order gives of itself to payments. */
export const payableOf = ({ currency, propertyId, total, paidAmount, status }: Owed): Payable => {
  const open = status === 'open'
  return { currency, propertyId, open, payable: open ? Math.max(0, total - paidAmount) : 0 }
}

/** An order as a target of payments: while it is open it takes what it comes to, less what was paid. */
const orderTarget: PaymentTarget = {
  async lock(trx, id) {
    const seen = await sqlOne<Pick<PosOrderRow, 'propertyId'>>(trx, `select property_id from pos_order where id = ?`, [
      id,
    ])
    if (!seen) return null
    await businessDay(trx, seen.propertyId)
    return payableOf(await lockPosOrder(trx, id))
  },
  onProcessing: () => Promise.resolve(),
  async apply(trx, id, { amount, payable, paymentId }) {
    const taken = Math.max(0, Math.min(payable, amount))
    if (taken === 0) return { taken }
    await Promise.all([
      prepared(trx, `update pos_order set paid_amount = paid_amount + ?, version = version + 1 where id = ?`, [
        taken,
        id,
      ]),
      prepared(
        trx,
        `insert into pos_settlement (order_id, type, payment_id, amount) values (?, 'payment', ?, ?)
         on conflict (tenant_id, order_id, payment_id) do update set amount = pos_settlement.amount + excluded.amount`,
        [id, paymentId, taken],
      ),
    ])
    return { taken }
  },
  /** Money that goes back leaves a closed order as it was settled. */
  async revert(trx, id, { amount, paymentId }) {
    const order = await sqlOne<Pick<PosOrderRow, 'status'>>(
      trx,
      `update pos_order set paid_amount = paid_amount - ?, version = version + 1 where id = ? returning status`,
      [amount, id],
    )
    if (order?.status !== 'open') return
    await sql(trx, `delete from pos_settlement where order_id = ? and payment_id = ? and amount <= ?`, [
      id,
      paymentId,
      amount,
    ])
    await sql(trx, `update pos_settlement set amount = amount - ? where order_id = ? and payment_id = ?`, [
      amount,
      id,
      paymentId,
    ])
  },
}

/** Targets of payments that this module owns. */
export const orderTargets = { pos_order: orderTarget }

/** Open orders of stays, which keep their guests from leaving (`open_checks`). */
export const openOrders = (trx: Trx, reservationIds: readonly string[]) =>
  sql<{ reservationId: string; number: string }>(
    trx,
    `select reservation_id, number from pos_order where reservation_id = any(?::uuid[]) and status = 'open' order by number`,
    [reservationIds],
  )
