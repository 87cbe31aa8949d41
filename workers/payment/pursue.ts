import {
  applyUnknown,
  paymentCall,
  cancelKey,
  settleNotFound,
  settlePaymentById,
  isLive,
  notFoundAfterMs,
  applySnapshot,
} from '../../db/payment/index.ts'
import type { PaymentCall, PaymentSnapshot } from '../../db/payment/index.ts'
import { cancelPayment, expirePayment, readPayment } from '../../jobs/payment.ts'
import type { Outcome } from '../gateways/gateway.ts'
import { externalCall, readCall } from '../lib/external-call.ts'
import { processor } from '../lib/processor.ts'
import { adapterFor, asked, ended, notSent, submit } from './outcome.ts'
import type { PaymentContext } from './outcome.ts'

/** Whether the payment is cancelled or out of time, so that its money is no longer expected. */
const isOver = ({ payment, now }: PaymentCall) =>
  payment.cancelRequestedAt !== null ||
  (payment.status !== 'authorised' && payment.expiresAt !== null && payment.expiresAt <= now)

const apply = async (context: PaymentContext, outcome: Outcome<PaymentSnapshot>, mayWait: boolean): Promise<void> => {
  const { paymentId } = context.payload
  if (outcome.kind === 'known') await context.finish((trx) => applySnapshot(trx, paymentId, outcome.snapshot))
  else if (outcome.kind === 'not_sent') await notSent(context, outcome.code, outcome.afterMs, mayWait)
  // A refusal to read or close says nothing of the money.
  else await context.finish((trx) => applyUnknown(trx, paymentId, true))
}

const close = async (context: PaymentContext, call: PaymentCall, mayWait: boolean): Promise<void> => {
  const gateway = adapterFor(context, call.provider)
  const key = cancelKey(context.payload.paymentId)
  const { outcome } = await externalCall(context, { provider: call.provider, operation: 'cancel', key }, () =>
    gateway.cancel(asked(call), key, context.signal),
  )
  await apply(context, outcome, mayWait)
}

const read = (context: PaymentContext, call: PaymentCall): Promise<Outcome<PaymentSnapshot>> => {
  const gateway = adapterFor(context, call.provider)
  return readCall(context, { provider: call.provider, operation: 'read' }, () =>
    gateway.read(asked(call), context.signal),
  )
}

/** Searches by our id. What the gateway has not heard of ten minutes after the last attempt, it never will. */
const find = async (context: PaymentContext, call: PaymentCall, mayWait: boolean): Promise<void> => {
  const { paymentId } = context.payload
  const gateway = adapterFor(context, call.provider)
  const outcome = await readCall(context, { provider: call.provider, operation: 'find' }, () =>
    gateway.find(asked(call), context.signal),
  )
  if (outcome.kind !== 'known') return apply(context, outcome, mayWait)
  const { snapshot } = outcome
  if (snapshot) return apply(context, { kind: 'known', snapshot }, mayWait)
  const since = call.attempt?.startedAt ?? call.payment.sentAt ?? call.payment.createdAt
  const gone = call.attempt?.state === 'not_sent' || call.now.getTime() - since.getTime() > notFoundAfterMs
  const nothing = call.payment.cancelRequestedAt
    ? ended('cancelled', null)
    : ended('failed', 'not_found_at_gateway', 'The gateway has no such payment')
  await context.finish(async (trx) => {
    if (!gone) return applyUnknown(trx, paymentId, true)
    await settleNotFound(trx, paymentId)
    await applySnapshot(trx, paymentId, nothing)
    return undefined
  })
}

/**
 * Brings a payment on, whatever it waits for (R7): closes at the gateway what is over, reads what the gateway knows, and where we
 * have no reference repeats the call under its key, or searches. `mayWait`: the schedule will come back to it.
 */
const pursue = async (context: PaymentContext, mayWait: boolean): Promise<void> => {
  const { paymentId } = context.payload
  const call = await context.effect((trx) => paymentCall(trx, paymentId))
  if (!call) return context.finish()
  const { payment, attempt } = call
  const over = isOver(call)
  const live = isLive(payment.status)
  // Nothing follows from what is paid; what has ended unpaid is read by its schedule, and not closed twice.
  if (payment.status === 'captured' || payment.status === 'reversed' || (!live && !mayWait))
    return context.finish((trx) => settlePaymentById(trx, paymentId))
  if (payment.externalId !== null) {
    if (live && over) return close(context, call, mayWait)
    return apply(context, await read(context, call), mayWait)
  }
  if (!live) return context.finish((trx) => applyUnknown(trx, paymentId, true))
  if (payment.sentAt === null) {
    if (over) return context.finish(async (trx) => void (await applySnapshot(trx, paymentId, ended('cancelled', null))))
    return context.finish()
  }
  const sameErrorTwice = attempt !== null && attempt.tries >= 2 && attempt.state === 'unknown'
  return over || sameErrorTwice ? find(context, call, mayWait) : submit(context, call, mayWait)
}

export const pursueProcessors = [
  processor(readPayment, (context) => pursue(context, true)),
  processor(cancelPayment, (context) => pursue(context, false)),
  processor(expirePayment, (context) => pursue(context, false)),
]
