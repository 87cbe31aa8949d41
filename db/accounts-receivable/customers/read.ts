import { searchTerm } from '../../documents/index.ts'
import { isOfGuest } from '../../guests/index.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { equal, fact, matching, pageOf } from '../../lib/lists.ts'
import { readRow } from '../../lib/records.ts'
import { idsLike, partly } from '../../lib/words.ts'
import { Customer } from '../models.ts'
import { identityOfCustomer } from './erasure.ts'
import { inDefault } from '../overdue.ts'
import { openReach } from './reach.ts'

/** A customer with its contacts, what of its open amounts is overdue, unbilled, and there as money, and what `kept` has of one that is erased. 404. */
export const readCustomer = async (trx: Trx, id: string) => {
  const row = await readRow(trx, Customer, id)
  const [reach, kept, sums] = await Promise.all([
    openReach(trx, row),
    identityOfCustomer(trx, row),
    sqlOne<{ overdue: number; unbilled: number; available: number }>(
      trx,
      `select
         (select coalesce(sum(i.open), 0)::bigint from receivable r join book b on b.tenant_id = r.tenant_id and b.id = r.book_id
          join receivable_installment i on i.tenant_id = r.tenant_id and i.receivable_id = r.id and i.open > 0
            and i.due_on < cast(now() at time zone b.time_zone as date)
          where r.tenant_id = :tenantId and r.customer_id = :id and r.status in ('issued', 'partly_paid')) as overdue,
         (select coalesce(sum(open), 0)::bigint from receivable where tenant_id = :tenantId and customer_id = :id and status = 'unbilled') as unbilled,
         (select coalesce(sum(available), 0)::bigint from receipt where tenant_id = :tenantId and customer_id = :id and status = 'recorded' and available > 0) as available`,
      { tenantId: contextOf(trx).tenantId, id },
    ),
  ])
  return { ...row, ...reach, kept, ...(sums ?? { overdue: 0, unbilled: 0, available: 0 }) }
}
export type CustomerShown = Awaited<ReturnType<typeof readCustomer>>

const page = pageOf(Customer, {
  order: ['legalName', 'id'],
  filters: {
    q: matching<string>('strpos(search, ?) > 0'),
    ids: matching<string[]>('id = any(?::uuid[])'),
    kind: equal('kind'),
    status: equal('status'),
    onHold: fact('on_hold', 'customer_held'),
    guestId: matching<string>(isOfGuest('guest_id')),
    overdue: fact(`id in ${inDefault('r.customer_id')}`),
  },
})

/** A page of customers by name, without contacts; `q` finds names without accents, and numbers. */
export const listCustomers = async (
  trx: Trx,
  {
    q,
    ...filter
  }: {
    page: number
    limit: number
    q?: string | undefined
    kind?: string | undefined
    status?: string | undefined
    onHold?: boolean | undefined
    overdue?: boolean | undefined
    guestId?: string | undefined
  },
) => {
  const term = q === undefined ? undefined : searchTerm(q)
  const ids = term === undefined ? null : await idsLike(trx, 'customer', partly(term))
  return page(trx, { ...filter, ...(ids === null ? { q: term } : { ids }) })
}
