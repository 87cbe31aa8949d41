import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** Dimensions of figures beside the account. */
export type Split = 'property' | 'cost_center' | 'month'

/** Debits and credits of an account, minor units. `month` is the first day of one. Keys that were not asked for are null. */
export type Figure = {
  accountId: string
  propertyId: string | null
  costCenterId: string | null
  month: string | null
  debit: number
  credit: number
  lines: number
}

export type Span = {
  bookId: string
  /** From the beginning where it is null. */
  from: string | null
  to: string
  /** Only lines of these properties; all lines where it is null. */
  properties: readonly string[] | null
  costCenterId?: string | undefined
  accountIds?: readonly string[] | undefined
  /** Entries of closing periods count. */
  withClosing: boolean
}

const keys: Record<Split, { name: string; balance: string; line: string }> = {
  property: { name: 'property_id', balance: 'b.property_id', line: 'l.property_id' },
  cost_center: { name: 'cost_center_id', balance: 'b.cost_center_id', line: 'l.cost_center_id' },
  month: { name: 'month', balance: 's.month', line: 's.month' },
}
const allSplits: readonly Split[] = ['property', 'cost_center', 'month']

const columnsOf = (by: readonly Split[], of: 'balance' | 'line') => by.map((split) => `, ${keys[split][of]}`).join('')

const textOf = (by: readonly Split[]) => {
  const names = by.map((split) => `, ${keys[split].name}`).join('')
  const groups = by.filter((split) => split !== 'month')
  const grouped = groups.length === 0 ? '' : `group by ${groups.map((split) => keys[split].line).join(', ')}`
  const inside = groups.map((split) => `${keys[split].line}, `).join('')
  const none = allSplits
    .filter((split) => !by.includes(split))
    .map((split) => `, cast(null as ${split === 'month' ? 'date' : 'uuid'}) as ${keys[split].name}`)
    .join('')
  return `
  with span as materialized (
    select p.id, cast(date_trunc('month', p.starts_on) as date) as month, p.starts_on >= cast(:from as date) and p.ends_on <= cast(:to as date) as whole,
      greatest(p.starts_on, cast(:from as date)) as first, least(p.ends_on, cast(:to as date)) as last
    from fiscal_period p
    where p.tenant_id = :tenantId and p.book_id = :bookId and p.starts_on <= cast(:to as date) and p.ends_on >= cast(:from as date)
      and (p.kind = 'regular' or cast(:withClosing as boolean)))
  select account_id${names}${none}, cast(sum(debit) as bigint) as debit, cast(sum(credit) as bigint) as credit, cast(sum(lines) as bigint) as lines
  from (
    select b.account_id${columnsOf(by, 'balance')}, b.debit, b.credit, b.line_count as lines
    from span s join account_balance b on b.tenant_id = :tenantId and b.book_id = :bookId and b.period_id = s.id
    where s.whole and (cast(:properties as uuid[]) is null or b.property_id = any(cast(:properties as uuid[])))
      and (cast(:costCenterId as uuid) is null or b.cost_center_id = cast(:costCenterId as uuid))
      and (cast(:accountIds as uuid[]) is null or b.account_id = any(cast(:accountIds as uuid[])))
    union all
    select a.id${by.map((split) => (split === 'month' ? ', s.month' : `, l.${keys[split].name}`)).join('')}, l.debit, l.credit, l.lines
    from span s cross join account a
    cross join lateral (
      select ${inside} sum(l.debit) as debit, sum(l.credit) as credit, count(*) as lines from journal_line l
      where l.tenant_id = :tenantId and l.book_id = :bookId and l.account_id = a.id and l.posting_date between s.first and s.last
        and l.period_id = s.id and (cast(:properties as uuid[]) is null or l.property_id = any(cast(:properties as uuid[])))
        and (cast(:costCenterId as uuid) is null or l.cost_center_id = cast(:costCenterId as uuid))
      ${grouped}) l
    where not s.whole and l.lines > 0 and a.tenant_id = :tenantId and a.book_id = :bookId and a.postable
      and (cast(:accountIds as uuid[]) is null or a.id = any(cast(:accountIds as uuid[])))
  ) m group by account_id${names}`
}

const texts = new Map<string, string>()

/**
 * Movement of a book's accounts: whole periods from the balances, and the lines of the one or two periods that the days cut. Nothing sums the lines of a
 * whole period.
 */
export const movement = (trx: Trx, span: Span, by: readonly Split[] = []): Promise<Figure[]> => {
  const name = by.join()
  const text = texts.get(name) ?? textOf(by)
  texts.set(name, text)
  return sql<Figure>(trx, text, {
    tenantId: contextOf(trx).tenantId,
    bookId: span.bookId,
    from: span.from ?? '1900-01-01',
    to: span.to,
    properties: span.properties,
    costCenterId: span.costCenterId ?? null,
    accountIds: span.accountIds ?? null,
    withClosing: span.withClosing,
  })
}

/** Balances of a book's accounts at the end of a day: the movement from the beginning. */
export const balance = (
  trx: Trx,
  span: Omit<Span, 'from' | 'to'> & { on: string },
  by: readonly Split[] = [],
): Promise<Figure[]> => movement(trx, { ...span, from: null, to: span.on }, by)
