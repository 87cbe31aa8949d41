import { beginSubmit, settlePaymentById } from '../../db/payment/index.ts'
import { submitPayment } from '../../jobs/payment.ts'
import { processor } from '../lib/processor.ts'
import { submit } from './outcome.ts'

export const submitProcessor = processor(submitPayment, async (context) => {
  const call = await context.effect((trx) => beginSubmit(trx, context.payload.paymentId))
  if (call) await submit(context, call)
  else await context.finish((trx) => settlePaymentById(trx, context.payload.paymentId))
})
