import { conflict, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import { capturePayment } from '../../../jobs/payment.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { gateOfAccount } from '../accounts.ts'
import { holdPayment } from './read.ts'

/**
 * Asks the gateway to take what it has authorised, in full or in part, once; the gateway releases the rest (R17). A repeated request
 * for the same amount changes nothing. 409 invalid_transition, 422 amount_exceeds_authorised.
 */
export const requestCapture = async (
  trx: Trx,
  paymentId: string,
  wanted: number | undefined,
  expected: number | null = null,
): Promise<void> => {
  const payment = await holdPayment(trx, paymentId)
  if (!payment) throw notFound()
  if (expected !== null && payment.version !== expected) throw versionConflict(payment.version)
  const { status, captureRequested, authorisedAmount, cancelRequestedAt } = payment
  const amount = wanted ?? captureRequested ?? authorisedAmount
  if (captureRequested !== null && captureRequested === amount && ['authorised', 'captured'].includes(status)) return
  if (status !== 'authorised' || captureRequested !== null || cancelRequestedAt !== null)
    throw conflict(
      'invalid_transition',
      'Only an authorised payment is captured, once, and not after it was cancelled',
      [{ field: 'status', message: captureRequested === null ? `is ${status}` : 'is being captured' }],
    )
  if (amount > authorisedAmount)
    throw unprocessable('amount_exceeds_authorised', `At most ${authorisedAmount} was authorised`, [
      { field: 'amount', message: 'is too much' },
    ])
  await sql(
    trx,
    `update payment set capture_requested = ?, next_read_at = now() + interval '30 seconds', read_count = 0, version = version + 1 where id = ?`,
    [amount, paymentId],
  )
  await enqueue(
    trx,
    capturePayment,
    { tenantId: payment.tenantId, paymentId },
    { gate: await gateOfAccount(trx, payment.gatewayAccountId) },
  )
}
