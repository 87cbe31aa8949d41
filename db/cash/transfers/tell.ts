import type { cashTransferRequested } from '../../../config/events/cash.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { TransferRecord } from '../models.ts'

/** Says what has become of a transfer. */
export const tellTransfer = (
  trx: Trx,
  event: typeof cashTransferRequested,
  { id, propertyId, version, method, fromAccountId, toAccountId, amount, fee, currency }: TransferRecord,
) =>
  emit(trx, event, {
    propertyId,
    id,
    version,
    data: { cashTransferId: id, method, fromAccountId, toAccountId, amount, fee, currency },
  })
