import { beginSubmit, paymentCall, settlePaymentById } from '../../db/payment/index.ts'
import { capturePayment, submitPayment } from '../../jobs/payment.ts'
import { gatewayJob, unheard } from '../lib/gateway-job.ts'
import { capture, ofPayment, submit } from './outcome.ts'

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
  // A refusal is no end of the payment: its schedule reads what became of it.
  ask: async (asking, call) => unheard(await capture(asking, call)),
  apply: ofPayment('call'),
  isScheduled: false,
})
