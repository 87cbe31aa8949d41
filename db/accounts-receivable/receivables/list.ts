import { dueWithin, searchTerm, totalDue } from '../../documents/index.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { onDays } from '../../lib/days.ts'
import { fact, inScope, orderBy, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging, Sort } from '../../lib/paging.ts'
import { byIds, idsLike, partly } from '../../lib/words.ts'
import { inDefault } from '../overdue.ts'
import type { ReceivableRecord } from '../models.ts'
import { receivableSide } from '../side.ts'

export const receivableSorts = {
  issuedOn: 'p.issued_on',
  createdAt: 'p.created_at',
  total: 'p.total',
  open: 'p.open',
}
export type ReceivableListed = ReceivableRecord & {
  customer: { id: string; name: string }
  dueOn: string | null
}
export type ReceivableFilter = Paging & {
  status?: string | undefined
  kind?: string | undefined
  customerId?: string | undefined
  propertyId?: string | undefined
  bookId?: string | undefined
  issuedFrom?: string | undefined
  issuedTo?: string | undefined
  dueFrom?: string | undefined
  dueTo?: string | undefined
  overdue?: boolean | undefined
  folioId?: string | undefined
  number?: string | undefined
  q?: string | undefined
  scope: Condition
  sort: Sort<keyof typeof receivableSorts>
}

/** A page of documents that the caller may read, the latest first. `number` is shown with its prefix, and found so. */
export const listReceivables = async (trx: Trx, filter: ReceivableFilter): Promise<Page<ReceivableListed>> => {
  const conditions = [
    { text: 'p.tenant_id = ?', values: [contextOf(trx).tenantId] },
    ...inScope(filter.scope, { propertyId: 'p.property_id', createdBy: 'p.created_by' }),
    ...where('p.status = ?', filter.status),
    ...where('p.kind = ?', filter.kind),
    ...where('p.customer_id = ?', filter.customerId),
    ...where('p.property_id = ?', filter.propertyId),
    ...where('p.book_id = ?', filter.bookId),
    ...where(
      `exists (select from receivable_line l where l.tenant_id = p.tenant_id and l.receivable_id = p.id and l.folio_id = ?)`,
      filter.folioId,
    ),
    ...where('upper(p.number_prefix || p.number) = upper(?)', filter.number),
    ...(filter.q === undefined
      ? []
      : [
          byIds(
            {
              'p.id': await idsLike(trx, 'receivable', partly(filter.q)),
              'p.customer_id': await idsLike(trx, 'customer', partly(searchTerm(filter.q))),
            },
            {
              text: `(strpos(lower(p.number_prefix || p.number), lower(?)) > 0 or strpos(lower(p.customer_reference), lower(?)) > 0 or strpos(c.search, ?) > 0)`,
              values: [filter.q, filter.q, searchTerm(filter.q)],
            },
          ),
        ]),
  ]
  const due = dueWithin(receivableSide, filter)
  const isMore = [filter.issuedFrom, filter.issuedTo, filter.overdue].some((one) => one !== undefined)
  return readPage<ReceivableListed>(
    trx,
    {
      columns: `p.*, jsonb_build_object('id', c.id, 'name', c.legal_name) as customer,
        (select min(i.due_on) from receivable_installment i where i.tenant_id = p.tenant_id and i.receivable_id = p.id and i.open > 0) as due_on`,
      from: `receivable p join customer c on c.tenant_id = p.tenant_id and c.id = p.customer_id`,
      counted: { list: 'receivable', as: 'p' },
      conditions: [...conditions, ...due],
      total: isMore ? null : totalDue(trx, receivableSide, filter, conditions),
      days: onDays('p.issued_on', { from: filter.issuedFrom, to: filter.issuedTo }),
      facts: fact(filter.overdue, `p.id in ${inDefault('r.id')}`),
      order: orderBy(filter.sort, receivableSorts, 'p.id', ['total', 'open']),
    },
    filter,
  )
}
