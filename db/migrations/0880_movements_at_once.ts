import type { Knex } from 'knex'

/**
 * Movements move the balance of their account once for each statement that books them, accounts by their ids: a row that one transaction changes thousands of
 * times is found more slowly with each change, and a statement of a bank may bring thousands of movements.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`drop trigger cash_movement_into_account on cash_movement`)
  await knex.raw(`
    create or replace function cash_movement_into_account() returns trigger language plpgsql as $$
    declare
      found_account record;
    begin
      for found_account in select a.tenant_id, a.id, a.balance, a.kind, a.status, a.blind and a.kind = 'register' as hidden, d.amount, d.count
        from (select n.tenant_id, n.cash_account_id, sum(n.amount)::bigint as amount, count(*)::int as count from added n group by 1, 2) d
        join cash_account a on a.tenant_id = d.tenant_id and a.id = d.cash_account_id order by a.id for no key update of a
      loop
        if found_account.status <> 'active' then
          raise exception 'the account is archived' using errcode = 'PL072';
        end if;
        if found_account.balance + found_account.amount < 0 and found_account.kind not in ('bank', 'acquirer') then
          raise exception 'there is less in it' using errcode = 'PL070',
            detail = case when found_account.hidden then '' else cast(found_account.balance as text) end;
        end if;
        update cash_account a set balance = a.balance + found_account.amount, movement_count = a.movement_count + found_account.count
          where a.tenant_id = found_account.tenant_id and a.id = found_account.id;
      end loop;
      return null;
    end $$ set enable_seqscan = off`)
  await knex.raw(
    `create trigger cash_movement_into_account after insert on cash_movement referencing new table as added
     for each statement execute function cash_movement_into_account()`,
  )
  // Checked for each line of thousands, each by its keys alone.
  await knex.raw(`
    create or replace function statement_line_matched() returns trigger language plpgsql as $$
    declare
      of_line uuid := cast(case tg_table_name when 'statement_match' then to_jsonb(new) ->> 'line_id' else to_jsonb(new) ->> 'id' end as uuid);
      expected bigint;
      matched bigint;
    begin
      select case l.status when 'matched' then l.amount else 0 end into expected from bank_statement_line l
        where l.tenant_id = new.tenant_id and l.id = of_line;
      if not found then
        return null;
      end if;
      select coalesce(sum(m.amount), 0) into matched from statement_match m
        where m.tenant_id = new.tenant_id and m.line_id = of_line and m.undone_at is null;
      if matched <> expected then
        raise exception 'the matches of a line come to its amount' using errcode = 'PL077';
      end if;
      return null;
    end $$ set enable_seqscan = off`)
}
