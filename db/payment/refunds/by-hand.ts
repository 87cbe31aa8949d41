import { unprocessable } from '../../../config/errors.ts'
import { refundSucceeded } from '../../../config/events/payment.ts'
import { pixOfPayment, recordMovement } from '../../cash/index.ts'
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

export type RefundVia = 'gateway' | 'manual' | 'pix_return'
export type Way = { via: 'gateway' | 'manual' } | { via: 'pix_return'; pixReceiptId: string }

const goesBackBy = (via: 'gateway' | 'pix_return', by: string) =>
  unprocessable('refund_through_gateway', `${by} sends this money back`, [{ field: 'via', message: `must be ${via}` }])

/** Recorded money goes back by hand; what a Pix at the bank of the house has brought, by the bank. */
const wayOfRecorded = async (trx: Trx, payment: PaymentRow, wanted: RefundVia | undefined): Promise<Way> => {
  if (wanted === 'gateway')
    throw unprocessable('method_unavailable', 'Money that came outside a gateway goes back by hand')
  const pix = payment.method === 'pix' ? await pixOfPayment(trx, payment.id) : null
  if (wanted === 'pix_return' && !pix)
    throw unprocessable('method_unavailable', 'Only money that came by a Pix of the bank is returned so', [
      { field: 'via', message: 'must be manual' },
    ])
  if (!pix || (wanted === undefined && !pix.isReturnable)) return { via: 'manual' }
  if (wanted !== 'manual') return { via: 'pix_return', pixReceiptId: pix.pixReceiptId }
  const hasFailed = await sqlOne(trx, `select id from refund where payment_id = ? and status = 'failed' limit 1`, [
    payment.id,
  ])
  if (pix.isReturnable && !hasFailed) throw goesBackBy('pix_return', 'The bank')
  return { via: 'manual' }
}

const isDisconnected = async (trx: Trx, { gatewayAccountId }: PaymentRow): Promise<boolean> =>
  (await sqlOne(trx, `select id from gateway_account where id = ? and status = 'disconnected'`, [gatewayAccountId])) !==
  null

/** The way that a refund takes (R20); a person who names none hands back what a gateway cannot send. 422 `refund_through_gateway`, `method_unavailable`. */
export const wayOf = async (
  trx: Trx,
  payment: PaymentRow,
  wanted: RefundVia | undefined,
  byPerson = false,
): Promise<Way> => {
  if (payment.origin === 'recorded') return wayOfRecorded(trx, payment, wanted)
  if (wanted === 'pix_return')
    throw unprocessable('method_unavailable', 'Only money that came by a Pix of the bank is returned so', [
      { field: 'via', message: 'must be gateway' },
    ])
  if (wanted === undefined && byPerson && (await isDisconnected(trx, payment))) return { via: 'manual' }
  if (wanted !== 'manual') return { via: 'gateway' }
  if (!(await isClosedWay(trx, payment))) throw goesBackBy('gateway', 'The gateway')
  return { via: 'manual' }
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
        cashAccountId: place.account.id,
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
