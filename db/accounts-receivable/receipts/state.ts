import { conflict, notFound, versionConflict } from '../../../config/errors.ts'
import type { Event } from '../../../config/events/event.ts'
import type { ReceiptStatus } from '../../../config/receipts.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { locking } from '../locking.ts'
import type { AllocationRecord, ReceiptRecord } from './models.ts'

export const receiptMoves = lifecycle<ReceiptStatus>('A receipt')({
  allocated: { from: ['recorded'] },
  refunded: { from: ['recorded'] },
  reversed: { from: ['recorded'], to: 'reversed' },
})

export const payerPlace = (rowId: string) => ({ table: 'receipt', rowId, purpose: 'payer' })

/** Locks a receipt, after customers and receivables. 404, 409 `version_conflict`. */
export const lockReceipt = async (trx: Trx, id: string, expected: number | null = null): Promise<ReceiptRecord> => {
  const row = await locking(
    sqlOne<ReceiptRecord>(trx, `select * from receipt where tenant_id = ? and id = ? for no key update`, [
      contextOf(trx).tenantId,
      id,
    ]),
  )
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

/** Receipts of payments follow them, and are changed there alone (R11). */
export const refuseManaged = ({ sourceType }: Pick<ReceiptRecord, 'sourceType'>): void => {
  if (sourceType === 'payment')
    throw conflict('managed_by_payments', 'The receipt is of a payment; change its allocations or refund it there')
}

/** Allocations of a receipt that stand, in their order. */
export const standingAllocations = (trx: Trx, receiptId: string): Promise<AllocationRecord[]> =>
  sql<AllocationRecord>(
    trx,
    `select a.* from receipt_allocation a where a.tenant_id = ? and a.receipt_id = ? and a.reverses_id is null
       and not exists (select from receipt_allocation r where r.tenant_id = a.tenant_id and r.reverses_id = a.id) order by a.position`,
    [contextOf(trx).tenantId, receiptId],
  )

type Told = { amount: number; receivableIds?: readonly (string | null)[] }

/** Says what has become of a receipt. */
export const tellReceipt = (
  trx: Trx,
  event: Event,
  { id, propertyId, version, customerId, currency }: ReceiptRecord,
  { amount, receivableIds = [] }: Told,
) =>
  emit(trx, event, {
    propertyId,
    id,
    version,
    data: {
      receiptId: id,
      customerId,
      amount,
      currency,
      // Of many the first ones: an event is bounded.
      receivableIds: [...new Set(receivableIds.flatMap((one) => one ?? []))].slice(0, 100),
    },
  })

/** The place of the postings of a receipt, and its customer. */
export const placeOf = ({ bookId, propertyId }: Pick<ReceiptRecord, 'bookId' | 'propertyId'>) => ({
  bookId,
  ...(propertyId === null ? {} : { propertyId }),
})
export const partyOf = (customerId: string | null) =>
  customerId === null ? {} : { parties: { all: { type: 'customer' as const, id: customerId } } }
