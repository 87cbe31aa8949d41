import { notFound } from '../../../config/errors.ts'
import { attemptsOf } from '../../lib/attempts.ts'
import type { AttemptRecord } from '../../lib/attempts.ts'
import { sql } from '../../lib/connection.ts'
import type { Actor, Trx } from '../../lib/connection.ts'
import { unseal } from '../../lib/sealing/index.ts'
import type { DisputeRow, PaymentHistoryRow, PaymentRow, RefundRow } from '../../rows.ts'
import { cancelKey, captureKey, refundKey, submitKey } from '../journal.ts'
import type { TargetType } from '../targets.ts'
import { payerPlace } from './create.ts'
import { readPayment, standingAllocations } from './read.ts'
import { actionPlace } from './snapshot.ts'
import type { Action } from './snapshot.ts'
import { summary } from './summary.ts'
import type { PaymentSummary } from './summary.ts'

type ShownPayer = {
  name: string
  email?: string
  phone?: string
  document?: { type: 'cpf' | 'cnpj'; number: string }
  address?: {
    street: string
    city: string
    postalCode: string
    country: string
    number?: string
    complement?: string
    district?: string
    region?: string
  }
}

export type PaymentDetail = PaymentSummary & {
  action: Action | null
  payer: ShownPayer | null
  allocations: { id: string; targetType: TargetType; targetId: string; amount: number; createdAt: Date }[]
  refunds: {
    id: string
    amount: number
    reason: RefundRow['reason']
    via: RefundRow['via']
    status: RefundRow['status']
    createdAt: Date
  }[]
  disputes: {
    id: string
    amount: number
    phase: DisputeRow['phase']
    status: DisputeRow['status']
    responseDueAt: Date | null
  }[]
  attempts: AttemptRecord[]
  history: { status: PaymentRow['status']; at: Date; by: Actor; cause: PaymentHistoryRow['cause'] }[]
}

/** A payment with all that has happened to it; 404. */
export const readPaymentDetail = async (trx: Trx, paymentId: string): Promise<PaymentDetail> => {
  const payment = await readPayment(trx, paymentId)
  if (!payment) throw notFound()
  const [allocations, refunds, disputes, history] = await Promise.all([
    standingAllocations(trx, paymentId),
    sql<PaymentDetail['refunds'][number]>(
      trx,
      `select id, amount, reason, via, status, created_at from refund where payment_id = ? order by created_at, id limit 200`,
      [paymentId],
    ),
    sql<PaymentDetail['disputes'][number]>(
      trx,
      `select id, amount, phase, status, response_due_at from dispute where payment_id = ? order by opened_at, id limit 50`,
      [paymentId],
    ),
    sql<PaymentDetail['history'][number]>(
      trx,
      `select status, at, actor as by, cause from payment_history where payment_id = ? order by seq limit 50`,
      [paymentId],
    ),
  ])
  const isWaiting = payment.status === 'requires_action' && payment.action !== null
  return {
    ...summary(payment),
    action:
      isWaiting && payment.action ? await unseal<Action>(trx, 'tenant', actionPlace(paymentId), payment.action) : null,
    payer: payment.payer ? await unseal<ShownPayer>(trx, 'tenant', payerPlace(paymentId), payment.payer) : null,
    allocations: allocations.map(({ id, targetType, targetId, amount, createdAt }) => ({
      id,
      targetType,
      targetId,
      amount,
      createdAt,
    })),
    refunds,
    disputes,
    attempts: await attemptsOf(trx, [
      submitKey(paymentId),
      ...Array.from({ length: payment.captureRefusals + 1 }, (_, refusals) => captureKey(paymentId, refusals)),
      cancelKey(paymentId),
      ...refunds.map((one) => refundKey(one.id)),
    ]),
    history,
  }
}
