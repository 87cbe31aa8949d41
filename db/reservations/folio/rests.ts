import { prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { FolioLineRow } from '../../rows.ts'

/** The part of a charge or fee that is left on one folio: where it was posted, or where a transfer moved it. */
export type Rest = Pick<FolioLineRow, 'id' | 'folioId' | 'category' | 'description'> & {
  /** The stay on whose folio it was posted; null for a folio of no stay. */
  reservationId: string | null
  /** Minor units without taxes on top, after adjustments and transfers. */
  amount: number
}

const restsOf = (roots: string) => `
  with recursive tree as (
    ${roots}
    union all
    select l.tenant_id, l.id, l.folio_id, l.category, l.description, l.amount, l.seq, t.reservation_id
    from tree t join folio_line l on l.tenant_id = t.tenant_id and l.original_line_id = t.id and l.kind = 'transfer_in'
      and l.category is not distinct from t.category)
  select t.id, t.folio_id, t.category, t.description, t.reservation_id, t.amount + coalesce(sum(a.amount), 0)::bigint as amount
  from tree t left join folio_line a on a.tenant_id = t.tenant_id and a.original_line_id = t.id and a.kind in ('adjustment', 'transfer_out')
  group by t.id, t.folio_id, t.category, t.description, t.reservation_id, t.amount, t.seq
  having t.amount + coalesce(sum(a.amount), 0) > 0 order by t.seq`

const columns = `l.tenant_id, l.id, l.folio_id, l.category, l.description, l.amount, l.seq, f.reservation_id`

const ofFees = restsOf(`select ${columns} from folio f
  join folio_line l on l.tenant_id = f.tenant_id and l.folio_id = f.id and l.kind = 'fee' where f.reservation_id = any(?::uuid[])`)

const ofSource = restsOf(`select ${columns} from folio_line l
  join folio f on f.tenant_id = l.tenant_id and f.id = l.folio_id where l.source_type = ? and l.source_id = ? and l.kind = 'charge'`)

/** Fees of stays with what is left of each, also on folios that they were moved to. */
export const feesLeft = (trx: Trx, reservationIds: readonly string[]): Promise<Rest[]> =>
  prepared<Rest>(trx, ofFees, [reservationIds])

/** Charges of one source with what is left of each, wherever it was moved to. */
export const chargesLeft = (trx: Trx, source: { type: string; id: string }): Promise<Rest[]> =>
  prepared<Rest>(trx, ofSource, [source.type, source.id])
