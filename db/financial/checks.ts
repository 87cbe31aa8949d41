import { controls } from '../../config/financial.ts'
import { integrityCheckFailed } from '../../config/events/financial.ts'
import { contextOf, sql, sqlOne, sqlState } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { enqueue } from '../lib/enqueue.ts'
import { ledgerCheckIntegrity } from '../../jobs/financial.ts'
import { controlDifferences } from './controls.ts'
import { brokenSeals } from './seals.ts'

export type CheckResult = {
  check: string
  status: 'passed' | 'failed'
  count: number
  findings: Record<string, unknown>[]
}

/** Each answers the rows that should not be; `:tenantId` and `:bookId` are bound. Nothing is repaired by itself. */
const checks: Record<string, string> = {
  entries_balance: `
    select e.id as entry_id, e.total, coalesce(sum(l.debit), 0) as debit, coalesce(sum(l.credit), 0) as credit
    from journal_entry e left join journal_line l on l.tenant_id = e.tenant_id and l.entry_id = e.id
    where e.tenant_id = :tenantId and e.book_id = :bookId
    group by e.id, e.total having coalesce(sum(l.debit), 0) <> e.total or coalesce(sum(l.credit), 0) <> e.total`,
  balances_equal_lines: `
    select coalesce(b.account_id, l.account_id) as account_id, coalesce(b.property_id, l.property_id) as property_id,
      coalesce(b.cost_center_id, l.cost_center_id) as cost_center_id, coalesce(b.period_id, l.period_id) as period_id, b.debit, b.credit, l.debit as lines_debit, l.credit as lines_credit
    from (select * from account_balance where tenant_id = :tenantId and book_id = :bookId) b
    full join (select account_id, property_id, cost_center_id, period_id, sum(debit) as debit, sum(credit) as credit, count(*) as line_count
               from journal_line where tenant_id = :tenantId and book_id = :bookId group by 1, 2, 3, 4) l
      on b.account_id = l.account_id and coalesce(b.property_id, b.tenant_id) = coalesce(l.property_id, b.tenant_id)
        and coalesce(b.cost_center_id, b.tenant_id) = coalesce(l.cost_center_id, b.tenant_id) and b.period_id = l.period_id
    where (b.debit, b.credit, b.line_count) is distinct from (l.debit, l.credit, l.line_count)`,
  // A line counts in its period, where the day is null, and on its day.
  counterparts_equal_lines: `
    select account_id, property_id, same_property, period_id, on_day, cast(sum(debit) as bigint) as debit, cast(sum(credit) as bigint) as credit,
      cast(sum(lines_debit) as bigint) as lines_debit, cast(sum(lines_credit) as bigint) as lines_credit
    from (
      select account_id, property_id, same_property, period_id, on_day, debit, credit, 0 as lines_debit, 0 as lines_credit
      from cash_counterpart where tenant_id = :tenantId and book_id = :bookId
      union all
      select m.account_id, m.property_id, m.same_property, m.period_id, d.on_day, 0, 0, m.debit, m.credit
      from (select l.*, a.is_cash, bool_or(a.is_cash) over (partition by l.entry_id) as has_cash,
              bool_or(a.is_cash) over (partition by l.entry_id, l.property_id) as same_property
            from journal_line l
            join (select id, cash_flow is not distinct from 'cash' as is_cash from account where tenant_id = :tenantId and book_id = :bookId) a
              on a.id = l.account_id
            where l.tenant_id = :tenantId and l.book_id = :bookId) m
      cross join lateral (values (cast(null as date)), (m.posting_date)) d (on_day)
      where m.has_cash and not m.is_cash) t
    group by 1, 2, 3, 4, 5 having sum(debit) <> sum(lines_debit) or sum(credit) <> sum(lines_credit)`,
  book_sums_to_zero: `
    select sum(b.debit) as debit, sum(b.credit) as credit from account_balance b
    where b.tenant_id = :tenantId and b.book_id = :bookId having sum(b.debit) <> sum(b.credit)`,
  events_posted: `
    select e.id as posting_event_id, e.event, e.status, e.error_code from posting_event e
    where e.tenant_id = :tenantId and e.book_id = :bookId
      and (e.status = 'parked' or e.status in ('pending', 'failed') and e.created_at < now() - interval '15 minutes')`,
  reversals_equal: `
    select r.id as entry_id, r.reverses_entry_id
    from journal_entry r
    join journal_line a on a.tenant_id = r.tenant_id and a.entry_id = r.id
    full join (select o.*, x.id as reversal_id from journal_entry x
               join journal_line o on o.tenant_id = x.tenant_id and o.entry_id = x.reverses_entry_id
               where x.tenant_id = :tenantId and x.book_id = :bookId) o
      on o.reversal_id = r.id and o.line_no = a.line_no and o.account_id = a.account_id and o.debit = a.credit and o.credit = a.debit
    where r.tenant_id = :tenantId and r.book_id = :bookId and r.kind = 'reversal' and o.reversal_id is null or r.id is null`,
  day_frozen: `
    select d.property_id, d.date, (d.totals ->> 'lineSum')::bigint as frozen, coalesce(l.sum, 0) as found
    from property p
    join business_day d on d.tenant_id = p.tenant_id and d.property_id = p.id and d.status = 'closed' and d.date >= current_date - 35
    left join (select f.property_id, l.business_date, count(*) as count, sum(l.amount) as sum from folio_line l
      join folio f on f.tenant_id = l.tenant_id and f.id = l.folio_id
      where l.tenant_id = :tenantId and l.business_date >= current_date - 35 group by 1, 2) l on l.property_id = p.id and l.business_date = d.date
    where p.tenant_id = :tenantId and p.book_id = :bookId and d.totals ->> 'lineSum' is not null
      and ((d.totals ->> 'lineSum')::bigint, (d.totals ->> 'lineCount')::bigint) <> (coalesce(l.sum, 0), coalesce(l.count, 0))`,
  // Of revenue and expense the years are carried to equity one by one: a sum over two that was zero is not, once the first is closed.
  archived_zero: `
    select a.id as account_id, a.code, sum(b.debit - b.credit) as balance
    from account a join account_balance b on b.tenant_id = a.tenant_id and b.book_id = a.book_id and b.account_id = a.id
    where a.tenant_id = :tenantId and a.book_id = :bookId and a.status = 'archived' and a.class in ('asset', 'liability', 'equity')
    group by a.id, a.code having sum(b.debit - b.credit) <> 0`,
  closed_untouched: `
    select p.id as period_id, p.starts_on, p.frozen_debit, p.frozen_credit, p.frozen_lines, coalesce(l.debit, 0) as debit, coalesce(l.credit, 0) as credit,
      coalesce(l.lines, 0) as lines
    from fiscal_period p
    left join (select period_id, sum(debit) as debit, sum(credit) as credit, count(*) as lines from journal_line
      where tenant_id = :tenantId and book_id = :bookId group by 1) l on l.period_id = p.id
    where p.tenant_id = :tenantId and p.book_id = :bookId and p.status = 'closed'
      and (p.frozen_debit, p.frozen_credit, p.frozen_lines) is distinct from (coalesce(l.debit, 0), coalesce(l.credit, 0), coalesce(l.lines, 0))`,
  seals_without_gap: `
    select s.entry_id, s.year, s.number, s.position from (
      select s.*, row_number() over (partition by s.year order by s.number) as number_due, row_number() over (order by s.position) as position_due
      from journal_seal s where s.tenant_id = :tenantId and s.book_id = :bookId) s
    where s.number <> s.number_due or s.position <> s.position_due
    union all
    select e.id, y.year, null, null from fiscal_period p
    join fiscal_year y on y.tenant_id = p.tenant_id and y.id = p.fiscal_year_id
    join journal_entry e on e.tenant_id = p.tenant_id and e.book_id = p.book_id and e.period_id = p.id and e.sequence <= p.diary_done
    where p.tenant_id = :tenantId and p.book_id = :bookId and p.diary_done is not null
      and not exists (select from journal_seal s where s.tenant_id = e.tenant_id and s.entry_id = e.id)`,
}

const more = new Map<string, () => string>()

/** Adds a check of a module's records: SQL that answers the rows that should not be, with `:tenantId` and `:bookId` bound. */
export const registerCheck = (check: string, text: () => string): void => {
  more.set(check, text)
}

const mostFindings = 100

const resultOf = (check: string, rows: readonly Record<string, unknown>[]): CheckResult => ({
  check,
  status: rows.length === 0 ? 'passed' : 'failed',
  count: rows.length,
  findings: rows.slice(0, mostFindings),
})

/** The work of one check. Rows so broken that PostgreSQL refuses to read them fail their own check, and leave the others as they are. */
const read = async <T>(
  trx: Trx,
  work: () => Promise<T>,
  failed: (finding: Record<string, unknown>) => T,
): Promise<T> => {
  await sql(trx, 'savepoint integrity_check')
  try {
    const found = await work()
    await sql(trx, 'release savepoint integrity_check')
    return found
  } catch (error) {
    if (!sqlState(error)?.startsWith('22')) throw error
    await sql(trx, 'rollback to savepoint integrity_check')
    return failed({ unreadable: error instanceof Error ? error.message.slice(-200) : '' })
  }
}

/** The checks of a book's ledger (R41), each with at most 100 findings. Reads only; all of it should be read in one snapshot. */
export const checkBook = async (trx: Trx, bookId: string): Promise<CheckResult[]> => {
  const results: CheckResult[] = []
  const values = { tenantId: contextOf(trx).tenantId, bookId }
  const judge = async (check: string, work: () => Promise<Record<string, unknown>[]>) =>
    results.push(resultOf(check, await read(trx, work, (finding) => [finding])))
  for (const [check, text] of Object.entries(checks)) await judge(check, () => sql(trx, text, values))
  for (const [check, text] of more) await judge(check, () => sql(trx, text(), values))
  await judge('hash_chain', () => brokenSeals(trx, bookId))
  const kinds = await read(
    trx,
    () => controlDifferences(trx, bookId),
    (finding) => new Map(controls.map((kind) => [kind, [finding]])),
  )
  for (const [kind, rows] of kinds) results.push(resultOf(`control_${kind}`, rows))
  return results
}

/** Asks for a run of the checks. Answers its id, or that of the one under way with `isNew` false. */
export const requestIntegrityRun = async (trx: Trx, bookId: string): Promise<{ id: string; isNew: boolean }> => {
  const { tenantId } = contextOf(trx)
  const [made] = await sql<{ id: string }>(
    trx,
    `insert into integrity_run (tenant_id, book_id) values (?, ?)
     on conflict (tenant_id, book_id) where status in ('queued', 'running') do nothing returning id`,
    [tenantId, bookId],
  )
  if (made) {
    await enqueue(
      trx,
      ledgerCheckIntegrity,
      { tenantId: tenantId ?? '', integrityRunId: made.id },
      { uniqueKey: made.id },
    )
    return { id: made.id, isNew: true }
  }
  const [live] = await sql<{ id: string }>(
    trx,
    `select id from integrity_run where tenant_id = ? and book_id = ? and status in ('queued', 'running')`,
    [tenantId, bookId],
  )
  return live ? { id: live.id, isNew: false } : requestIntegrityRun(trx, bookId)
}

type InTrx = <T>(work: (trx: Trx) => Promise<T>) => Promise<T>

/**
 * Carries out a run; one that has ended is left as it is. `begin` and `end` write, `look` opens one snapshot that only reads: what other transactions write
 * meanwhile is seen by all checks, or by none.
 */
export const carryOutIntegrityRun = async (
  runId: string,
  { begin, look, end }: { begin: InTrx; look: InTrx; end: InTrx },
): Promise<void> => {
  const run = await begin(async (trx) => {
    const [found] = await sql<{ bookId: string }>(
      trx,
      `update integrity_run set status = 'running', started_at = clock_timestamp()
       where tenant_id = ? and id = ? and status in ('queued', 'running') returning book_id`,
      [contextOf(trx).tenantId, runId],
    )
    return found
  })
  if (!run) return
  const { results, snapshot } = await look(async (trx) => {
    const seen = await sqlOne<{ snapshot: string }>(trx, `select pg_current_snapshot()::text as snapshot`)
    return { results: await checkBook(trx, run.bookId), snapshot: seen?.snapshot ?? null }
  })
  const failed = results.filter((result) => result.status === 'failed')
  await end(async (trx) => {
    await sql(
      trx,
      `update integrity_run set status = ?, results = ?::jsonb, snapshot = ?, finished_at = clock_timestamp()
       where tenant_id = ? and id = ? and status = 'running'`,
      [failed.length === 0 ? 'passed' : 'failed', JSON.stringify(results), snapshot, contextOf(trx).tenantId, runId],
    )
    if (failed.length === 0) return
    await emit(trx, integrityCheckFailed, {
      propertyId: null,
      id: runId,
      version: null,
      data: { integrityRunId: runId, bookId: run.bookId, checks: failed.map(({ check }) => check) },
    })
  })
}
