import type { Knex } from 'knex'
import { wall } from './ledger-support.ts'
import { tenantTable, touch } from './support.ts'

const byIndex = 'set enable_seqscan = off'

/** Work of persons in the ledger: balances by cost centre, locks of journals for events too, drafts, reversals on a later day, exchange rates. */
export const up = async (knex: Knex) => {
  await balancesByCostCenter(knex)
  await locksOfJournals(knex)
  await persons(knex)
  await drafts(knex)
  await exchangeRates(knex)
}

const balancesByCostCenter = async (knex: Knex) => {
  await knex.raw(`alter table account_balance add column cost_center_id uuid`)
  await knex.raw(`
    alter table account_balance drop constraint account_balance_key,
      add constraint account_balance_key unique nulls not distinct (tenant_id, book_id, account_id, property_id, cost_center_id, period_id),
      add constraint account_balance_cost_center foreign key (tenant_id, book_id, cost_center_id) references cost_center (tenant_id, book_id, id)`)
  await knex.raw(
    `create index account_balance_cost_center on account_balance (tenant_id, book_id, cost_center_id) where cost_center_id is not null`,
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
                  bool_or(e.kind <> 'reversal') as is_new
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
      end loop;
      return null;
    end`,
    byIndex,
  )
  // Lines that carried a cost centre before: their movement goes to a balance of its own.
  await knex.raw(`alter table account_balance disable trigger account_balance_wall`)
  const old = `select l.tenant_id, l.book_id, l.account_id, l.property_id, l.cost_center_id, l.period_id, sum(l.debit) as debit, sum(l.credit) as credit,
      count(*) as line_count from journal_line l where l.cost_center_id is not null group by 1, 2, 3, 4, 5, 6`
  await knex.raw(`
    update account_balance b set debit = b.debit - o.debit, credit = b.credit - o.credit, line_count = b.line_count - o.line_count
    from (select tenant_id, book_id, account_id, property_id, period_id, sum(debit) as debit, sum(credit) as credit, sum(line_count) as line_count
          from (${old}) e group by 1, 2, 3, 4, 5) o
    where b.tenant_id = o.tenant_id and b.book_id = o.book_id and b.account_id = o.account_id and b.property_id is not distinct from o.property_id
      and b.period_id = o.period_id and b.cost_center_id is null`)
  await knex.raw(`
    insert into account_balance (tenant_id, book_id, account_id, property_id, cost_center_id, period_id, debit, credit, line_count) ${old}`)
  await knex.raw(`alter table account_balance enable trigger account_balance_wall`)
}

/** An event obeys the locks of all journals of its kind, so that what was raised can always be posted. */
const locksOfJournals = async (knex: Knex) => {
  await knex.raw(`alter table posting_event add column journal_kind text`)
  await wall(
    knex,
    'posting_event_wall',
    `
    declare
      day date;
      journals_until date;
      found_row record;
    begin
      new.seq := nextval('posting_event_seq');
      new.status := 'pending';
      new.attempts := 0;
      new.entry_id := null;
      if new.dated = 'day' and new.property_id is not null then
        select d.date into day from business_day d
          where d.tenant_id = new.tenant_id and d.property_id = new.property_id and d.status = 'open' for share;
        if not found then -- a roll may have committed while we waited: the next statement sees its day
          select d.date into day from business_day d
            where d.tenant_id = new.tenant_id and d.property_id = new.property_id and d.status = 'open' for share;
        end if;
        if day is null and exists (select from business_day d where d.tenant_id = new.tenant_id and d.property_id = new.property_id)
          or day <> new.posting_date then
          raise exception 'the business day is %, not %', coalesce(day::text, 'none'), new.posting_date using errcode = 'PL012';
        end if;
      end if;
      select p.id, p.status, p.starts_on, b.locked_until into found_row
        from fiscal_period p
        join book b on b.tenant_id = p.tenant_id and b.id = p.book_id
        where p.tenant_id = new.tenant_id and p.book_id = new.book_id and p.kind = 'regular'
          and new.posting_date between p.starts_on and p.ends_on
        for share of p, b;
      if not found then
        raise exception 'no period holds %', new.posting_date using errcode = 'PL002';
      end if;
      if found_row.status <> 'open' then
        raise exception 'the period from % is %', found_row.starts_on, found_row.status using errcode = 'PL004';
      end if;
      -- Journals after their book, as a change of locks takes them.
      select max(locked.locked_until) into journals_until
        from (select j.locked_until from journal j
          where j.tenant_id = new.tenant_id and j.book_id = new.book_id and j.kind = new.journal_kind for share) locked;
      if new.posting_date <= greatest(found_row.locked_until, journals_until) then
        raise exception 'dates up to % are locked', greatest(found_row.locked_until, journals_until) using errcode = 'PL005';
      end if;
      new.period_id := found_row.id;
      return new;
    end`,
  )
  await wall(
    knex,
    'posting_event_kept',
    `
    begin
      if tg_op = 'DELETE' or old.status in ('posted', 'dismissed')
        or (new.tenant_id, new.id, new.seq, new.book_id, new.property_id, new.event, new.source_id, new.source_seq, new.dated, new.posting_date,
            new.period_id, new.reverses_event_id, new.payload, new.created_at, new.journal_kind)
          is distinct from
          (old.tenant_id, old.id, old.seq, old.book_id, old.property_id, old.event, old.source_id, old.source_seq, old.dated, old.posting_date,
            old.period_id, old.reverses_event_id, old.payload, old.created_at, old.journal_kind)
      then
        raise exception 'a posting event does not change' using errcode = 'PL010';
      end if;
      return new;
    end`,
  )
}

const persons = async (knex: Knex) => {
  await knex.raw(`alter table journal_entry add column reverse_on date`)
  await knex.raw(`
    alter table journal_entry add constraint journal_entry_reverse_on
      check (reverse_on is null or reverse_on > posting_date and reverse_on <= posting_date + 366 and kind <> 'reversal')`)
  await knex.raw(`
    alter table fiscal_period add column self_approved boolean not null default false,
      add constraint fiscal_period_other_person check (reopened_by is null or reopened_by is distinct from closed_by or self_approved)`)
}

const drafts = async (knex: Knex) => {
  await tenantTable(
    knex,
    'entry_draft',
    `book_id uuid not null,
     journal_id uuid,
     kind text not null default 'standard',
     posting_date date not null,
     description text not null,
     reverse_on date,
     lines jsonb not null default '[]',
     total bigint not null default 0,
     difference bigint not null default 0,
     late boolean not null default false,
     status text not null default 'draft',
     created_by uuid not null,
     submitted_at timestamptz,
     decided_by uuid,
     self_approved boolean not null default false,
     rejection text,
     note text,
     entry_id uuid,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint entry_draft_status check (status in ('draft', 'submitted', 'posted')),
     constraint entry_draft_kind check (kind in ('standard', 'opening')),
     constraint entry_draft_description check (length(description) between 1 and 300),
     constraint entry_draft_words check (length(rejection) between 1 and 500 and length(note) <= 500),
     constraint entry_draft_lines check (jsonb_typeof(lines) = 'array' and jsonb_array_length(lines) <= 500),
     constraint entry_draft_posted check ((status = 'posted') = (entry_id is not null)),
     constraint entry_draft_submitted check ((status = 'draft') = (submitted_at is null)),
     constraint entry_draft_other_person check (status <> 'posted' or decided_by is distinct from created_by or self_approved),
     constraint entry_draft_book foreign key (tenant_id, book_id) references book (tenant_id, id),
     constraint entry_draft_journal foreign key (tenant_id, book_id, journal_id) references journal (tenant_id, book_id, id),
     constraint entry_draft_entry foreign key (tenant_id, entry_id) references journal_entry (tenant_id, id)`,
  )
  await knex.raw(`create index entry_draft_book on entry_draft (tenant_id, book_id, created_at)`)
  await knex.raw(`create index entry_draft_journal on entry_draft (tenant_id, book_id, journal_id)`)
  await knex.raw(`create index entry_draft_entry on entry_draft (tenant_id, entry_id)`)
  await touch(knex, 'entry_draft')
}

const exchangeRates = async (knex: Knex) => {
  await tenantTable(
    knex,
    'exchange_rate',
    `from_currency text not null,
     to_currency text not null,
     date date not null,
     rate numeric(20, 10) not null,
     used_at timestamptz,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint exchange_rate_currencies check (from_currency ~ '^[A-Z]{3}$' and to_currency ~ '^[A-Z]{3}$' and from_currency <> to_currency),
     constraint exchange_rate_rate check (rate > 0),
     constraint exchange_rate_key unique (tenant_id, from_currency, to_currency, date)`,
  )
  await touch(knex, 'exchange_rate')
}
