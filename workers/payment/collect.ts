import { sendLink } from '../../db/payment/index.ts'
import { collectDeposit, collectFee } from '../../db/reservations/index.ts'
import * as jobs from '../../jobs/payment.ts'
import { onDatabase } from '../lib/processor.ts'

export const collectProcessors = [
  onDatabase(jobs.collectDeposit, (trx, { depositId }) => collectDeposit(trx, depositId)),
  onDatabase(jobs.collectFee, (trx, { reservationId }) => collectFee(trx, reservationId)),
  onDatabase(jobs.sendPaymentLink, (trx, { paymentId }) => sendLink(trx, paymentId)),
]
