import type { Knex } from 'knex'
import { wall } from './ledger-support.ts'

const byIndex = 'set enable_seqscan = off'

/** Tables for closing: acts of closing and reopening a year, the entries of a period's diary, its frozen sums, and the walls of years. */
export const up = async (knex: Knex) => {
  await knex.raw(`
    alter table fiscal_period
      add column taxes_due boolean not null default false,
      add column diary_until bigint,
      add column diary_done bigint,
      add column frozen_debit bigint,
      add column frozen_credit bigint,
      add column frozen_lines bigint,
      add constraint fiscal_period_frozen check ((frozen_debit is null) = (frozen_credit is null) and (frozen_debit is null) = (frozen_lines is null))`)
  await knex.raw(`
    alter table fiscal_year
      add column closed_by uuid,
      add column reopened_by uuid,
      add column self_approved boolean not null default false,
      add constraint fiscal_year_other_person check (reopened_by is null or reopened_by is distinct from closed_by or self_approved)`)
  await knex.raw(`alter table integrity_run add column snapshot text`)
  await knex.raw(
    `create index journal_entry_reverse_on on journal_entry (tenant_id, book_id, reverse_on) where reverse_on is not null`,
  )
  await knex.raw(
    `create index journal_entry_period on journal_entry (tenant_id, book_id, period_id, posting_date, sequence)`,
  )
  await seals(knex)
  await years(knex)
  await periods(knex)
  await lines(knex)
}

/** The place of a seal in the chain of its book: an entry that comes late is numbered in its own year, behind seals of the next. */
const seals = async (knex: Knex) => {
  await knex.raw(`alter table journal_seal add column position bigint`)
  await knex.raw(`alter table journal_seal disable trigger append_only`)
  await knex.raw(`
    update journal_seal s set position = o.position
    from (select tenant_id, entry_id, row_number() over (partition by tenant_id, book_id order by year, number) as position from journal_seal) o
    where o.tenant_id = s.tenant_id and o.entry_id = s.entry_id`)
  await knex.raw(`alter table journal_seal enable trigger append_only`)
  await knex.raw(`
    alter table journal_seal alter column position set not null,
      add constraint journal_seal_position check (position >= 1),
      add constraint journal_seal_position_key unique (tenant_id, book_id, position)`)
  await wall(
    knex,
    'journal_seal_wall',
    `
    declare
      last_seal record;
      last_number bigint;
    begin
      select s.position, s.hash into last_seal from journal_seal s
        where s.tenant_id = new.tenant_id and s.book_id = new.book_id order by s.position desc limit 1;
      select max(s.number) into last_number from journal_seal s
        where s.tenant_id = new.tenant_id and s.book_id = new.book_id and s.year = new.year;
      if new.position <> coalesce(last_seal.position, 0) + 1 or new.number <> coalesce(last_number, 0) + 1
        or new.previous_hash <> coalesce(last_seal.hash, decode(repeat('00', 32), 'hex')) then
        raise exception 'a seal follows the last one of its book' using errcode = 'PL010';
      end if;
      return new;
    end`,
    byIndex,
  )
  await knex.raw(
    `create trigger journal_seal_wall before insert on journal_seal for each row execute function journal_seal_wall()`,
  )
}

/** Moves of periods and years of a book take turns, since each looks at the others. */
const turn = `perform pg_advisory_xact_lock(hashtextextended(new.book_id::text, 35));`

const years = async (knex: Knex) => {
  await wall(
    knex,
    'fiscal_year_wall',
    `
    begin
      if new.tenant_id <> old.tenant_id or new.book_id <> old.book_id or new.year <> old.year
        or new.starts_on <> old.starts_on or new.ends_on <> old.ends_on then
        raise exception 'a year keeps its place' using errcode = 'PL010';
      end if;
      if new.status = old.status then
        return new;
      end if;
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'years move under READ COMMITTED only' using errcode = 'PL013';
      end if;
      ${turn}
      if (old.status, new.status) not in (('open', 'closing'), ('closing', 'closed'), ('closed', 'open')) then
        raise exception 'a year does not go from % to %', old.status, new.status using errcode = 'PL013';
      end if;
      if old.status = 'open' and (exists (
          select from fiscal_period p where p.tenant_id = new.tenant_id and p.fiscal_year_id = new.id and p.kind = 'regular' and p.status <> 'closed')
        or exists (
          select from fiscal_year y where y.tenant_id = new.tenant_id and y.book_id = new.book_id and y.starts_on < new.starts_on and y.status <> 'closed'))
      then
        raise exception 'the months of the year and the years before it close first' using errcode = 'PL014';
      end if;
      if old.status = 'closed' and exists (
          select from fiscal_year y where y.tenant_id = new.tenant_id and y.book_id = new.book_id and y.starts_on > new.starts_on and y.status <> 'open') then
        raise exception 'later years reopen first' using errcode = 'PL014';
      end if;
      return new;
    end`,
  )
  await knex.raw(
    `create trigger fiscal_year_wall before update on fiscal_year for each row execute function fiscal_year_wall()`,
  )
}

const periods = (knex: Knex) =>
  wall(
    knex,
    'fiscal_period_wall',
    `
    begin
      if new.tenant_id <> old.tenant_id or new.book_id <> old.book_id or new.fiscal_year_id <> old.fiscal_year_id or new.number <> old.number
        or new.starts_on <> old.starts_on or new.ends_on <> old.ends_on then
        raise exception 'a period keeps its place' using errcode = 'PL010';
      end if;
      if new.status = old.status then
        return new;
      end if;
      if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'periods move under READ COMMITTED only' using errcode = 'PL013';
      end if;
      ${turn}
      if old.kind = 'regular' and (old.status, new.status) not in
          (('open', 'soft_closed'), ('soft_closed', 'closed'), ('closed', 'soft_closed'), ('soft_closed', 'open')) then
        raise exception 'a period does not go from % to %', old.status, new.status using errcode = 'PL013';
      end if;
      if old.kind = 'closing' then
        if new.status <> 'open' and exists (
            select from fiscal_period p where p.tenant_id = new.tenant_id and p.fiscal_year_id = new.fiscal_year_id
              and p.kind = 'regular' and p.status <> 'closed') then
          raise exception 'the months of the year close first' using errcode = 'PL014';
        end if;
        if old.status = 'closed' and exists (
            select from fiscal_year y where y.tenant_id = new.tenant_id and y.id = new.fiscal_year_id and y.status = 'closed') then
          raise exception 'the year reopens first' using errcode = 'PL014';
        end if;
        return new;
      end if;
      if exists (select from fiscal_year y where y.tenant_id = new.tenant_id and y.id = new.fiscal_year_id and y.status <> 'open') then
        raise exception 'the year reopens first' using errcode = 'PL014';
      end if;
      if new.status = 'soft_closed' and old.status = 'open' and exists (
          select from fiscal_period p where p.tenant_id = new.tenant_id and p.book_id = new.book_id and p.kind = 'regular'
            and p.starts_on < new.starts_on and p.status = 'open')
        or new.status = 'closed' and exists (
          select from fiscal_period p where p.tenant_id = new.tenant_id and p.book_id = new.book_id and p.kind = 'regular'
            and p.starts_on < new.starts_on and p.status <> 'closed') then
        raise exception 'earlier periods close first' using errcode = 'PL014';
      end if;
      if old.status = 'closed' and exists (
          select from fiscal_period p where p.tenant_id = new.tenant_id and p.book_id = new.book_id and p.kind = 'regular'
            and p.starts_on > new.starts_on and p.status = 'closed')
        or new.status = 'open' and exists (
          select from fiscal_period p where p.tenant_id = new.tenant_id and p.book_id = new.book_id and p.kind = 'regular'
            and p.starts_on > new.starts_on and p.status <> 'open') then
        raise exception 'later periods reopen first' using errcode = 'PL014';
      end if;
      if old.status = 'open' and exists (
          select from posting_event e where e.tenant_id = new.tenant_id and e.book_id = new.book_id and e.period_id = new.id
            and e.status in ('pending', 'failed', 'parked')) then
        raise exception 'events of the period are waiting to be posted' using errcode = 'PL015';
      end if;
      return new;
    end`,
  )

/** The function of 0075, but for archived accounts: a closing entry takes the year's movement off one that was archived since. */
const lines = (knex: Knex) =>
  wall(
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
      end loop;
      return null;
    end`,
    byIndex,
  )
