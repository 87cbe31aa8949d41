import { Obj, Uuid } from '../config/schema.ts'
import { daily, every, job } from './job.ts'

const ofPayment = Obj({ tenantId: Uuid, paymentId: Uuid })
const ofRefund = Obj({ tenantId: Uuid, refundId: Uuid })

/** The gateway is asked to take the money. */
export const submitPayment = job({
  name: 'payments.submit',
  queue: 'payments',
  payload: ofPayment,
  retry: 'provider',
  class: 'urgent',
})
/** The gateway is asked what became of it. */
export const readPayment = job({
  name: 'payments.read',
  queue: 'payments',
  payload: ofPayment,
  retry: 'provider',
  tries: 3,
})
/** Asks the gateway to close a payment that was cancelled here, */
export const cancelPayment = job({ name: 'payments.cancel', queue: 'payments', payload: ofPayment, retry: 'provider' })
/** or out of time. */
export const expirePayment = job({ name: 'payments.expire', queue: 'payments', payload: ofPayment, retry: 'provider' })
export const refundPayment = job({ name: 'payments.refund', queue: 'payments', payload: ofRefund, retry: 'provider' })
export const readRefund = job({
  name: 'payments.read-refund',
  queue: 'payments',
  payload: ofRefund,
  retry: 'provider',
  tries: 3,
})
/** A callback that was stored names an object; it is read from the gateway. */
export const processCallback = job({
  name: 'payments.process-callback',
  queue: 'payments',
  payload: Obj({ callbackId: Uuid }),
  retry: 'internal',
  class: 'urgent',
  replayable: true,
})
/** Makes the jobs of what is due to be read. */
export const sweepPayments = job({ name: 'payments.sweep', queue: 'payments', payload: Obj({}), retry: 'tick' })

/** Erases the bodies of callbacks, and what is known of payers, when 90 days have passed. */
export const eraseCallbackBodies = job({
  name: 'privacy.erase-callback-bodies',
  queue: 'privacy',
  payload: Obj({}),
  retry: 'tick',
})

export const paymentJobs = [
  submitPayment,
  readPayment,
  cancelPayment,
  expirePayment,
  refundPayment,
  readRefund,
  processCallback,
  sweepPayments,
  eraseCallbackBodies,
]
export const paymentSchedules = [every(5, sweepPayments), daily('03:25', eraseCallbackBodies)]
