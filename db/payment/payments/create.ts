import { randomUUID } from 'node:crypto'
import { conflict, notFound, unprocessable } from '../../../config/errors.ts'
import { expirePayment, submitPayment } from '../../../jobs/payment.ts'
import { sum } from '../../lib/amounts.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { insertRow } from '../../lib/records.ts'
import { seal } from '../../lib/sealing/index.ts'
import type { PaymentRow } from '../../rows.ts'
import { accountFor, gateOf } from '../accounts.ts'
import { Payment } from '../models.ts'
import { expiryOf, isCancellable } from '../rules/states.ts'
import type { Method } from '../rules/states.ts'
import { targetOf } from '../targets.ts'
import type { TargetType } from '../targets.ts'
import { cancel } from './cancel.ts'
import { lockLivePayments } from './read.ts'

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
