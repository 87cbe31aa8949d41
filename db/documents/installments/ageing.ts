import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Paging } from '../../lib/paging.ts'
import type { Buckets } from '../rules/schedule.ts'
import { ofHouses } from './houses.ts'
import type { Side } from './side.ts'

/**
 * SQL of the installments that may have been open on a day (`:asOf`): those that are, and those that were paid, voided or divided anew since. What was over by
 * then is not read, however much of it there is.
 */
const perhapsOpen = (document: string): string => `
  select i.id from ${document}_installment i where i.tenant_id = :tenantId and i.open > 0
  union
  select f.installment_id from ${document}_fact f where f.tenant_id = :tenantId and f.dated_on > cast(:asOf as date)
  union
  select i.id from ${document}_installment i where i.tenant_id = :tenantId and i.replanned_since > cast(:asOf as text) and i.open = 0`

/**
 * SQL of the installments that were open on a day (`:asOf`): `document_id`, `installment_id`, `due_on` and `open`, by the schedule of that day and the facts
 * dated up to it, with `more` of a document `d`. `:tenantId` and `:bookId` are bound. What is written later with a later date changes none of it. Documents are
 * looked up one by one, since PostgreSQL would go through all of a book rather than those of the few installments.
 */
export const openOn = ({ document, counted, since }: Side, more: string): string => `
  select d.id as document_id, i.id as installment_id, i.seq, v.due_on, v.amount - coalesce(f.lowered, 0) as open, ${more}
  from (${perhapsOpen(document)}) c
  cross join lateral (select x.* from ${document}_installment x where x.tenant_id = :tenantId and x.id = c.id offset 0) i
  cross join lateral (select x.* from ${document} x where x.tenant_id = i.tenant_id and x.id = i.${document}_id offset 0) d
  cross join lateral (select cast(x.one ->> 'dueOn' as date) as due_on, cast(x.one ->> 'amount' as bigint) as amount
    from jsonb_array_elements(i.versions) as x (one) where x.one ->> 'since' <= cast(:asOf as text) order by x.one ->> 'since' desc limit 1) v
  left join lateral (select sum(f.amount)::bigint as lowered from ${document}_fact f
    where f.tenant_id = i.tenant_id and f.${document}_id = d.id and f.installment_id = i.id and f.dated_on <= cast(:asOf as date)) f on true
  where d.tenant_id = :tenantId and d.book_id = :bookId and ${counted} and ${since} <= cast(:asOf as date) and v.amount - coalesce(f.lowered, 0) <> 0`

const bucket = (name: string, from: number | null, until: number | null) => {
  const days = `(cast(:asOf as date) - o.due_on)`
  const conditions = [
    ...(from === null ? [] : [`${days} >= ${from}`]),
    ...(until === null ? [] : [`${days} <= ${until}`]),
  ]
  return `coalesce(sum(o.open) filter (where ${conditions.join(' and ')}), 0)::bigint as ${name}`
}
const figures = [
  bucket('not_due', null, 0),
  bucket('d1to30', 1, 30),
  bucket('d31to60', 31, 60),
  bucket('d61to90', 61, 90),
  bucket('over90', 91, null),
  `coalesce(sum(o.open), 0)::bigint as total`,
].join(', ')

const bucketNames = ['notDue', 'd1to30', 'd31to60', 'd61to90', 'over90', 'total'] as const
export type AgeingRow = Buckets & { key: string | null }
export type AgeingAsked = Paging & {
  bookId: string
  asOf: string
  propertyId?: string | undefined
  /** The houses of the caller; null for all. */
  propertyIds: readonly string[] | null
  /** SQL: what the rows are grouped by, of a document `d`. */
  by: string
}
/**
 * Amounts that stand apart from the buckets on a day, such as credits: `text` selects `key` and an amount by each of `names`. Groups that have only such amounts are
 * rows, too.
 */
type Beside<Name extends string> = { names: readonly Name[]; text: string }

const asColumn = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Open amounts on a day by age and group: one page of the groups, the largest first, and the totals of all. Amounts in minor units. */
export const ageing = async <Name extends string>(
  trx: Trx,
  side: Side,
  { bookId, asOf, propertyId, propertyIds, by, page, limit }: AgeingAsked,
  beside: Beside<Name>,
): Promise<{
  totals: Buckets & Record<Name, number>
  total: number
  rows: (AgeingRow & Record<Name, number>)[]
}> => {
  type Amounts = Buckets & Record<Name, number>
  const values = { tenantId: contextOf(trx).tenantId, bookId, asOf, propertyId: propertyId ?? null, propertyIds }
  const columns = beside.names.map(asColumn)
  const found = await sql<Amounts & { key: string | null; groups: number; isTotal: boolean }>(
    trx,
    `with o as (
       select x.key, x.due_on, x.open, ${columns.map((name) => `0 as ${name}`).join(', ')} from (${openOn(side, `d.property_id, ${by} as key`)}) x
       where (cast(:propertyId as uuid) is null or x.property_id = cast(:propertyId as uuid)) and ${ofHouses('x')}
       union all
       select x.key, null, 0, ${columns.map((name) => `x.${name}`).join(', ')} from (${beside.text}) x where ${columns.map((name) => `x.${name} <> 0`).join(' or ')}),
     r as (select o.key, grouping(o.key) = 1 as is_total, ${figures}, ${columns.map((name) => `coalesce(sum(o.${name}), 0)::bigint as ${name}`).join(', ')}
       from o group by grouping sets ((o.key), ()))
     select r.*, (select count(*) from r where not is_total)::int as groups from r
     order by is_total desc, total desc, key limit :most offset 0`,
    { ...values, most: page * limit + 1 },
  )
  const totals = found.find((row) => row.isTotal)
  if (!totals) throw new Error('an ageing has no totals')
  const amountsOf = (row: Amounts): Amounts =>
    Object.fromEntries([...bucketNames, ...beside.names].map((name) => [name, row[name]])) as unknown as Amounts
  return {
    totals: amountsOf(totals),
    total: totals.groups,
    rows: found
      .filter((row) => !row.isTotal)
      .slice((page - 1) * limit)
      .map((row) => ({ key: row.key, ...amountsOf(row) })),
  }
}
