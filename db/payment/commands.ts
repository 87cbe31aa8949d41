import { randomUUID } from 'node:crypto'
import { conflict, notFound, unprocessable } from '../../config/errors.ts'
import { paymentCancelled } from '../../config/events/payment.ts'
import { cancelPayment, expirePayment, submitPayment } from '../../jobs/payment.ts'
import { sum } from '../lib/amounts.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { insertRow } from '../lib/records.ts'
import type { PaymentRow } from '../rows.ts'
import { seal } from '../lib/sealing/index.ts'
import { accountFor, gateOf, gateOfAccount } from './accounts.ts'
import { Payment } from './models.ts'
import { lockLivePayments } from './queries.ts'
import { expiryOf, isCancellable } from './rules/states.ts'
import type { Method } from './rules/states.ts'
import { emitPayment } from './payment-events.ts'
import type { TargetType } from './target.ts'
import { targetOf } from './targets.ts'

export type Payer = {
  name: string
  document?: { type: 'cpf' | 'cnpj'; number: string } | undefined
  address?: Record<string, string | undefined> | undefined
}

export type NewPayment = {
  channel: PaymentRow['channel']
  method: Method
  /** Minor units, more than 0. */
  amount: number
  currency: string
  targetType: TargetType
  targetId: string
  propertyId: string
  gatewayAccountId?: string | undefined
  /** A token of the gateway, or a test token of the sandbox; never the number of a card. */
  cardToken?: string | undefined
  payer?: Payer | undefined
  /** Blind index of the payer's document. */
  payerIndex?: Buffer | null | undefined
  returnUrl?: string | undefined
  installments?: number | undefined
  expiresAt?: Date | undefined
}

/** Data for the gateway beside the columns; kept sealed, so that a repeated call is identical. */
export type Submission = { cardToken: string | null; returnUrl: string | null }

export const submissionPlace = (paymentId: string) => ({ table: 'payment', rowId: paymentId, purpose: 'submission' })
export const payerPlace = (paymentId: string) => ({ table: 'payment', rowId: paymentId, purpose: 'payer' })

/**
 * Ends a payment that is not wanted any more: at once where the gateway was never asked, else by a worker, when the gateway
 * agrees. The payment is locked.
 */
const cancel = async (trx: Trx, payment: PaymentRow, supersededById: string | null = null): Promise<void> => {
  const atOnce = payment.status === 'created' && payment.sentAt === null
  const [changed] = await sql<PaymentRow>(
    trx,
    `update payment set cancel_requested_at = coalesce(cancel_requested_at, now()), superseded_by_id = coalesce(?::uuid, superseded_by_id),
       status = case when ?::boolean then 'cancelled' else status end, ended_at = case when ?::boolean then now() end,
       next_read_at = case when ?::boolean then null else next_read_at end, version = version + 1
     where id = ? returning *`,
    [supersededById, atOnce, atOnce, atOnce, payment.id],
  )
  if (!changed) return
  if (atOnce) await emitPayment(trx, changed, paymentCancelled)
  else if (payment.cancelRequestedAt === null)
    await enqueue(
      trx,
      cancelPayment,
      { tenantId: payment.tenantId, paymentId: payment.id },
      { class: 'urgent', gate: await gateOfAccount(trx, payment.gatewayAccountId) },
    )
}

/** Ends what is still on its way for a target; money that comes all the same is offered to the target as late. The target is locked. */
export const cancelPaymentsOf = async (trx: Trx, targetType: TargetType, targetId: string): Promise<void> => {
  for (const payment of await lockLivePayments(trx, targetType, targetId)) await cancel(trx, payment)
}

const inProgress = (payment: PaymentRow) =>
  conflict('payment_in_progress', 'Another payment of this is being processed; wait for its end', [
    { field: 'paymentId', message: payment.id },
  ])

export type CreatedPayment = { payment: PaymentRow; repeated: boolean }

/**
 * Makes a payment and asks a worker to take it to the gateway (R8 to R11). The same method, amount and channel again answers the
 * live payment (`repeated`); another one takes its place where the gateway has not begun with it, else 409 `payment_in_progress`.
 */
export const createPayment = async (trx: Trx, wanted: NewPayment): Promise<CreatedPayment> => {
  const { targetType, targetId, propertyId, channel, method, amount, currency } = wanted
  const target = await targetOf(targetType).lock(trx, targetId)
  if (!target || target.propertyId !== propertyId) throw notFound()
  const live = await lockLivePayments(trx, targetType, targetId)
  const rivals = live.filter((payment) => payment.channel === channel)
  const same = rivals.find(
    (payment) => payment.method === method && payment.amount === amount && payment.cancelRequestedAt === null,
  )
  if (same) return { payment: same, repeated: true }
  const busy = rivals.find((payment) => !isCancellable(payment.status))
  if (busy) throw inProgress(busy)
  if (!target.open) throw unprocessable('target_closed', 'Nothing more can be paid for this')
  if (target.currency !== currency) throw unprocessable('currency_mismatch', `It is paid in ${target.currency}`)
  const elsewhere = sum(live.filter((payment) => payment.channel !== channel).map((payment) => payment.amount))
  const payable = target.payable - elsewhere
  if (amount > payable)
    throw unprocessable('amount_exceeds_payable', `At most ${Math.max(0, payable)} is payable`, [
      { field: 'amount', message: 'is too much' },
    ])
  const account = await accountFor(trx, { propertyId, currency, method, gatewayAccountId: wanted.gatewayAccountId })

  const id = randomUUID()
  const expiresAt = wanted.expiresAt ?? expiryOf(method, new Date())
  const submission: Submission = { cardToken: wanted.cardToken ?? null, returnUrl: wanted.returnUrl ?? null }
  const payment = await insertRow(trx, Payment, {
    id,
    channel,
    method,
    gatewayAccountId: account.id,
    propertyId,
    targetType,
    targetId,
    amount,
    currency,
    installments: wanted.installments,
    platformFeeRate: account.platformFeeRate,
    submission: await seal(trx, 'tenant', submissionPlace(id), submission),
    payer: wanted.payer ? await seal(trx, 'tenant', payerPlace(id), wanted.payer) : null,
    payerIndex: wanted.payerIndex,
    expiresAt,
    nextReadAt: expiresAt,
  })
  for (const rival of rivals) await cancel(trx, rival, id)
  const payload = { tenantId: payment.tenantId, paymentId: id }
  const gate = gateOf(account)
  await enqueue(trx, submitPayment, payload, { gate })
  await enqueue(trx, expirePayment, payload, { at: expiresAt, gate })
  return { payment, repeated: false }
}
