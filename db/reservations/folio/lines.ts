import { folioBalanceChanged } from '../../../config/events/folios.ts'
import { sum } from '../../lib/amounts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import type { FolioLineRow, FolioRow } from '../../rows.ts'

/**
 * A tax of a charge: on top it has a line of its own, included it is part of the amount. Minor units; positive on a line that lowers a charge, too,
 * where it is what the tax shrinks by.
 */
export type LineTax = { taxRuleId: string; code: string; included: boolean; amount: number }

export type NewLine = {
  /** The id, where another line refers to it. */
  id?: string
  folioId: string
  kind: FolioLineRow['kind']
  category: FolioLineRow['category']
  /** No names of persons. */
  description: string
  /** A decimal with up to 4 places; 1 unless said. */
  quantity?: string
  /** Price of one; the amount unless said. Minor units. */
  unitAmount?: number
  /** Positive raises the balance. */
  amount: number
  businessDate: string
  source: { type: string; id: string; key?: string }
  paymentId?: string | null
  /** The receipt of a customer whose money it is. */
  receiptId?: string | null
  taxes?: readonly LineTax[]
  /** The charge that a tax belongs to, that an adjustment lowers, or that a transfer moves. */
  originalLineId?: string
  transferId?: string
  /** Rule of a line that is a tax. */
  taxRuleId?: string
}

/** Writes lines; the database adds them to the sums of their folios, which are locked. A closed folio refuses. */
export const addLines = async (trx: Trx, lines: readonly NewLine[]): Promise<FolioLineRow[]> => {
  if (lines.length === 0) return []
  return sql<FolioLineRow>(
    trx,
    `insert into folio_line (id, folio_id, kind, category, description, quantity, unit_amount, amount, business_date, source_type, source_id, source_key,
       payment_id, receipt_id, taxes, original_line_id, transfer_id, tax_rule_id, posted_by)
     select coalesce((v->>'id')::uuid, gen_random_uuid()), (v->>'folioId')::uuid, v->>'kind', v->>'category', v->>'description',
       coalesce((v->>'quantity')::numeric, 1), coalesce((v->>'unitAmount')::bigint, (v->>'amount')::bigint),
       (v->>'amount')::bigint, (v->>'businessDate')::date, v->'source'->>'type', (v->'source'->>'id')::uuid,
       coalesce(v->'source'->>'key', ''), (v->>'paymentId')::uuid, (v->>'receiptId')::uuid, coalesce(v->'taxes', '[]'), (v->>'originalLineId')::uuid,
       (v->>'transferId')::uuid, (v->>'taxRuleId')::uuid, ?::jsonb
     from jsonb_array_elements(?::jsonb) v returning *`,
    [JSON.stringify(contextOf(trx).actor), JSON.stringify(lines)],
  )
}

type Written = Pick<FolioLineRow, 'id' | 'folioId' | 'amount'>

/** Says that the balances of folios, as they are read after their lines, have changed. */
export const tellBalances = async (trx: Trx, folios: readonly FolioRow[], lines: readonly Written[]): Promise<void> => {
  await emitAll(
    trx,
    folioBalanceChanged,
    folios.flatMap(({ propertyId, id, version, number, balance, currency }) => {
      const own = lines.filter((line) => line.folioId === id)
      const lineIds = own.slice(0, 100).map((line) => line.id)
      const amount = sum(own.map((line) => line.amount))
      const data = { folioId: id, number, lineIds, category: null, amount, balance, currency }
      return own.length > 0 ? [{ propertyId, id, version, data }] : []
    }),
  )
}

/** Says that balances changed, once per folio that a command has added lines to; answers all the folios with their sums as they are now. */
export const announceBalances = async (
  trx: Trx,
  folioIds: readonly string[],
  lines: readonly Written[],
): Promise<FolioRow[]> => {
  const folios = await sql<FolioRow>(trx, `select * from folio where id = any(?::uuid[]) order by id`, [
    [...new Set(folioIds)],
  ])
  await tellBalances(trx, folios, lines)
  return folios
}
