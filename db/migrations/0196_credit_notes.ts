import type { Knex } from 'knex'

/** A document is never credited above what it was, whether that was paid or not: its notes and what was written off together are at most its total. */
export const up = async (knex: Knex) => {
  await knex.raw(`
    create function credit_note_within() returns trigger language plpgsql as $$
    begin
      if exists (select from receivable r where r.tenant_id = new.tenant_id and r.id = new.receivable_id
          and r.total - r.written_off < (select sum(n.amount) from credit_note n where n.tenant_id = r.tenant_id and n.receivable_id = r.id)) then
        raise exception 'more would be credited than the document was' using errcode = 'check_violation', constraint = 'credit_note_within';
      end if;
      return null;
    end $$`)
  await knex.raw(
    `create trigger credit_note_within after insert on credit_note for each row execute function credit_note_within()`,
  )
}
