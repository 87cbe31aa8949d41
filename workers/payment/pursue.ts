import {
  applySnapshot,
  applyUnknown,
  captureRefused,
  cancelKey,
  isLive,
  mostDeclines,
  notFoundAfterMs,
  repeatForMs,
  paymentCall,
  settleNotFound,
  settlePaymentById,
} from '../../db/payment/index.ts'
import type { Cause, PaymentCall, PaymentSnapshot } from '../../db/payment/index.ts'
import { credentialsRefused } from '../../db/jobs/index.ts'
import { cancelPayment, expirePayment, readPayment } from '../../jobs/payment.ts'
import { gatewayJob, unheard } from '../lib/gateway-job.ts'
import type { Answer, Asking, Outcome } from '../lib/gateway-job.ts'
import { adapterFor, asked, capture, ended, failureOf, ofPayment, submit } from './outcome.ts'
import type { OfPayment } from './outcome.ts'

type PaymentAnswer = Answer<OfPayment, PaymentSnapshot>

/** Tells whether the payment is cancelled or out of time, so that its money is no longer expected. */
const isOver = ({ payment, now }: PaymentCall) =>
  payment.cancelRequestedAt !== null ||
  (payment.status !== 'authorised' && payment.expiresAt !== null && payment.expiresAt <= now)

const close = async (asking: Asking, call: PaymentCall): Promise<Outcome<PaymentSnapshot>> => {
  const gateway = adapterFor(asking, call.provider)
  const key = cancelKey(call.payment.id)
  return asking.act({ provider: call.provider, operation: 'cancel', key }, () =>
    call.payment.externalId === null
      ? gateway.closeLink(asked(call), key, asking.signal)
      : gateway.cancel(asked(call), key, asking.signal),
  )
}

const read = async (asking: Asking, call: PaymentCall): Promise<Outcome<PaymentSnapshot>> => {
  const gateway = adapterFor(asking, call.provider)
  return unheard(
    await asking.read({ provider: call.provider, operation: 'read' }, () => gateway.read(asked(call), asking.signal)),
  )
}

/** Looks for our id in the gateway's list. A payment that the gateway has not heard of ten minutes after the last attempt will never be there. */
const find = async (asking: Asking, call: PaymentCall): Promise<PaymentAnswer> => {
  const gateway = adapterFor(asking, call.provider)
  const outcome = unheard(
    await asking.read({ provider: call.provider, operation: 'find' }, () => gateway.find(asked(call), asking.signal)),
  )
  if (outcome.kind !== 'known') return outcome
  const { snapshot } = outcome
  if (snapshot) return { kind: 'known', snapshot }
  const { payment, attempt, now } = call
  const since = attempt?.startedAt ?? payment.sentAt ?? payment.createdAt
  const gone = attempt?.state === 'not_sent' || now.getTime() - since.getTime() > notFoundAfterMs
  if (!gone) return { kind: 'unknown', code: 'not_found' }
  const nothing = payment.cancelRequestedAt
    ? ended('cancelled', null)
    : ended('failed', { code: 'not_found_at_gateway', message: 'The gateway has no such payment' })
  return {
    kind: 'write',
    write: async (trx) => {
      await settleNotFound(trx, payment.id)
      await applySnapshot(trx, payment.id, nothing)
    },
  }
}

const nothingToDo: PaymentAnswer = { kind: 'write', write: () => Promise.resolve() }

/**
 * Asks what brings a payment on, whatever it waits for (R7): closes at the gateway what is over, reads what the gateway knows, and where
 * we have no reference repeats the call under its key, or searches.
 */
const pursue = async (asking: Asking, call: PaymentCall, isScheduled: boolean): Promise<PaymentAnswer> => {
  const { payment, attempt } = call
  const { id } = payment
  const over = isOver(call)
  const live = isLive(payment.status)
  // Nothing follows from what is paid; what has ended unpaid is read by its schedule, and not closed twice.
  if (payment.status === 'captured' || payment.status === 'reversed' || (!live && !isScheduled))
    return { kind: 'write', write: (trx) => settlePaymentById(trx, id) }
  if (!live) return pursueEnded(asking, call)
  if (payment.externalId !== null || payment.linkId !== null) return pursueKnown(asking, call, over)
  if (payment.sentAt === null)
    return over ? { kind: 'write', write: (trx) => applySnapshot(trx, id, ended('cancelled', null)) } : nothingToDo
  const sameErrorTwice = attempt !== null && attempt.tries >= 2 && attempt.state === 'unknown'
  const keyIsOld = call.now.getTime() - payment.sentAt.getTime() > repeatForMs
  return over || sameErrorTwice || keyIsOld ? find(asking, call) : submit(asking, call)
}

/**
 * Of a payment that has ended unpaid: money may have come all the same, also where the gateway had not heard of it before. What is only
 * authorised is given back to the guest (R16); where that is not heard of, it is read again soon.
 */
const pursueEnded = async (asking: Asking, call: PaymentCall): Promise<PaymentAnswer> => {
  const { id, externalId, linkId, sentAt } = call.payment
  const isKnown = externalId !== null || linkId !== null
  if (!isKnown && sentAt === null) return { kind: 'write', write: (trx) => applyUnknown(trx, id, true) }
  const answer = isKnown ? await read(asking, call) : await find(asking, call)
  if (answer.kind !== 'known' || answer.snapshot.status !== 'authorised') return answer
  const closed = await close(asking, { ...call, payment: { ...call.payment, externalId: answer.snapshot.externalId } })
  return closed.kind === 'known' ? closed : answer
}

/** Tells whether the gateway has told us to stay away from an account whose owner has withdrawn the connection. */
const isTurnedAway = ({ isWithdrawn }: PaymentCall, answer: PaymentAnswer) =>
  isWithdrawn && answer.kind === 'unknown' && answer.code === credentialsRefused

/**
 * Takes what was authorised. A refusal is no end of the payment: the gateway's state says whether it has taken or released the money; what it still holds needs a
 * person.
 */
export const captureOrRead = async (asking: Asking, call: PaymentCall): Promise<PaymentAnswer> => {
  const outcome = await capture(asking, call)
  if (isTurnedAway(call, outcome)) return untaken(call, cannotBeAsked)
  if (outcome.kind !== 'refused') return outcome
  const now = await read(asking, call)
  if (now.kind !== 'known' || now.snapshot.status !== 'authorised') return now
  return untaken(call, outcome)
}

const cannotBeAsked = { code: 'account_gone', message: 'The account was disconnected at the gateway' }

const untaken = (call: PaymentCall, refusal: { code: string; message: string }): PaymentAnswer => ({
  kind: 'write',
  write: (trx) => captureRefused(trx, call.payment.id, failureOf(refusal)),
})

/** Ends what is over at an account that the gateway does not let us see any more: else it would keep its target from being paid another way. */
const pursueToEnd = async (asking: Asking, call: PaymentCall, isScheduled: boolean): Promise<PaymentAnswer> => {
  const answer = await pursue(asking, call, isScheduled)
  if (!isTurnedAway(call, answer) || !isLive(call.payment.status) || !isOver(call)) return answer
  return { kind: 'write', write: (trx) => applySnapshot(trx, call.payment.id, ended('cancelled', null)) }
}

/** Of a payment that the gateway has: closes what is over, repeats a capture that was not heard of, and reads the rest. */
const pursueKnown = async (asking: Asking, call: PaymentCall, over: boolean): Promise<PaymentAnswer> => {
  const { status, captureRequested, declines } = call.payment
  const isClosing = over || (status === 'requires_action' && declines >= mostDeclines)
  const isCapturing = status === 'authorised' && captureRequested !== null
  if (!isClosing) return isCapturing ? captureOrRead(asking, call) : read(asking, call)
  const outcome = await close(asking, call)
  // A gateway refuses to close what was paid: its state says so.
  return outcome.kind === 'refused' ? read(asking, call) : outcome
}

const pursuing = (job: typeof readPayment | typeof cancelPayment, isScheduled: boolean, cause: Cause) =>
  gatewayJob(job as typeof readPayment, {
    load: (trx, { paymentId }) => paymentCall(trx, paymentId),
    ask: (asking, call) => pursueToEnd(asking, call, isScheduled),
    apply: ofPayment(cause),
    isScheduled,
    isTurnedAway: ({ isWithdrawn }) => isWithdrawn,
  })

export const pursueProcessors = [
  pursuing(readPayment, true, 'read'),
  pursuing(cancelPayment, false, 'command'),
  pursuing(expirePayment, false, 'clock'),
]
