import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import type { Figure } from './figures.ts'
import type { Range } from './rules/dates.ts'

export type Counterpart = Pick<Figure, 'accountId' | 'month' | 'debit' | 'credit'>

/**
 * Debits and credits of the lines that stand beside cash in their entries, by account and month: whole periods from their totals, and the days of the one or
 * two periods that the range cuts. Of a property: its lines, of entries that have cash of it. Closing periods have none.
 */
export const againstCash = (
  trx: Trx,
  { bookId, propertyId, from, to }: Range & { bookId: string; propertyId: string | null },
): Promise<Counterpart[]> => {
  const totals = (of: string, days: string) => `
    select c.account_id, s.month, c.debit, c.credit
    from span s join cash_counterpart c on c.tenant_id = :tenantId and c.book_id = :bookId and c.period_id = s.id and c.on_day ${days}
    where ${of} and (cast(:propertyId as uuid) is null or c.property_id = cast(:propertyId as uuid) and c.same_property)`
  return sql<Counterpart>(
    trx,
    `with span as materialized (
       select p.id, cast(date_trunc('month', p.starts_on) as date) as month, p.starts_on >= cast(:from as date) and p.ends_on <= cast(:to as date) as whole,
         greatest(p.starts_on, cast(:from as date)) as first, least(p.ends_on, cast(:to as date)) as last
       from fiscal_period p where p.tenant_id = :tenantId and p.book_id = :bookId and p.kind = 'regular'
         and p.starts_on <= cast(:to as date) and p.ends_on >= cast(:from as date))
     select account_id, month, cast(sum(debit) as bigint) as debit, cast(sum(credit) as bigint) as credit
     from (${totals('s.whole', 'is null')} union all ${totals('not s.whole', 'between s.first and s.last')}) m group by 1, 2`,
    { tenantId: contextOf(trx).tenantId, bookId, propertyId, from, to },
  )
}
