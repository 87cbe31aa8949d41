import type { cashSessionOpened } from '../../../config/events/cash.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { readRow } from '../../lib/records.ts'
import { CashSession } from '../models.ts'
import type { SessionRecord } from '../models.ts'

/** A session as a record; 404. */
export const sessionById = (trx: Trx, id: string): Promise<SessionRecord> => readRow(trx, CashSession, id)

/** Says what has become of a session. Its difference is told once it is counted. */
export const tellSession = (
  trx: Trx,
  event: typeof cashSessionOpened,
  { id, propertyId, version, registerId, cashierId, difference, currency, status }: SessionRecord,
) =>
  emit(trx, event, {
    propertyId,
    id,
    version,
    data: {
      cashSessionId: id,
      registerId,
      cashierId,
      difference: status === 'open' ? null : difference,
      currency,
    },
  })
