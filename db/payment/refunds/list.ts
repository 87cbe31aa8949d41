import { equal, from, pageOf, until } from '../../lib/lists.ts'
import { readRow } from '../../lib/records.ts'
import type { Actor, Trx } from '../../lib/connection.ts'
import type { RowOf } from '../../lib/models.ts'
import { Refund } from '../models.ts'
import type { Failure } from '../payments/snapshot.ts'

type Stored = RowOf<'refund', { requestedBy: Actor }>
export type RefundRecord = Omit<Stored, 'failure'> & { failure: Failure | null }

const shown = (refund: Stored): RefundRecord => ({ ...refund, failure: refund.failure as Failure | null })

const page = pageOf(Refund, {
  order: ['createdAt desc', 'id'],
  filters: { status: equal('status'), paymentId: equal('paymentId'), from: from('createdAt'), to: until('createdAt') },
  scope: { propertyId: 'propertyId' },
})

/** A page of refunds, newest first. */
export const listRefunds = async (trx: Trx, filter: Parameters<typeof page>[1]) => {
  const { total, rows } = await page(trx, filter)
  return { total, rows: rows.map(shown) }
}

/** A refund; 404. */
export const readRefundRecord = async (trx: Trx, id: string): Promise<RefundRecord> =>
  shown(await readRow(trx, Refund, id))
