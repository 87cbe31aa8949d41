import type { Knex } from 'knex'
import { wall } from './ledger-support.ts'
import { tenantTable } from './support.ts'

const byIndex = 'set enable_seqscan = off'
const key = `tenant_id, book_id, period_id, on_day, account_id, property_id, same_property`

/**
 * Totals of the lines that stand against cash, by period and by day, kept by the trigger on lines as the balances are. A cash flow by the direct method adds
 * them up instead of reading entries.
 */
export const up = async (knex: Knex) => {
  // Entries that are being posted end first: from here on each is counted by the fill or by the new trigger, and by one alone.
  await knex.raw(`lock table journal_line in share row exclusive mode`)
  await tenantTable(
    knex,
    'cash_counterpart',
    `book_id uuid not null,
     period_id uuid not null,
     on_day date,
     account_id uuid not null,
     property_id uuid,
     same_property boolean not null,
     debit bigint not null default 0,
     credit bigint not null default 0,
     constraint cash_counterpart_range check (debit between 0 and 9007199254740991 and credit between 0 and 9007199254740991),
     constraint cash_counterpart_key unique nulls not distinct (${key}),
     constraint cash_counterpart_account foreign key (tenant_id, book_id, account_id) references account (tenant_id, book_id, id),
     constraint cash_counterpart_period foreign key (tenant_id, book_id, period_id) references fiscal_period (tenant_id, book_id, id),
     constraint cash_counterpart_property foreign key (tenant_id, property_id, book_id) references property (tenant_id, id, book_id)`,
    { grant: 'select' },
  )
  await knex.raw(`alter table cash_counterpart set (fillfactor = 60)`)
  await knex.raw(`create index cash_counterpart_account on cash_counterpart (tenant_id, book_id, account_id)`)
  await knex.raw(`create index cash_counterpart_property on cash_counterpart (tenant_id, book_id, property_id)`)
  await fill(knex)
  await kept(knex)
}

/**
 * The totals of `rows`, lines of whole entries with `is_cash`. Each counts in its period, where the day is null, and on its day; `same_property` says
 * whether its entry has cash of its own house. Windows and no join: a plan made for one entry serves thousands.
 */
const totalsOf = (rows: string) => `
  select m.tenant_id, m.book_id, m.period_id, d.on_day, m.account_id, m.property_id, m.same_property, sum(m.debit), sum(m.credit)
  from (select r.*, bool_or(r.is_cash) over (partition by r.tenant_id, r.entry_id) as has_cash,
          bool_or(r.is_cash) over (partition by r.tenant_id, r.entry_id, r.property_id) as same_property
        from ${rows} r) m
  cross join lateral (values (cast(null as date)), (m.posting_date)) d (on_day)
  where m.has_cash and not m.is_cash group by 1, 2, 3, 4, 5, 6, 7`

const fill = (knex: Knex) =>
  knex.raw(`
    with marked as (
      select l.*, a.cash_flow is not distinct from 'cash' as is_cash
      from journal_line l join account a on a.tenant_id = l.tenant_id and a.book_id = l.book_id and a.id = l.account_id)
    insert into cash_counterpart (${key}, debit, credit) ${totalsOf('marked')}`)

const kept = async (knex: Knex) => {
  await knex.raw(`
    create trigger cash_counterpart_wall before insert or update or delete on cash_counterpart
    for each statement when (not purging()) execute function account_balance_wall()`)
  await knex.raw(
    `create trigger cash_counterpart_truncate before truncate on cash_counterpart for each statement execute function account_balance_wall()`,
  )
  await wall(
    knex,
    'journal_line_wall',
    `
    declare
      tenant uuid;
      wrong record;
    begin
      -- One tenant at a time, so that one part of each table is read.
      for tenant in select distinct l.tenant_id from lines l order by 1 loop
        select s.entry_id, s.n, s.first, s.last, s.debit, s.credit, e.total, e.created_xid into wrong
          from (select l.entry_id, count(*) as n, min(l.line_no) as first, max(l.line_no) as last, sum(l.debit) as debit, sum(l.credit) as credit
                from lines l where l.tenant_id = tenant group by l.entry_id) s
          cross join lateral (select x.total, x.created_xid from journal_entry x where x.tenant_id = tenant and x.id = s.entry_id offset 0) e
          where e.created_xid <> pg_current_xact_id()
            or s.n < 2 or s.first <> 1 or s.last <> s.n or s.debit <> s.credit or s.debit <> e.total
          limit 1;
        if found then
          if wrong.created_xid <> pg_current_xact_id() then
            raise exception 'entry % was written by an earlier transaction', wrong.entry_id using errcode = 'PL006';
          end if;
          raise exception 'entry % does not balance: debit %, credit %, total %, % lines from % to %',
            wrong.entry_id, wrong.debit, wrong.credit, wrong.total, wrong.n, wrong.first, wrong.last using errcode = 'PL007';
        end if;

        select a.code, a.postable, a.status, a.control into wrong
          from (select l.book_id, l.account_id, bool_or(l.document_id is null or e.source_type like 'financial.%') as is_loose,
                  bool_or(e.kind not in ('reversal', 'closing')) as is_new
                from lines l
                cross join lateral (select x.kind, x.source_type from journal_entry x where x.tenant_id = tenant and x.id = l.entry_id offset 0) e
                where l.tenant_id = tenant group by l.book_id, l.account_id) u
          cross join lateral (select x.* from account x where x.tenant_id = tenant and x.book_id = u.book_id and x.id = u.account_id offset 0) a
          where not a.postable or a.status = 'archived' and u.is_new or a.control is not null and u.is_loose
          limit 1;
        if found then
          raise exception 'account % takes no such line (%)', wrong.code,
            case when not wrong.postable then 'it is a group'
                 when wrong.control is null then 'it is archived'
                 else 'control accounts are posted by events, with a document' end
            using errcode = 'PL008';
        end if;

        insert into account_balance as b (tenant_id, book_id, account_id, property_id, cost_center_id, period_id, debit, credit, line_count)
          select tenant, l.book_id, l.account_id, l.property_id, l.cost_center_id, l.period_id, sum(l.debit), sum(l.credit), count(*)
          from lines l where l.tenant_id = tenant group by 2, 3, 4, 5, 6 order by 3, 4, 5, 6
          on conflict (tenant_id, book_id, account_id, property_id, cost_center_id, period_id)
          do update set debit = b.debit + excluded.debit, credit = b.credit + excluded.credit, line_count = b.line_count + excluded.line_count;

        with cash as materialized (
          select u.account_id from (select distinct l.book_id, l.account_id from lines l where l.tenant_id = tenant) u
          cross join lateral (select x.cash_flow from account x where x.tenant_id = tenant and x.book_id = u.book_id and x.id = u.account_id offset 0) a
          where a.cash_flow = 'cash'),
        marked as materialized (
          select l.*, l.account_id in (select account_id from cash) as is_cash
          from lines l where l.tenant_id = tenant and exists (select from cash))
        insert into cash_counterpart as k (${key}, debit, credit) ${totalsOf('marked')}
          order by 3, 5, 6, 7, 4 nulls first
          on conflict (${key})
          do update set debit = k.debit + excluded.debit, credit = k.credit + excluded.credit;
      end loop;
      return null;
    end`,
    byIndex,
  )
}
