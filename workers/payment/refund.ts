import { applyRefundSnapshot, refundCall, refundKey, repeatForMs, settleRefundById } from '../../db/payment/index.ts'
import type { RefundCall, RefundSnapshot } from '../../db/payment/index.ts'
import { readRefund, refundPayment } from '../../jobs/payment.ts'
import type { GatewayRefund } from '../gateways/gateway.ts'
import { gatewayJob, unheard } from '../lib/gateway-job.ts'
import type { Answer, Applying, Asking, Outcome } from '../lib/gateway-job.ts'
import { adapterFor, failureOf } from './outcome.ts'

type OfRefund = { tenantId: string; refundId: string }

const asked = ({ refund, accountRef, paymentRef, returnsFee }: RefundCall): GatewayRefund => ({
  id: refund.id,
  accountRef,
  externalId: refund.externalId,
  paymentRef,
  amount: refund.amount,
  currency: refund.currency,
  reason: refund.reason,
  returnsFee,
})

const unknown: RefundSnapshot = { status: 'unknown', externalId: null, failure: null }

const ofRefund: Applying<OfRefund, RefundSnapshot> = {
  known: (trx, { refundId }, snapshot) => applyRefundSnapshot(trx, refundId, snapshot),
  refused: (trx, { refundId }, refusal) =>
    applyRefundSnapshot(trx, refundId, { status: 'failed', externalId: null, failure: failureOf(refusal) }),
  unknown: (trx, { refundId }) => applyRefundSnapshot(trx, refundId, unknown),
}

/** Sends the money back under the refund's own key; a repeated call is the same refund. */
const send = (asking: Asking, call: RefundCall): Promise<Outcome<RefundSnapshot>> => {
  const gateway = adapterFor(asking, call.provider)
  const key = refundKey(call.refund.id)
  return asking.act({ provider: call.provider, operation: 'refund', key }, () =>
    gateway.refund(asked(call), key, asking.signal),
  )
}

/** Reads a refund; one that the gateway does not know is sent again. */
const read = async (asking: Asking, call: RefundCall): Promise<Outcome<RefundSnapshot>> => {
  const gateway = adapterFor(asking, call.provider)
  const outcome = unheard(
    await asking.read({ provider: call.provider, operation: 'read_refund' }, () =>
      gateway.readRefund(asked(call), asking.signal),
    ),
  )
  if (outcome.kind !== 'known') return outcome
  const { snapshot } = outcome
  if (snapshot) return { kind: 'known', snapshot }
  return call.refund.externalId === null ? send(asking, call) : { kind: 'unknown', code: 'not_found' }
}

/** The gateway may have forgotten the key of an earlier call, and would send the money a second time. */
const keyIsOld = ({ attempt, refund, now }: RefundCall) =>
  attempt !== null && now.getTime() - refund.createdAt.getTime() > repeatForMs

const isOpen = ({ refund }: RefundCall) => refund.status === 'requested' || refund.status === 'unknown'

const settled = ({ refund }: RefundCall): Answer<OfRefund, RefundSnapshot> => ({
  kind: 'write',
  write: (trx) => settleRefundById(trx, refund.id),
})

const mayHaveActed = ({ attempt, refund }: RefundCall) =>
  refund.externalId !== null || attempt?.state === 'started' || attempt?.state === 'unknown'

/** Of a refund that never reached the gateway, and cannot any more. */
const cannotBeSent = {
  kind: 'refused',
  code: 'account_gone',
  message: 'The account was disconnected at the gateway',
} as const

/** Sends a refund, or reads it where it was sent and the gateway may know it. */
const pursue = async (asking: Asking, call: RefundCall): Promise<Answer<OfRefund, RefundSnapshot>> => {
  if (call.refund.status === 'failed') return settled(call)
  if (call.isWithdrawn && isOpen(call) && !mayHaveActed(call)) return cannotBeSent
  const sameErrorTwice = call.attempt !== null && call.attempt.tries >= 2 && call.attempt.state === 'unknown'
  const isUnsent = call.refund.externalId === null && isOpen(call)
  return isUnsent && !sameErrorTwice && !keyIsOld(call) ? send(asking, call) : read(asking, call)
}

const refunding = (
  job: typeof refundPayment,
  isScheduled: boolean,
  ask: (asking: Asking, call: RefundCall) => Promise<Answer<OfRefund, RefundSnapshot>>,
) =>
  gatewayJob(job, {
    load: (trx, { refundId }) => refundCall(trx, refundId),
    otherwise: (trx, { refundId }) => settleRefundById(trx, refundId),
    ask,
    apply: ofRefund,
    isScheduled,
    isTurnedAway: ({ isWithdrawn }) => isWithdrawn,
  })

export const refundProcessors = [
  refunding(refundPayment, false, async (asking, call) => (isOpen(call) ? pursue(asking, call) : settled(call))),
  refunding(readRefund, true, pursue),
]
