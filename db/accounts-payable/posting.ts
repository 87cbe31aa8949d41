import { ledgerCollectWithholdings } from '../../jobs/accounts-payable.ts'
import { beginVersions, bookOf, todayOf } from '../documents/index.ts'
import { raisePosting } from '../financial/index.ts'
import type { PostingItem } from '../financial/index.ts'
import { sum } from '../lib/amounts.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import type { PayableRecord } from './models.ts'
import { partyOf } from './payee.ts'
import { payableSide } from './side.ts'

type PostedLine = {
  accountId: string | null
  amount: number
  costCenterId: string | null
  propertyId: string | null
  receivedValue: number | null
  variance: number | null
}

const itemOf = ({ accountId, amount, costCenterId, propertyId }: PostedLine): PostingItem => ({
  amount,
  accountId: accountId ?? '',
  ...(costCenterId === null ? {} : { costCenterId }),
  ...(propertyId === null ? {} : { propertyId }),
})

/** Asks that withholdings of months that are over be collected, in the zone of the book. */
export const requestCollection = async (trx: Trx, bookId: string, date: string): Promise<void> => {
  await enqueue(trx, ledgerCollectWithholdings, { tenantId: contextOf(trx).tenantId ?? '', bookId, date })
}

/** Begins the schedule of an approved bill, and raises its liability as the last step (R8). The caller holds the bill and its orders. */
export const postPayable = async (trx: Trx, payable: PayableRecord): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const { id, bookId, propertyId, postingOn, total } = payable
  await beginVersions(trx, payableSide, [id], postingOn)
  const lines = await sql<PostedLine>(
    trx,
    `select coalesce(l.account_id, o.account_id) as account_id, l.amount, l.cost_center_id, l.property_id, l.received_value, l.variance
     from payable_line l left join purchase_order_line o on o.tenant_id = l.tenant_id and o.id = l.purchase_order_line_id
     where l.tenant_id = ? and l.payable_id = ? order by l.line_no`,
    [tenantId, id],
  )
  const withheld = await sql<{ code: string; amount: number; base: number }>(
    trx,
    `select code, amount, base from payable_withholding where tenant_id = ? and payable_id = ? order by code`,
    [tenantId, id],
  )
  const plain = lines.filter(({ receivedValue }) => receivedValue === null)
  const stock = lines.filter(({ receivedValue }) => receivedValue !== null)
  if (withheld.length > 0) {
    const today = todayOf(await bookOf(trx, { bookId }))
    if (postingOn.slice(0, 7) < today.slice(0, 7)) await requestCollection(trx, bookId, today)
  }
  await raisePosting(trx, {
    event: 'accounts-payable.payable_approved',
    source: { id },
    bookId,
    ...(propertyId === null ? {} : { propertyId }),
    postingDate: postingOn,
    payload: {
      amounts: {
        lines: plain.map(itemOf),
        receivedValue: sum(stock.map((line) => line.receivedValue ?? 0)),
        variance: sum(stock.map((line) => line.variance ?? 0)),
        withheld: withheld.map(({ code, amount }) => ({ amount, context: { taxCode: code } })),
        net: total,
      },
      documents: { payable: id },
      ...partyOf(payable),
    },
  })
}
