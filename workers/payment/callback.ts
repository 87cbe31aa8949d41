import { resolveCallback } from '../../db/payment/index.ts'
import { processCallback } from '../../jobs/payment.ts'
import { onDatabase } from '../lib/processor.ts'

export const callbackProcessor = onDatabase(processCallback, async (trx, { callbackId }, context) => {
  const resolved = await resolveCallback(trx, callbackId)
  if (resolved?.status === 'failed')
    context.log.error({ callbackId, reason: resolved.error }, 'a callback names a record that is not of its account')
})
