import type { Knex } from 'knex'

/**
 * Matches raise the matched parts of movements, and those the cleared sum of their account, once for each statement: a row that one transaction changes
 * thousands of times is found more slowly with each change.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`
    create or replace function statement_match_wall() returns trigger language plpgsql as $$
    declare
      frozen boolean;
    begin
      select s.status = 'reconciled' into frozen from bank_statement_line l
        join bank_statement s on s.tenant_id = l.tenant_id and s.id = l.bank_statement_id
        where l.tenant_id = coalesce(new.tenant_id, old.tenant_id) and l.id = coalesce(new.line_id, old.line_id) for share of s;
      if frozen then
        raise exception 'the statement is reconciled' using errcode = 'PL076';
      end if;
      if tg_op = 'DELETE' then
        if old.undone_at is null then
          raise exception 'a match that stands is undone first' using errcode = 'PL073';
        end if;
        return old;
      end if;
      if tg_op = 'UPDATE' and (old.undone_at is not null or new.undone_at is null or (new.line_id, new.cash_movement_id, new.amount, new.made)
        is distinct from (old.line_id, old.cash_movement_id, old.amount, old.made)) then
        raise exception 'a match is undone once' using errcode = 'PL010';
      end if;
      return new;
    end $$`)
  await knex.raw(`
    create function statement_match_counts() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' and exists (select from changed c where not exists (
        select from bank_statement_line l join cash_movement m on m.tenant_id = l.tenant_id and m.cash_account_id = l.cash_account_id
        where l.tenant_id = c.tenant_id and l.id = c.line_id and m.id = c.cash_movement_id and sign(m.amount) = sign(c.amount)
          and m.kind not in ('reversal', 'opening'))) then
        raise exception 'the movement is none of the line' using errcode = 'PL010';
      end if;
      update cash_movement m set matched = m.matched + case tg_op when 'INSERT' then d.sum else -d.sum end
        from (select c.tenant_id, c.cash_movement_id, sum(abs(c.amount))::bigint as sum from changed c group by 1, 2) d
        where m.tenant_id = d.tenant_id and m.id = d.cash_movement_id;
      return null;
    end $$ set enable_seqscan = off`)
  for (const tense of ['insert', 'update'])
    await knex.raw(
      `create trigger statement_match_counts_${tense} after ${tense} on statement_match referencing new table as changed
       for each statement execute function statement_match_counts()`,
    )
  await knex.raw(`drop trigger cash_movement_matching on cash_movement`)
  // Sums and no join of both tables: its plan, made for one line, would serve thousands.
  await knex.raw(`
    create or replace function cash_movement_matching() returns trigger language plpgsql as $$
    begin
      if exists (select from (
          select t.tenant_id, t.id from (select n.tenant_id, n.id, n.matched from now_so n union all select w.tenant_id, w.id, -w.matched from was w) t
          group by 1, 2 having sum(t.matched) > 0) d
        where exists (select from cash_movement r where r.tenant_id = d.tenant_id and r.reverses_id = d.id)) then
        raise exception 'the movement was reversed' using errcode = 'PL073';
      end if;
      update cash_account a set cleared = a.cleared + d.sum
        from (select t.tenant_id, t.cash_account_id, sum(t.matched)::bigint as sum
          from (select n.tenant_id, n.cash_account_id, sign(n.amount) * n.matched as matched from now_so n
                union all select w.tenant_id, w.cash_account_id, -sign(w.amount) * w.matched from was w) t
          group by 1, 2 having sum(t.matched) <> 0) d
        where a.tenant_id = d.tenant_id and a.id = d.cash_account_id;
      return null;
    end $$ set enable_seqscan = off`)
  await knex.raw(
    `create trigger cash_movement_matching after update on cash_movement referencing old table as was new table as now_so
     for each statement execute function cash_movement_matching()`,
  )
}
