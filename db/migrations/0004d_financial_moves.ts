import type { Knex } from 'knex'
import { partsOf, wall } from './ledger-support.ts'

/** The walls around the ledger's front door: which events may be raised, and how periods and accounts open and close. */
export const up = async (knex: Knex) => {
  await eventWall(knex)
  await periodWall(knex)
  await accountWall(knex)
}

/** An event stands on the open business day of its property, in an open period that no lock covers. */
const eventWall = async (knex: Knex) => {
  await wall(
    knex,
    'posting_event_wall',
    `
    declare
      day date;
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
      if new.posting_date <= found_row.locked_until then
        raise exception 'dates up to % are locked', found_row.locked_until using errcode = 'PL005';
      end if;
      new.period_id := found_row.id;
      return new;
    end`,
  )
  await knex.raw(
    `create trigger posting_event_wall before insert on posting_event for each row execute function posting_event_wall()`,
  )
  // An event stays as it was raised. A posted or dismissed event does not change at all.
  await wall(
    knex,
    'posting_event_kept',
    `
    begin
      if tg_op = 'DELETE' or old.status in ('posted', 'dismissed')
        or (new.tenant_id, new.id, new.seq, new.book_id, new.property_id, new.event, new.source_id, new.source_seq, new.dated, new.posting_date,
            new.period_id, new.reverses_event_id, new.payload, new.created_at)
          is distinct from
          (old.tenant_id, old.id, old.seq, old.book_id, old.property_id, old.event, old.source_id, old.source_seq, old.dated, old.posting_date,
            old.period_id, old.reverses_event_id, old.payload, old.created_at)
      then
        raise exception 'a posting event does not change' using errcode = 'PL010';
      end if;
      return new;
    end`,
  )
  await knex.raw(
    `create trigger posting_event_kept before update or delete on posting_event for each row execute function posting_event_kept()`,
  )
  for (const table of ['posting_event', ...partsOf('posting_event')]) {
    await knex.raw(
      `create trigger append_only_truncate before truncate on ${table} for each statement execute function refuse_change()`,
    )
  }
}

/**
 * Periods move one step at a time, close in order and reopen in reverse, and none closes over waiting events. The row is locked
 * before this runs, and whoever raises or posts holds it FOR SHARE: under READ COMMITTED each sees what the other did. A
 * snapshot taken earlier would not show them, so other isolation levels are refused here.
 */
const periodWall = async (knex: Knex) => {
  await wall(
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
        return new;
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
  await knex.raw(
    `create trigger fiscal_period_wall before update on fiscal_period for each row execute function fiscal_period_wall()`,
  )
}

/**
 * An account is archived at balance 0, and after the lines in flight, which hold its row by their foreign key. A snapshot of
 * before would not show their balance, so other isolation levels are refused.
 */
const accountWall = async (knex: Knex) => {
  await wall(
    knex,
    'account_wall',
    `
    declare
      balance numeric;
    begin
      if new.status = 'archived' and old.status = 'active' then
        if current_setting('transaction_isolation') <> 'read committed' then
          raise exception 'accounts are archived under READ COMMITTED only' using errcode = 'PL013';
        end if;
        perform 1 from account a where a.tenant_id = old.tenant_id and a.id = old.id for update;
        select coalesce(sum(b.debit - b.credit), 0) into balance
          from account_balance b where b.tenant_id = old.tenant_id and b.book_id = old.book_id and b.account_id = old.id;
        if balance <> 0 then
          raise exception 'account % has a balance', old.code using errcode = 'PL016';
        end if;
      end if;
      return new;
    end`,
  )
  await knex.raw(`create trigger account_wall before update on account for each row execute function account_wall()`)
}
