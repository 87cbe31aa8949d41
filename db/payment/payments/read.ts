import { ApiError } from '../../../config/errors.ts'
import { sum } from '../../lib/amounts.ts'
import { nativeError, prepared, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PaymentAllocationRow, PaymentRow } from '../../rows.ts'
import { liveStatuses } from '../rules/states.ts'
import type { PaymentStatus } from '../rules/states.ts'
import type { TargetRef, TargetType } from '../targets.ts'

export const readPayment = (trx: Trx, paymentId: string): Promise<PaymentRow | null> =>
  sqlOne<PaymentRow>(trx, `select * from payment where id = ?`, [paymentId])

/** The caller has locked the payment's target, which comes before it in the lock order. */
export const lockPayment = (trx: Trx, paymentId: string): Promise<PaymentRow | null> =>
  sqlOne<PaymentRow>(trx, `select * from payment where id = ? for no key update`, [paymentId])

/** The payment that a command is about, locked. 409 `payment_busy` where another request holds it for 2 s. */
export const holdPayment = async (trx: Trx, paymentId: string): Promise<PaymentRow | null> => {
  try {
    return await lockPayment(trx, paymentId)
  } catch (error) {
    const native = nativeError(error)
    if (!(native instanceof Error && 'code' in native && native.code === '55P03')) throw error
    throw new ApiError('payment_busy', 'The payment is in use; repeat the request', {
      cause: error,
      retryAfterSeconds: 1,
    })
  }
}

/** Live payments of a target, locked in the order of their ids. */
export const lockLivePayments = (trx: Trx, targetType: TargetType, targetId: string): Promise<PaymentRow[]> =>
  prepared<PaymentRow>(
    trx,
    `select * from payment where target_type = ? and target_id = ? and status = any(?) order by id for no key update`,
    [targetType, targetId, liveStatuses],
  )

/** Live payments of some targets, and those whose money stands on them, locked by id: for a command that ends several targets. The targets are locked. */
export const lockPaymentsOf = (trx: Trx, targets: readonly TargetRef[]) =>
  sql(
    trx,
    `with target as (select * from unnest(?::text[], ?::uuid[]) as v (type, id))
     select p.id from payment p where p.id in (
       select l.id from target t join payment l on l.target_type = t.type and l.target_id = t.id and l.status = any(?)
       union select a.payment_id from target t join payment_allocation a on a.target_type = t.type and a.target_id = t.id)
     order by p.id for no key update of p`,
    [targets.map((one) => one.targetType), targets.map((one) => one.targetId), liveStatuses],
  )

/** Allocations of a payment that its targets hold now, newest first. */
export const standingAllocations = (trx: Trx, paymentId: string): Promise<PaymentAllocationRow[]> =>
  sql<PaymentAllocationRow>(
    trx,
    `select a.* from payment_allocation a where a.payment_id = ? and a.reverses_id is null
       and not exists (select from payment_allocation r where r.tenant_id = a.tenant_id and r.reverses_id = a.id)
     order by a.seq desc`,
    [paymentId],
  )

export type LivePayment = {
  id: string
  status: PaymentStatus
  method: string
  channel: string
  amount: number
  expiresAt: Date | null
  cancelRequestedAt: Date | null
}

export type PaymentState = {
  /** Authorised and not captured yet. */
  authorised: number
  /** Captured, less what is reserved for refunds. */
  captured: number
  live: LivePayment[]
}

/** The state of a target's money. A caller who decides by the answer holds the target's lock. */
export const paymentState = async (trx: Trx, targetType: TargetType, targetId: string): Promise<PaymentState> => {
  const rows = await sql<LivePayment & { authorised: number; captured: number }>(
    trx,
    `select id, status, method, channel, amount, expires_at, cancel_requested_at,
       case status when 'authorised' then authorised_amount else 0 end as authorised,
       case status when 'captured' then captured_amount - refund_reserved else 0 end as captured
     from payment where target_type = ? and target_id = ? order by created_at, id`,
    [targetType, targetId],
  )
  return {
    authorised: sum(rows.map((row) => row.authorised)),
    captured: sum(rows.map((row) => row.captured)),
    live: rows
      .filter((row) => liveStatuses.includes(row.status))
      .map(({ authorised: _authorised, captured: _captured, ...live }) => live),
  }
}

export type PaymentShown = Pick<
  PaymentRow,
  'id' | 'method' | 'amount' | 'currency' | 'status' | 'refundReserved' | 'refundedAmount' | 'createdAt'
>

/** Payments made for a target, oldest first: for the replies that list them. */
export const paymentsOf = (trx: Trx, targetType: TargetType, targetId: string): Promise<PaymentShown[]> =>
  prepared<PaymentShown>(
    trx,
    `select id, method, amount, currency, status, refund_reserved, refunded_amount, created_at
     from payment where target_type = ? and target_id = ? order by created_at, id`,
    [targetType, targetId],
  )
