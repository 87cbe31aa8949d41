import type { Knex } from 'knex'

/** A transfer names the session whose closing dropped its money; until now they were told by the instant that both share. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table cash_transfer add column closing_session_id uuid`)
  await knex.raw(`alter table cash_transfer disable trigger user`)
  await knex.raw(`update cash_transfer t set closing_session_id = s.id
    from cash_movement m join cash_session s on s.tenant_id = m.tenant_id and s.id = m.session_id
    where m.tenant_id = t.tenant_id and m.transfer_id = t.id and m.kind = 'transfer' and m.amount < 0 and m.created_at = s.closed_at`)
  await knex.raw(`alter table cash_transfer enable trigger user`)
  await knex.raw(`alter table cash_transfer add constraint cash_transfer_closing_session
    foreign key (tenant_id, closing_session_id) references cash_session (tenant_id, id)`)
  await knex.raw(`alter table cash_transfer add constraint cash_transfer_dropped
    check (closing_session_id is null or (method = 'manual' and status = 'completed'))`)
  await knex.raw(
    `create unique index cash_transfer_dropped_once on cash_transfer (tenant_id, closing_session_id) where closing_session_id is not null`,
  )
  await knex.raw(`
    create or replace function cash_transfer_wall() returns trigger language plpgsql as $$
    begin
      if (new.from_account_id, new.to_account_id, new.amount, new.currency, new.method, new.source_type, new.source_id, new.requested_by, new.closing_session_id)
        is distinct from (old.from_account_id, old.to_account_id, old.amount, old.currency, old.method, old.source_type, old.source_id, old.requested_by,
          old.closing_session_id) then
        raise exception 'what a transfer is does not change' using errcode = 'PL010';
      end if;
      if new.status <> old.status and not (case old.status
        when 'pending_approval' then new.status in ('approved', 'cancelled')
        when 'approved' then new.status in ('sending', 'cancelled')
        when 'sending' then new.status in ('completed', 'failed', 'unknown', 'approved')
        when 'unknown' then new.status in ('completed', 'failed')
        when 'in_transit' then new.status in ('completed', 'cancelled')
        when 'completed' then new.status = 'cancelled' and new.method = 'manual'
        else false end) then
        raise exception 'a transfer does not go from % to %', old.status, new.status using errcode = 'PL013';
      end if;
      return new;
    end $$`)
}
