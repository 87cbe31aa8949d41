import { notFound } from '../../../config/errors.ts'
import { readPayment as readAtGateway } from '../../../jobs/payment.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { gateOfAccount } from '../accounts.ts'
import { readPayment } from './read.ts'

/** A mark that changes with each reading that has been applied. */
export const readingOf = async (trx: Trx, paymentId: string): Promise<string> => {
  const row = await sqlOne<{ mark: string }>(
    trx,
    `select version || '.' || read_count || '.' || coalesce(next_read_at::text, '') as mark from payment where id = ?`,
    [paymentId],
  )
  if (!row) throw notFound()
  return row.mark
}

/** Asks for a reading of the payment at its gateway now; one at a time. False where no gateway knows of it. */
export const requestReading = async (trx: Trx, paymentId: string): Promise<boolean> => {
  const payment = await readPayment(trx, paymentId)
  if (!payment) throw notFound()
  if (payment.origin !== 'gateway') return false
  await enqueue(
    trx,
    readAtGateway,
    { tenantId: payment.tenantId, paymentId },
    { uniqueKey: `sync-${paymentId}`, class: 'urgent', gate: await gateOfAccount(trx, payment.gatewayAccountId) },
  )
  return true
}
