import type { AccountClass, Control, Side } from '../../config/financial.ts'
import { invalid, notFound } from '../../config/errors.ts'
import { whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

export type ChartFilter = {
  bookId?: string | undefined
  class?: AccountClass | undefined
  status?: 'active' | 'archived' | undefined
  role?: string | undefined
  control?: Control | undefined
  /** Beginning of the code, or part of the name. */
  q?: string | undefined
  /** Adds balances at the end of this day; movement of all days where only `propertyId` is given. */
  asOf?: string | undefined
  /** Adds balances of this property alone. */
  propertyId?: string | undefined
}

export type ChartNode = {
  id: string
  code: string
  name: string
  class: AccountClass
  side: Side
  parentId: string | null
  postable: boolean
  control: Control | null
  role: string | null
  section: string | null
  status: 'active' | 'archived'
  /** On the normal side; of a group, the sum of its accounts. */
  balance?: number
  children?: ChartNode[]
}

/** The book named, or the tenant's only one: 400 where there are several and none is named, 404 where there is no such book. */
export const bookFor = async (trx: Trx, bookId?: string): Promise<{ id: string; currency: string }> => {
  const books = await sql<{ id: string; currency: string }>(
    trx,
    `select id, currency from book where tenant_id = ? and (?::uuid is null or id = ?::uuid) limit 2`,
    [contextOf(trx).tenantId, bookId ?? null, bookId ?? null],
  )
  const [book, another] = books
  if (!book) throw notFound('No such book')
  if (another) throw invalid([{ field: 'bookId', message: 'is required, since there are several books' }])
  return book
}

/** Up to where the book's entries go, and how many events are not in them yet. */
export const ledgerState = async (
  trx: Trx,
  bookId: string,
): Promise<{ ledgerSequence: number; pendingEvents: number }> => {
  const state = await sqlOne<{ ledgerSequence: number; pendingEvents: number }>(
    trx,
    // The tenant stands in each part: PostgreSQL then plans one of the sixteen parts of a table, not all.
    `select coalesce((select max(e.sequence) from journal_entry e where e.tenant_id = :tenantId and e.book_id = :bookId), 0) as ledger_sequence,
       (select count(*) from posting_event p where p.tenant_id = :tenantId and p.book_id = :bookId and p.status in ('pending', 'failed', 'parked')) as pending_events`,
    { tenantId: contextOf(trx).tenantId, bookId },
  )
  return state ?? { ledgerSequence: 0, pendingEvents: 0 }
}

/** SQL of the lines `l` of the period that a day (`:asOf`) cuts, up to that day: `offset 0` has PostgreSQL read the period first, and then its days alone. */
const linesOfCutPeriod = (conditions = ''): string => `fiscal_period p
       cross join lateral (select l.account_id, l.debit, l.credit from journal_line l
         where l.tenant_id = :tenantId and l.book_id = :bookId and l.period_id = p.id and l.posting_date between p.starts_on and cast(:asOf as date)
           and (cast(:propertyId as uuid) is null or l.property_id = :propertyId) and :lines ${conditions} offset 0) l
       where p.tenant_id = :tenantId and p.book_id = :bookId and p.starts_on <= cast(:asOf as date) and p.ends_on > cast(:asOf as date)`

/** Debits less credits by account, of all or of those named: whole periods from the balances, the lines of the one that the day cuts. */
export const movements = async (
  trx: Trx,
  bookId: string,
  asOf: string | undefined,
  propertyId: string | undefined,
  scope: Condition,
  accountIds: readonly string[] | null = null,
): Promise<Map<string, number>> => {
  const named = (column: string) => (accountIds === null ? '' : `and ${column} = any(cast(:accountIds as uuid[]))`)
  const rows = await sql<{ accountId: string; movement: number }>(
    trx,
    `select account_id, cast(sum(movement) as bigint) as movement from (
       select b.account_id, b.debit - b.credit as movement from account_balance b
       join fiscal_period p on p.tenant_id = b.tenant_id and p.id = b.period_id
       where b.tenant_id = :tenantId and b.book_id = :bookId ${named('b.account_id')} and p.ends_on <= coalesce(cast(:asOf as date), 'infinity')
         and (cast(:propertyId as uuid) is null or b.property_id = :propertyId) and :balances
       union all
       select l.account_id, l.debit - l.credit from ${linesOfCutPeriod(named('l.account_id'))}
     ) m group by account_id`,
    {
      ...(accountIds === null ? {} : { accountIds }),
      tenantId: contextOf(trx).tenantId,
      bookId,
      asOf: asOf ?? null,
      propertyId: propertyId ?? null,
      balances: whereOf(scope, { propertyId: 'b.property_id' }),
      lines: whereOf(scope, { propertyId: 'l.property_id' }),
    },
  )
  return new Map(rows.map((row) => [row.accountId, row.movement]))
}

const knownProperty = async (trx: Trx, bookId: string, propertyId: string) => {
  const found = await sqlOne(trx, `select id from property where tenant_id = ? and book_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    bookId,
    propertyId,
  ])
  if (!found) throw notFound('No such property')
}

const matches = (node: ChartNode, filter: ChartFilter): boolean => {
  const q = filter.q?.toLowerCase()
  return (
    (filter.class === undefined || node.class === filter.class) &&
    (filter.status === undefined || node.status === filter.status) &&
    (filter.role === undefined || node.role === filter.role) &&
    (filter.control === undefined || node.control === filter.control) &&
    (q === undefined || node.code.toLowerCase().startsWith(q) || node.name.toLowerCase().includes(q))
  )
}

export type Chart = {
  currency: string
  /** Every account that matches, by code, groups with the sums of what is below them. */
  flat: ChartNode[]
  /** Roots with what matches below them. */
  tree: ChartNode[]
  state: { ledgerSequence: number; pendingEvents: number } | null
}

/**
 * The chart of a book. All readers see its accounts; balances are of the lines in `scope` alone.
 */
export const readChart = async (trx: Trx, filter: ChartFilter, scope: Condition): Promise<Chart> => {
  const book = await bookFor(trx, filter.bookId)
  const withBalances = filter.asOf !== undefined || filter.propertyId !== undefined
  if (filter.propertyId !== undefined) {
    await knownProperty(trx, book.id, filter.propertyId)
  }
  const nodes = await sql<ChartNode>(
    trx,
    `select id, code, name, class, side, parent_id, postable, control, role, section, status from account
     where tenant_id = ? and book_id = ? order by code collate "C", id`,
    [contextOf(trx).tenantId, book.id],
  )
  const state = withBalances ? await ledgerState(trx, book.id) : null
  if (withBalances) {
    addBalances(nodes, await movements(trx, book.id, filter.asOf, filter.propertyId, scope))
  }
  return {
    currency: book.currency,
    flat: nodes.filter((node) => matches(node, filter)),
    tree: treeOf(nodes, filter),
    state,
  }
}

/** Groups sum their children, each turned to the group's own normal side. */
const addBalances = (nodes: ChartNode[], movement: Map<string, number>) => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const total = new Map(nodes.map((node) => [node.id, 0]))
  for (const node of nodes) {
    const moved = movement.get(node.id) ?? 0
    if (moved === 0) continue
    for (let at: ChartNode | undefined = node; at; at = at.parentId === null ? undefined : byId.get(at.parentId)) {
      total.set(at.id, (total.get(at.id) ?? 0) + moved)
    }
  }
  for (const node of nodes) {
    const sum = total.get(node.id) ?? 0
    node.balance = node.side === 'debit' || sum === 0 ? sum : -sum
  }
}

const treeOf = (nodes: readonly ChartNode[], filter: ChartFilter): ChartNode[] => {
  const below = new Map<string | null, ChartNode[]>()
  for (const node of nodes) below.set(node.parentId, [...(below.get(node.parentId) ?? []), node])
  const grow = (parentId: string | null): ChartNode[] =>
    (below.get(parentId) ?? []).flatMap((node) => {
      const children = grow(node.id)
      return children.length > 0 || matches(node, filter) ? [{ ...node, children }] : []
    })
  return grow(null)
}

export type BalanceFilter = {
  bookId?: string | undefined
  asOf?: string | undefined
  propertyId?: string | undefined
  accountId?: readonly string[] | undefined
  class?: AccountClass | undefined
  includeClosing?: boolean | undefined
}

type AccountBalance = { accountId: string; code: string; name: string; debit: number; credit: number; balance: number }

/** Debits, credits and balances of accounts with movement, cumulative to the end of a day: whole periods, and lines of the one that the day cuts. */
export const listBalances = async (trx: Trx, filter: BalanceFilter, scope: Condition) => {
  const book = await bookFor(trx, filter.bookId)
  if (filter.propertyId !== undefined) await knownProperty(trx, book.id, filter.propertyId)
  const { tenantId } = contextOf(trx)
  const today = await sqlOne<{ day: string }>(
    trx,
    `select coalesce(cast(? as date), cast(now() at time zone time_zone as date)) as day from book where tenant_id = ? and id = ?`,
    [filter.asOf ?? null, tenantId, book.id],
  )
  const asOf = today?.day ?? ''
  const data = await sql<AccountBalance>(
    trx,
    `select a.id as account_id, a.code, a.name, cast(sum(m.debit) as bigint) as debit, cast(sum(m.credit) as bigint) as credit,
       cast(sum(m.debit - m.credit) * case a.side when 'debit' then 1 else -1 end as bigint) as balance
     from (
       select b.account_id, b.debit, b.credit from account_balance b
       join fiscal_period p on p.tenant_id = b.tenant_id and p.id = b.period_id
       where b.tenant_id = :tenantId and b.book_id = :bookId and p.ends_on <= cast(:asOf as date)
         and (p.kind = 'regular' or cast(:includeClosing as boolean))
         and (cast(:propertyId as uuid) is null or b.property_id = :propertyId) and :balances
       union all
       select l.account_id, l.debit, l.credit from ${linesOfCutPeriod()}
     ) m join account a on a.tenant_id = :tenantId and a.id = m.account_id
     where (cast(:class as text) is null or a.class = :class) and (cast(:accountIds as uuid[]) is null or a.id = any(cast(:accountIds as uuid[])))
     group by a.id, a.code, a.name, a.side order by a.code collate "C"`,
    {
      tenantId,
      bookId: book.id,
      asOf,
      propertyId: filter.propertyId ?? null,
      includeClosing: filter.includeClosing ?? true,
      class: filter.class ?? null,
      accountIds: filter.accountId ?? null,
      balances: whereOf(scope, { propertyId: 'b.property_id' }),
      lines: whereOf(scope, { propertyId: 'l.property_id' }),
    },
  )
  return { asOf, currency: book.currency, ...(await ledgerState(trx, book.id)), data }
}
