import { randomUUID } from 'node:crypto'
import { conflict, unprocessable } from '../../../config/errors.ts'
import { paymentCaptured } from '../../../config/events/payment.ts'
import { businessDay, raisePosting } from '../../financial/index.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow } from '../../lib/records.ts'
import type { BalanceTransactionRow, GatewayAccountRow, PaymentExceptionRow, PaymentRow } from '../../rows.ts'
import { lockTargets } from '../allocations.ts'
import { Payment } from '../models.ts'
import { emitPayment } from '../payment-events.ts'
import { noteStatus } from '../payments/history.ts'
import { lockPayment, standingAllocations } from '../payments/read.ts'
import { reserveRefund } from '../refunds/request.ts'
import { applyRefundSnapshot } from '../refunds/snapshot.ts'
import { tieTransactions } from './import.ts'

/** A record of ours whose outcome is unknown may be the one that is missing: its gateway is asked, and it would stand twice. */
const refuseUndecided = async (trx: Trx, text: string, values: (string | number | null)[]): Promise<void> => {
  if (await sqlOne(trx, text, values))
    throw conflict('invalid_transition', 'The outcome of one like it is not known yet; wait for it')
}

const nowhere = () => unprocessable('reference_not_found', 'No property of the book can take the money')

/** Makes a payment of a charge that was made at the gateway itself: captured, and unallocated. */
const recordCharge = async (trx: Trx, transaction: BalanceTransactionRow, account: GatewayAccountRow) => {
  await refuseUndecided(
    trx,
    `select id from payment where gateway_account_id = ? and external_id is null and sent_at is not null and amount = ? and status in ('created', 'unknown') limit 1`,
    [account.id, transaction.gross],
  )
  const property = await sqlOne<{ id: string }>(
    trx,
    `select id from property where book_id = ? and (cardinality(?::uuid[]) = 0 or id = any(?)) order by created_at, id limit 1`,
    [account.bookId, account.propertyIds, account.propertyIds],
  )
  if (!property) throw nowhere()
  const businessDate = await businessDay(trx, property.id)
  const payment = await insertRow(trx, Payment, {
    id: randomUUID(),
    channel: 'desk',
    method: 'card',
    gatewayAccountId: account.id,
    propertyId: property.id,
    amount: transaction.gross,
    currency: transaction.currency,
    status: 'captured',
    capturedAmount: transaction.gross,
    capturedAt: transaction.occurredAt,
    businessDate,
    externalId: transaction.sourceRef,
    note: 'Recorded from the list of the gateway',
  })
  noteStatus(trx, payment.id, 'captured', 'command')
  await emitPayment(trx, payment, paymentCaptured)
  await tieTransactions(trx, account)
  await raisePosting(trx, {
    event: 'payment.payment_captured',
    source: { id: payment.id },
    propertyId: payment.propertyId,
    payload: {
      amounts: { amount: payment.capturedAmount },
      documents: { payment: payment.id },
      context: { money: 'gateway', method: payment.method },
    },
  })
}

/** Makes a refund of one that was made at the gateway itself, of a payment of ours. */
const recordRefund = async (trx: Trx, transaction: BalanceTransactionRow, account: GatewayAccountRow) => {
  const found = await sqlOne<PaymentRow>(
    trx,
    `select * from payment where gateway_account_id = ? and external_id = ?`,
    [account.id, transaction.sourcePaymentRef],
  )
  if (!found || transaction.sourceRef === null)
    throw unprocessable('reference_not_found', 'The payment that was refunded is not known here')
  const businessDate = await businessDay(trx, found.propertyId)
  await lockTargets(trx, await standingAllocations(trx, found.id))
  const payment = await lockPayment(trx, found.id)
  if (!payment) throw nowhere()
  await refuseUndecided(
    trx,
    `select id from refund where payment_id = ? and external_id is null and amount = ? and status in ('requested', 'unknown') limit 1`,
    [payment.id, -transaction.gross],
  )
  const terms = { reason: 'other', note: 'Made at the gateway', externalId: transaction.sourceRef } as const
  const { refundId } = await reserveRefund(trx, payment, -transaction.gross, terms, { businessDate })
  await applyRefundSnapshot(trx, refundId, { status: 'succeeded', externalId: transaction.sourceRef, failure: null })
  await tieTransactions(trx, account)
}

/** Makes the payment or refund that the gateway has and we have not, from the gateway's fact (R28). */
export const recordForeign = async (trx: Trx, exception: PaymentExceptionRow): Promise<void> => {
  const transaction = await sqlOne<BalanceTransactionRow>(trx, `select * from balance_transaction where id = ?`, [
    exception.subjectType === 'balance_transaction' ? exception.subjectId : null,
  ])
  const account =
    transaction &&
    (await sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [transaction.gatewayAccountId]))
  if (!transaction || !account || transaction.subjectId !== null)
    throw conflict('invalid_transition', 'What is missing here is known by now')
  if (transaction.kind === 'charge') return recordCharge(trx, transaction, account)
  if (transaction.kind === 'refund') return recordRefund(trx, transaction, account)
  throw conflict('invalid_transition', `A ${transaction.kind.replaceAll('_', ' ')} is not recorded by hand`)
}
