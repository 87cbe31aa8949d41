import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { dueTaxes } from './assessments.ts'

/** A finding before a period is closed: it blocks the closing, or should be looked at first. */
export type ChecklistItem = { code: string; blocking: boolean; passed: boolean; count: number; sample: string[] }

export type ItemDeclaration = {
  code: string
  /** A period with it is not closed; else it is a warning. */
  blocking: boolean
  /** Keeps a period from soft-closing, too. */
  early?: true
  /** Selects `id` of what stands in the way. `:tenantId`, `:bookId`, `:periodId`, `:from`, `:to` and `:on` (the last day) are bound. */
  text: string
}

export type PeriodOfBook = { id: string; bookId: string; startsOn: string; endsOn: string }

const items = new Map<string, ItemDeclaration>()

/** Adds an item to the checklist of every period. Several modules may give one code: what any of them finds counts. */
export const registerChecklist = (declared: ItemDeclaration): void => {
  const known = items.get(declared.code)
  if (known?.text.includes(declared.text)) return
  items.set(
    declared.code,
    known ? { ...known, ...declared, text: `(${known.text}) union all (${declared.text})` } : declared,
  )
}

const own: ItemDeclaration[] = [
  {
    code: 'days_open',
    blocking: true,
    early: true,
    text: `select d.id from business_day d join property p on p.tenant_id = d.tenant_id and p.id = d.property_id and p.book_id = :bookId
      where d.tenant_id = :tenantId and d.status = 'open' and d.date <= cast(:to as date)`,
  },
  {
    code: 'events_waiting',
    blocking: true,
    early: true,
    text: `select e.id from posting_event e where e.tenant_id = :tenantId and e.book_id = :bookId and e.period_id = :periodId
      and e.status in ('pending', 'failed', 'parked')`,
  },
  {
    code: 'drafts_submitted',
    blocking: true,
    text: `select d.id from entry_draft d where d.tenant_id = :tenantId and d.book_id = :bookId and d.status = 'submitted'
      and d.posting_date between cast(:from as date) and cast(:to as date)`,
  },
  {
    // The diary, whose numbers are given after the taxes of the period, beside the documents that other modules number.
    code: 'documents_numbering',
    blocking: true,
    text: `select p.id from fiscal_period p where p.tenant_id = :tenantId and p.id = :periodId and p.status <> 'open'
      and (p.taxes_due or p.diary_until is distinct from p.diary_done)`,
  },
  {
    code: 'taxes_not_assessed',
    blocking: true,
    text: `select distinct d.tax_code_id as id from (${dueTaxes}) d where d.delta <> 0`,
  },
  {
    code: 'integrity_failed',
    blocking: true,
    text: `select r.id from integrity_run r where r.tenant_id = :tenantId and r.book_id = :bookId and r.status = 'failed'
      and not exists (select from integrity_run n where n.tenant_id = r.tenant_id and n.book_id = r.book_id and n.finished_at > r.finished_at)`,
  },
  {
    // A run counts for the entries that it saw.
    code: 'integrity_stale',
    blocking: true,
    text: `with last as materialized (select cast(r.snapshot as pg_snapshot) as snapshot from integrity_run r where r.tenant_id = :tenantId
        and r.book_id = :bookId and r.finished_at is not null and r.snapshot is not null order by r.finished_at desc limit 1)
      select e.id from journal_entry e where e.tenant_id = :tenantId and e.book_id = :bookId and e.period_id = :periodId
      and not exists (select from last where pg_visible_in_snapshot(e.created_xid, last.snapshot))`,
  },
  {
    code: 'drafts_open',
    blocking: false,
    text: `select d.id from entry_draft d where d.tenant_id = :tenantId and d.book_id = :bookId and d.status = 'draft'
      and d.posting_date between cast(:from as date) and cast(:to as date)`,
  },
  {
    code: 'opening_difference',
    blocking: false,
    text: `select a.id from account a join account_balance b on b.tenant_id = a.tenant_id and b.book_id = a.book_id and b.account_id = a.id
      where a.tenant_id = :tenantId and a.book_id = :bookId and a.role = 'opening_difference' group by a.id having sum(b.debit) <> sum(b.credit)`,
  },
  {
    // A tax inside the price of a house, and taken again from the revenue of the period.
    code: 'tax_twice',
    blocking: false,
    text: `select t.id from tax_rule t join property p on p.tenant_id = t.tenant_id and p.id = t.property_id and p.book_id = :bookId
      join tax_code c on c.tenant_id = t.tenant_id and c.book_id = p.book_id and c.kind = 'period' and c.active and upper(c.code) = upper(t.code)
      where t.tenant_id = :tenantId and t.included and t.valid_from <= cast(:to as date) and (t.valid_to is null or t.valid_to >= cast(:from as date))`,
  },
]
for (const item of own) registerChecklist(item)

const samples = 10

/** The items of a period with numbers, and ten ids of each; with `early`, those alone that keep it from soft-closing. */
export const checklistOf = async (
  trx: Trx,
  { id, bookId, startsOn, endsOn }: PeriodOfBook,
  { early = false } = {},
): Promise<ChecklistItem[]> => {
  const values = {
    tenantId: contextOf(trx).tenantId,
    bookId,
    periodId: id,
    from: startsOn,
    to: endsOn,
    on: endsOn,
    taxCodeIds: null,
  }
  return Promise.all(
    [...items.values()]
      .filter((item) => !early || item.early)
      .map(async ({ code, blocking, text }): Promise<ChecklistItem> => {
        const found = await sqlOne<{ count: number; sample: string[] }>(
          trx,
          `with found as (${text}) select (select count(*) from found) as count, array(select id from found order by id limit ${samples}) as sample`,
          values,
        )
        return { code, blocking, passed: found?.count === 0, count: found?.count ?? 0, sample: found?.sample ?? [] }
      }),
  )
}
