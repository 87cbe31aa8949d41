import type { Knex } from 'knex'
import { partsOf, wall } from './ledger-support.ts'
import { appendOnly } from './support.ts'

/**
 * The walls of the ledger: they hold for the service's role and for the owner, whatever the program above does.
 * Functions run with the owner's rights, since the service may neither write balances nor lock what it may not change.
 */
export const up = async (knex: Knex) => {
  await entryWall(knex)
  await lineWall(knex)
  await unchanging(knex)
}

/**
 * Plans of these functions are kept by the session, and may stem from an empty table: a scan of the whole would stay with them as
 * it grows. Look-ups per line are written `lateral (… offset 0)`, which keeps their order too.
 */
const byIndex = 'set enable_seqscan = off'

/** Sequence, writing transaction, date within an open period, locks of book and journal. */
const entryWall = async (knex: Knex) => {
  await wall(
    knex,
    'journal_entry_wall',
    `
    declare
      found_row record;
    begin
      new.sequence := nextval('journal_entry_sequence');
      new.created_xid := pg_current_xact_id();
      select p.kind, p.status, p.starts_on, p.ends_on, greatest(b.locked_until, j.locked_until) as locked_until
        into found_row
        from fiscal_period p
        join book b on b.tenant_id = p.tenant_id and b.id = p.book_id
        join journal j on j.tenant_id = p.tenant_id and j.book_id = p.book_id and j.id = new.journal_id
        where p.tenant_id = new.tenant_id and p.book_id = new.book_id and p.id = new.period_id
        for share of p, b, j;
      if not found then
        return new; -- the foreign keys say which one is wrong
      end if;
      if new.posting_date not between found_row.starts_on and found_row.ends_on then
        raise exception 'date % lies outside the period % to %', new.posting_date, found_row.starts_on, found_row.ends_on using errcode = 'PL002';
      end if;
      if found_row.kind = 'closing' and new.kind not in ('closing', 'reversal') or found_row.kind = 'regular' and new.kind = 'closing' then
        raise exception 'closing entries stand in the closing period, and nothing else does' using errcode = 'PL002';
      end if;
      if found_row.status = 'closed' or found_row.status = 'soft_closed' and not new.late then
        raise exception 'the period from % is %', found_row.starts_on, found_row.status using errcode = 'PL004';
      end if;
      if new.posting_date <= found_row.locked_until and not new.late then
        raise exception 'dates up to % are locked', found_row.locked_until using errcode = 'PL005';
      end if;
      return new;
    end`,
  )
  await knex.raw(
    `create trigger journal_entry_wall before insert on journal_entry for each row execute function journal_entry_wall()`,
  )

  await wall(
    knex,
    'journal_entry_has_lines',
    `
    begin
      if not exists (select from journal_line l where l.tenant_id = new.tenant_id and l.entry_id = new.id) then
        raise exception 'entry % has no lines', new.id using errcode = 'PL009';
      end if;
      return null;
    end`,
  )
  await knex.raw(`
    create constraint trigger journal_entry_has_lines after insert on journal_entry
    deferrable initially deferred for each row execute function journal_entry_has_lines()`)
}

/** One set of lines per entry, in its own transaction: whole, numbered, balanced, on accounts that may be used; then the balances. */
const lineWall = async (knex: Knex) => {
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

        insert into account_balance as b (tenant_id, book_id, account_id, property_id, period_id, debit, credit, line_count)
          select tenant, l.book_id, l.account_id, l.property_id, l.period_id, sum(l.debit), sum(l.credit), count(*)
          from lines l where l.tenant_id = tenant group by 2, 3, 4, 5 order by 3, 4, 5
          on conflict (tenant_id, book_id, account_id, property_id, period_id)
          do update set debit = b.debit + excluded.debit, credit = b.credit + excluded.credit, line_count = b.line_count + excluded.line_count;
      end loop;
      return null;
    end`,
    byIndex,
  )
  // A statement on a part fires the part's own trigger, and not that of the whole.
  for (const table of ['journal_line', ...partsOf('journal_line')]) {
    await knex.raw(`
      create trigger journal_line_wall after insert on ${table} referencing new table as lines
      for each statement execute function journal_line_wall()`)
  }
}

const unchanging = async (knex: Knex) => {
  for (const table of ['journal_entry', 'journal_line']) {
    await appendOnly(knex, table)
    for (const part of partsOf(table)) {
      await knex.raw(
        `create trigger append_only_truncate before truncate on ${part} for each statement execute function refuse_change()`,
      )
    }
  }
  // Balances are the trigger's alone: it writes one level down, a statement of anyone else at the top.
  await wall(
    knex,
    'account_balance_wall',
    `
    begin
      if tg_op = 'TRUNCATE' or pg_trigger_depth() < 2 then
        raise exception 'balances are written by the lines alone' using errcode = 'PL010';
      end if;
      return null;
    end`,
  )
  await knex.raw(`
    create trigger account_balance_wall before insert or update or delete on account_balance
    for each statement execute function account_balance_wall()`)
  await knex.raw(
    `create trigger account_balance_truncate before truncate on account_balance for each statement execute function account_balance_wall()`,
  )
}
