import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { nextReadAt } from '../../lib/due.ts'
import type { PaymentRow } from '../../rows.ts'
import { closeExceptions, openException } from '../exceptions.ts'
import { targetOf } from '../targets.ts'
import type { TargetRef, TargetType } from '../targets.ts'
import { readAfterMs } from '../rules/states.ts'
import { lockPayment } from './read.ts'
import type { Failure } from './snapshot.ts'

const subjectOf = ({ id, propertyId, currency }: PaymentRow) => ({ type: 'payment', id, propertyId, currency }) as const

/** Opens the exception of money that was to be taken, and was not: the guest may have left. The payment is locked. */
const tellCaptureRefused = (trx: Trx, payment: PaymentRow, amount: number): Promise<boolean> =>
  openException(trx, 'capture_refused', subjectOf(payment), amount, payment.authorisedAmount)

/** Of an authorisation that has ended: money that was to be taken is missed, and none is once a person has let it go. The payment is locked. */
export const tellUntaken = async (trx: Trx, payment: PaymentRow): Promise<void> => {
  if (payment.cancelRequestedAt !== null && payment.captureRefusals > 0)
    return closeExceptions(trx, subjectOf(payment), ['capture_refused'])
  if (payment.cancelRequestedAt === null && payment.captureRequested !== null)
    await tellCaptureRefused(trx, payment, payment.captureRequested)
}

/**
 * The gateway has refused to take what it still holds: an amount that is too much, a card that is declined at the capture. The request is over, so that a person
 * may ask for another amount or let the money go. What the gateway does not hold any more is read, and ends the payment.
 */
export const captureRefused = async (trx: Trx, paymentId: string, failure: Failure): Promise<void> => {
  const payment = await lockPayment(trx, paymentId)
  if (payment?.status !== 'authorised' || payment.captureRequested === null) return
  await sql(
    trx,
    `update payment set capture_requested = null, capture_refusals = capture_refusals + 1, failure = ?::jsonb, next_read_at = ?, read_count = 0,
       version = version + 1 where id = ?`,
    [JSON.stringify(failure), nextReadAt(readAfterMs('authorised', payment.method, 0)), paymentId],
  )
  await tellCaptureRefused(trx, payment, payment.captureRequested)
}

type Waiting = Pick<PaymentRow, 'id' | 'targetType' | 'targetId'> & { amount: number; since: Date }

const stays: readonly TargetType[] = ['booking', 'reservation', 'folio']

/** The targets by which the money of some of one type may come. */
const kinOf = async (
  trx: Trx,
  targetType: TargetType,
  targets: readonly TargetRef[],
): Promise<readonly TargetRef[]> => {
  const own = targets.filter((one) => one.targetType === targetType)
  if (own.length === 0) return own
  const ids = own.map(({ targetId }) => targetId)
  return (await targetOf(targetType).kin?.(trx, ids)) ?? own
}

/** Money that has come for the target of a refused capture since then. What a stay owes by a bill is paid by the receipts of that bill. */
const paidSince = async (trx: Trx, target: TargetRef, { id, since }: Waiting): Promise<number> => {
  const kin = await kinOf(trx, target.targetType, [target])
  const [row] = await sql<{ paid: number }>(
    trx,
    `select coalesce(sum(a.amount), 0)::bigint as paid from payment_allocation a
     join unnest(?::text[], ?::uuid[]) as t (type, id) on a.target_type = t.type and a.target_id = t.id
     where a.payment_id <> ? and a.created_at >= ?`,
    [kin.map(({ targetType }) => targetType), kin.map(({ targetId }) => targetId), id, since],
  )
  let paid = row?.paid ?? 0
  const types: TargetType[] = target.targetType === 'receivable' ? ['receivable'] : [target.targetType, 'receivable']
  for (const type of types) paid += (await targetOf(type).settledOtherwise?.(trx, kin, since)) ?? 0
  return paid
}

const waitingOf = (trx: Trx, propertyId: string | null, types: readonly TargetType[]): Promise<Waiting[]> =>
  sql<Waiting>(
    trx,
    `select p.id, p.target_type, p.target_id, e.amount, e.created_at as since from payment_exception e
     join payment p on p.tenant_id = e.tenant_id and p.id = e.subject_id
     where e.kind = 'capture_refused' and e.status = 'open' and (cast(:propertyId as uuid) is null or e.property_id = cast(:propertyId as uuid))
       and p.target_type = any(:types::text[]) order by p.id limit 500`,
    { propertyId, types },
  )

/**
 * Ends the exceptions of refused captures whose money has come another way: by other payments of the target or of what belongs to it, by receipts, also those of
 * its bill, or as a bill that a customer owes instead. Without a property those of the whole tenant are looked through. An order is paid where it is taken.
 */
export const settleRefusedCaptures = async (
  trx: Trx,
  propertyId: string | null,
  targets: readonly TargetRef[],
): Promise<void> => {
  const ofDocument = targets.some(({ targetType }) => targetType === 'receivable')
  const types: TargetType[] = [...stays, ...(ofDocument ? (['receivable'] as const) : [])]
  if (!targets.some(({ targetType }) => types.includes(targetType))) return
  const waiting = await waitingOf(trx, propertyId, types)
  if (waiting.length === 0) return
  const reached: TargetRef[] = []
  for (const type of types) reached.push(...(await kinOf(trx, type, targets)))
  for (const one of waiting) {
    const target = reached.find(
      ({ targetType, targetId }) => targetType === one.targetType && targetId === one.targetId,
    )
    if (target && (await paidSince(trx, target, one)) >= one.amount)
      await closeExceptions(trx, { type: 'payment', id: one.id }, ['capture_refused'])
  }
}
