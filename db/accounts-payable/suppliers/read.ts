import type { Trx } from '../../lib/connection.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import { openContacts, searchTerm } from '../../documents/index.ts'
import { equal, fact, matching, pageOf } from '../../lib/lists.ts'
import { readRow } from '../../lib/records.ts'
import { idsLike, partly } from '../../lib/words.ts'
import { Supplier } from '../models.ts'
import { bankDetailsOf } from './bank-details.ts'

/** The open amounts of a supplier, by currency. */
export type OpenTotals = { currency: string; open: number; credits: number; advances: number }

/** A supplier with its contacts, bank details and open totals. 404. */
export const readSupplier = async (trx: Trx, id: string) => {
  const row = await readRow(trx, Supplier, id)
  const [reached, details, totals] = await Promise.all([
    openContacts(trx, 'supplier', id, row.sealed),
    bankDetailsOf(trx, id),
    sql<OpenTotals>(
      trx,
      `select currency, sum(open)::bigint as open, sum(credits)::bigint as credits, sum(advances)::bigint as advances from (
         select currency, open, 0 as credits, 0 as advances from payable where tenant_id = :tenantId and supplier_id = :id and status in ('approved', 'partly_paid')
         union all
         select currency, 0, case kind when 'credit_note' then available else 0 end, case kind when 'advance' then available else 0 end
         from supplier_credit where tenant_id = :tenantId and supplier_id = :id and status = 'open') t group by 1 order by 1`,
      { tenantId: contextOf(trx).tenantId, id },
    ),
  ])
  return { ...row, ...reached, ...details, totals }
}
export type SupplierShown = Awaited<ReturnType<typeof readSupplier>>

const page = pageOf(Supplier, {
  order: ['legalName', 'id'],
  filters: {
    q: matching<string>('strpos(search, ?) > 0'),
    ids: matching<string[]>('id = any(?::uuid[])'),
    status: equal('status'),
    blocked: fact('payments_blocked', 'supplier_blocked'),
  },
})

/** A page of suppliers by name, without contacts and bank details; `q` finds names without accents, and numbers. */
export const listSuppliers = async (
  trx: Trx,
  {
    q,
    ...filter
  }: {
    page: number
    limit: number
    q?: string | undefined
    status?: string | undefined
    blocked?: boolean | undefined
  },
) => {
  const term = q === undefined ? undefined : searchTerm(q)
  const ids = term === undefined ? null : await idsLike(trx, 'supplier', partly(term))
  return page(trx, { ...filter, ...(ids === null ? { q: term } : { ids }) })
}
