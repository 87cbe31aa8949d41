import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import type { PaymentRow } from '../../db/rows.ts'
import { payForBooking } from '../../db/reservations/payments.ts'
import { applySnapshot } from '../../db/payment/payments/snapshot.ts'
import type { PaymentSnapshot } from '../../db/payment/payments/snapshot.ts'
import type { House } from './factories.ts'

/** Starts a payment of what is due, or of the whole, as a guest would; the gateway is not asked. */
export const startPayment = async (
  house: House,
  bookingId: string,
  amount: 'due' | 'all' = 'due',
  method: 'card' | 'pix' = 'card',
) => (await house.inHouse((trx) => payForBooking(trx, bookingId, { method, amount }))).shown.paymentId

/** Applies the next answer of the gateway about a payment. */
export const gatewaySays = async (
  house: House,
  paymentId: string,
  status: PaymentSnapshot['status'],
  captured?: number,
) => {
  const [payment] = await house.inHouse((trx) =>
    sql<PaymentRow>(trx, `select * from payment where id = ?`, [paymentId]),
  )
  if (!payment) throw new Error('no such payment')
  await house.inHouse((trx) =>
    applySnapshot(trx, paymentId, {
      status,
      externalId: payment.externalId ?? `ch_${randomUUID()}`,
      currency: payment.currency,
      authorisedAmount: 0,
      capturedAmount: status === 'captured' ? (captured ?? payment.amount) : 0,
      action: null,
      failure: null,
      authorisationExpiresAt: null,
    }),
  )
}

/** Paid: the gateway has the money, and what follows from it waits in the jobs table. */
export const pay = async (house: House, bookingId: string, amount: 'due' | 'all' = 'due') => {
  const paymentId = await startPayment(house, bookingId, amount)
  await gatewaySays(house, paymentId, 'captured')
  return paymentId
}

export const refundsOf = (house: House): Promise<{ amount: number; reason: string; status: string }[]> =>
  house.inHouse((trx) =>
    sql<{ amount: number; reason: string; status: string }>(
      trx,
      `select amount, reason, status from refund order by created_at, amount`,
    ),
  )

/** Events raised for the ledger with their amounts, in order; what is raised twice shows. */
export const raisedOf = (
  house: House,
): Promise<{ event: string; amount: number; document: string | null; stage: string | null }[]> =>
  house.inHouse((trx) =>
    sql<{ event: string; amount: number; document: string | null; stage: string | null }>(
      trx,
      `select event, coalesce(payload->'amounts'->>'amount', payload->'amounts'->>'credit')::bigint as amount,
         case when payload->'documents' ? 'folio' then 'folio' when payload->'documents' ? 'booking' then 'booking' end as document,
         payload->'context'->>'folioStage' as stage
       from posting_event order by seq, created_at`.replaceAll(' ? ', String.raw` \? `),
    ),
  )
