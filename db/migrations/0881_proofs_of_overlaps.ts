import type { Knex } from 'knex'

/**
 * A proof freezes all lines that it counted, whichever statement brought them: files overlap, and a line belongs to the first. One that came after the proof may be
 * matched and opened again.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`
    create or replace function bank_statement_line_wall() returns trigger language plpgsql as $$
    begin
      perform from bank_statement s where s.tenant_id = old.tenant_id and s.id = old.bank_statement_id and s.status = 'reconciled' for share;
      if found then
        raise exception 'the statement is reconciled' using errcode = 'PL076';
      end if;
      if tg_op = 'DELETE' then
        if old.status <> 'unmatched' then
          raise exception 'a line in use stays' using errcode = 'PL073';
        end if;
        return old;
      end if;
      if (new.bank_statement_id, new.cash_account_id, new.fingerprint_hash, new.occurrence, new.booked_on, new.amount, new.external_id, new.document_number,
          new.text, new.end_to_end_id) is distinct from (old.bank_statement_id, old.cash_account_id, old.fingerprint_hash, old.occurrence, old.booked_on,
          old.amount, old.external_id, old.document_number, old.text, old.end_to_end_id) then
        raise exception 'what a bank has said does not change' using errcode = 'PL010';
      end if;
      if new.status <> old.status and 'unmatched' not in (new.status, old.status) then
        raise exception 'a line does not go from % to %', old.status, new.status using errcode = 'PL013';
      end if;
      if new.status = 'unmatched' and old.status <> 'unmatched' then
        perform from bank_statement s where s.tenant_id = old.tenant_id and s.cash_account_id = old.cash_account_id and s.status = 'reconciled'
          and s.last_on >= old.booked_on and s.reconciled_at >= old.created_at for share;
        if found then
          raise exception 'a reconciled statement counts the line' using errcode = 'PL076';
        end if;
      end if;
      return new;
    end $$`)
}
