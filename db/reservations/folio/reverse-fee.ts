import { randomUUID } from 'node:crypto'
import type { DayPosting } from '../../financial/index.ts'
import { prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { FolioLineRow, FolioRow } from '../../rows.ts'
import { addLines, announceBalances } from './lines.ts'
import { partyOf } from './write.ts'

export type Fee = Pick<FolioLineRow, 'id' | 'folioId' | 'category' | 'description'> & {
  reservationId: string
  amount: number
}

/** Fees on the folios of stays, each with the amount that is left of it. */
export const feesLeft = (trx: Trx, reservationIds: readonly string[]): Promise<Fee[]> =>
  prepared<Fee>(
    trx,
    `select l.id, l.folio_id, f.reservation_id, l.category, l.description, l.amount + coalesce(sum(a.amount), 0)::bigint as amount
     from folio f join folio_line l on l.tenant_id = f.tenant_id and l.folio_id = f.id and l.kind = 'fee'
     left join folio_line a on a.tenant_id = l.tenant_id and a.original_line_id = l.id and a.kind in ('adjustment', 'transfer_out')
     where f.reservation_id = any(?::uuid[]) group by l.tenant_id, l.id, f.reservation_id
     having l.amount + coalesce(sum(a.amount), 0) > 0 order by l.seq`,
    [reservationIds],
  )

/** Takes fees back: a line that lowers each, on its folio, which is locked and open. Answers the postings, which are for the end of the transaction. */
export const reverseFees = async (
  trx: Trx,
  fees: readonly Fee[],
  folios: readonly FolioRow[],
  { businessDate, guestId }: { businessDate: string; guestId: string | null },
): Promise<DayPosting[]> => {
  if (fees.length === 0) return []
  const made = fees.map((fee) => ({ fee, id: randomUUID(), folio: folios.find((one) => one.id === fee.folioId)! }))
  const lines = made.map(({ fee, id }) => ({
    id,
    folioId: fee.folioId,
    kind: 'adjustment' as const,
    category: fee.category,
    description: `${fee.description}, taken back`,
    amount: -fee.amount,
    businessDate,
    source: { type: 'fee_reversal', id },
    originalLineId: fee.id,
  }))
  await addLines(trx, lines)
  await announceBalances(
    trx,
    fees.map((fee) => fee.folioId),
    lines,
  )
  return made.map(({ fee, id, folio }) => ({
    event: 'reservations.fee_reversed',
    source: { id },
    payload: {
      amounts: { amount: fee.amount },
      documents: { folio: folio.id },
      context: { folioStage: folio.stage, ...(fee.category ? { category: fee.category } : {}) },
      ...partyOf(folio, guestId),
    },
  }))
}
