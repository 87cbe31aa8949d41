import { beginSubmit, paymentCall, settlePaymentById } from '../../db/payment/index.ts'
import { capturePayment, submitPayment } from '../../jobs/payment.ts'
import { gatewayJob } from '../lib/gateway-job.ts'
import { ofPayment, submit } from './outcome.ts'
import { captureOrRead } from './pursue.ts'

export const submitProcessor = gatewayJob(submitPayment, {
  load: (trx, { paymentId }) => beginSubmit(trx, paymentId),
  otherwise: (trx, { paymentId }) => settlePaymentById(trx, paymentId),
  ask: submit,
  apply: ofPayment('call'),
  isScheduled: false,
})

export const captureProcessor = gatewayJob(capturePayment, {
  load: async (trx, { paymentId }) => {
    const call = await paymentCall(trx, paymentId)
    return call?.payment.status === 'authorised' && call.payment.captureRequested !== null ? call : null
  },
  otherwise: (trx, { paymentId }) => settlePaymentById(trx, paymentId),
  ask: captureOrRead,
  apply: ofPayment('call'),
  isScheduled: false,
  isTurnedAway: ({ isWithdrawn }) => isWithdrawn,
})
