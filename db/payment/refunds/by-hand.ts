import { unprocessable } from '../../../config/errors.ts'
import { refundSucceeded } from '../../../config/events/payment.ts'
import { recordMovement } from '../../cash/index.ts'
import type { BookedMovement } from '../../cash/index.ts'
import { raisePosting } from '../../financial/index.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { PaymentRow } from '../../rows.ts'
import { placeOfMoney } from '../payments/place.ts'
import type { Place } from '../payments/place.ts'
import { abilitiesOf } from '../rules/providers.ts'

/** The source of money that is handed back: cash of a session, or an account. */
export type Source = { cashSessionId?: string | undefined; cashAccountId?: string | undefined }

/** Tells whether the gateway cannot send the money back: its account has ended, a refund has failed, or it does not refund the method. */
const isClosedWay = async (trx: Trx, payment: PaymentRow): Promise<boolean> => {
  const account = await sqlOne<{ provider: string; status: string; failed: boolean }>(
    trx,
    `select g.provider, g.status, exists (select from refund f where f.payment_id = ? and f.status = 'failed') as failed
     from gateway_account g where g.id = ?`,
    [payment.id, payment.gatewayAccountId],
  )
  if (!account || account.status === 'disconnected' || account.status === 'failed' || account.failed) return true
  return !abilitiesOf(account.provider).refundable.some((one) => one === payment.method)
}

/** The way that a refund takes (R20). 422 `refund_through_gateway`, `method_unavailable`. */
export const wayOf = async (
  trx: Trx,
  payment: PaymentRow,
  wanted: 'gateway' | 'manual' | undefined,
): Promise<'gateway' | 'manual'> => {
  if (payment.origin === 'recorded') {
    if (wanted === 'gateway')
      throw unprocessable('method_unavailable', 'Money that came outside a gateway goes back by hand')
    return 'manual'
  }
  if (wanted !== 'manual') return 'gateway'
  if (!(await isClosedWay(trx, payment)))
    throw unprocessable('refund_through_gateway', 'The gateway sends this money back', [
      { field: 'via', message: 'must be gateway' },
    ])
  return 'manual'
}

/** The source of money that goes back: the one named, else the account that took it, else the caller's drawer. */
export const sourceOf = (trx: Trx, payment: PaymentRow, given: Source): Promise<Place> => {
  const fromAccount =
    given.cashAccountId ?? (payment.method === 'cash' ? undefined : (payment.cashAccountId ?? undefined))
  const byCash = given.cashSessionId !== undefined || fromAccount === undefined
  return placeOfMoney(trx, {
    propertyId: payment.propertyId,
    currency: payment.currency,
    method: byCash ? 'cash' : 'other',
    ...(byCash ? { cashSessionId: given.cashSessionId } : { cashAccountId: fromAccount }),
  })
}

type Handed = {
  refundId: string
  amount: number
  reason: string
  place: Place
  /** Books the money, where that is not done here. */
  book?: (() => Promise<BookedMovement>) | undefined
}

/** Books money that was handed back: its movement, and the end of the refund. The payment is locked; the request is posted. */
export const handBack = async (
  trx: Trx,
  payment: PaymentRow,
  { refundId, amount, reason, place, book }: Handed,
): Promise<void> => {
  await sql(trx, `update payment set refunded_amount = refunded_amount + ?, version = version + 1 where id = ?`, [
    amount,
    payment.id,
  ])
  const movement = book
    ? await book()
    : await recordMovement(trx, {
        cashAccountId: place.cashAccountId,
        amount: -amount,
        kind: 'guest_refund',
        source: { type: 'refund', id: refundId },
        description: `Refund of a payment by ${payment.method.replaceAll('_', ' ')}`,
        propertyId: payment.propertyId,
        sessionId: place.cashSessionId,
      })
  await emit(trx, refundSucceeded, {
    propertyId: payment.propertyId,
    id: refundId,
    version: 1,
    data: { refundId, paymentId: payment.id, amount, currency: payment.currency, reason, via: 'manual' },
  })
  await raisePosting(trx, {
    event: 'payment.refund_succeeded',
    source: { id: refundId },
    propertyId: payment.propertyId,
    payload: {
      amounts: { amount },
      accounts: { money: movement.ledgerAccountId },
      documents: { payment: payment.id, refund: refundId },
      context: { method: payment.method },
    },
  })
}
