import { Instant, List, Nullable, Obj, OneOf, Uuid } from '../../../config/schema.ts'
import { readPaymentDetail } from '../../../db/payment/index.ts'
import type { Admission } from '../../lib/caller.ts'
import { asJudged } from '../../lib/record.ts'
import { resource } from '../../lib/resource.ts'
import { Attempts } from '../../lib/attempts.ts'
import { Action, History, Payer, paymentFields, RefundStatus, TargetType } from '../schemas.ts'
import { refundReasons } from '../refunds.ts'

export const PaymentSummary = Obj(paymentFields, { title: 'PaymentSummary' })
export const Payment = Obj(
  {
    ...paymentFields,
    action: Nullable(Action),
    payer: Nullable(Payer),
    allocations: List(
      Obj({ id: Uuid, targetType: TargetType, targetId: Uuid, amount: paymentFields.amount, createdAt: Instant }),
      { max: 500 },
    ),
    refunds: List(
      Obj({
        id: Uuid,
        amount: paymentFields.amount,
        reason: OneOf([...refundReasons]),
        via: OneOf(['gateway', 'pix_return', 'manual']),
        status: RefundStatus,
        createdAt: Instant,
      }),
      { max: 200 },
    ),
    disputes: List(
      Obj({
        id: Uuid,
        amount: paymentFields.amount,
        phase: OneOf(['inquiry', 'dispute', 'appeal']),
        status: OneOf(['needs_response', 'submitted', 'under_review', 'won', 'lost']),
        responseDueAt: Nullable(Instant),
      }),
      { max: 50 },
    ),
    attempts: Attempts,
    history: History,
  },
  { title: 'Payment' },
)

type Detail = Awaited<ReturnType<typeof readPaymentDetail>>

/** Personal data of the payer are not for roles that see them masked. */
export const shown = (payment: Detail, admission: Admission) =>
  admission.isMasked('Payment') ? { ...payment, payer: null } : payment

export const payments = resource({
  name: 'payments',
  subject: 'Payment',
  table: 'payment',
  path: '/api/tenants/:tenantId/payments',
  param: 'paymentId',
  record: Payment,
  lockedBy: 'command',
  read: readPaymentDetail,
  show: shown,
})

export const judged = (admission: Admission, payment: Detail) =>
  admission.check('read', 'Payment', asJudged('payment', payment.id, payment))

export const ofDates = [
  'date_out_of_range',
  'period_closed',
  'date_locked',
  'period_missing',
  'business_day_changed',
] as const
