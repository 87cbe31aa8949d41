import { beginSubmit, settlePaymentById } from '../../db/payment/index.ts'
import { submitPayment } from '../../jobs/payment.ts'
import { gatewayJob } from '../lib/gateway-job.ts'
import { ofPayment, submit } from './outcome.ts'

export const submitProcessor = gatewayJob(submitPayment, {
  load: (trx, { paymentId }) => beginSubmit(trx, paymentId),
  otherwise: (trx, { paymentId }) => settlePaymentById(trx, paymentId),
  ask: submit,
  apply: ofPayment,
  isScheduled: false,
})
