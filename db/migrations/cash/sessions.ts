import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from '../support.ts'

/** Sessions of registers, and what was counted in them. */
export const sessions = async (knex: Knex) => {
  await tenantTable(
    knex,
    'cash_session',
    `register_id uuid not null,
     property_id uuid not null,
     currency text not null,
     cashier_id uuid not null,
     status text not null default 'open',
     opened_at timestamptz not null default now(),
     closed_at timestamptz,
     business_date date not null,
     blind boolean not null default true,
     opening bigint not null,
     opening_difference bigint not null default 0,
     expected bigint not null default 0,
     counted bigint,
     difference bigint generated always as (counted - expected) stored,
     declared jsonb not null default '{}',
     closed_by uuid,
     approved_by uuid,
     approved_at timestamptz,
     self_approved boolean not null default false,
     note text,
     z_number int,
     opened_xid xid8 not null default pg_current_xact_id(),
     closed_xid xid8,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint cash_session_status check (status in ('open', 'in_review', 'closed')),
     constraint cash_session_ended check ((status = 'open') = (closed_at is null) and (status = 'open') = (counted is null)
       and (status = 'open') = (z_number is null) and (status = 'open') = (closed_by is null) and (status = 'open') = (closed_xid is null)),
     constraint cash_not_expected_negative check (expected >= 0 and opening >= 0 and counted >= 0),
     constraint cash_session_approved check ((approved_by is null) = (approved_at is null) and (approved_by is null or status = 'closed')
       and (approved_by is null or (approved_by is distinct from cashier_id and approved_by is distinct from closed_by) or self_approved)),
     constraint cash_session_note check (length(note) <= 500),
     constraint cash_session_declared check (jsonb_typeof(declared) = 'object'),
     constraint cash_session_z unique (tenant_id, register_id, z_number),
     constraint cash_session_register_key unique (tenant_id, register_id, id),
     foreign key (tenant_id, register_id, currency) references cash_account (tenant_id, id, currency),
     foreign key (tenant_id, property_id, register_id) references cash_account (tenant_id, property_id, id)`,
    { grant: 'select, insert, update' },
  )
  await touch(knex, 'cash_session')
  await knex.raw(
    `create unique index cash_session_register_open on cash_session (tenant_id, register_id) where status = 'open'`,
  )
  await knex.raw(
    `create unique index cash_session_cashier_open on cash_session (tenant_id, cashier_id) where status = 'open'`,
  )
  await knex.raw(
    `create index cash_session_of_property on cash_session (tenant_id, property_id, register_id, opened_at)`,
  )
  await knex.raw(`create index cash_session_of_register on cash_session (tenant_id, register_id, currency)`)
  await knex.raw(`create index cash_session_of_cashier on cash_session (tenant_id, cashier_id, opened_at)`)
  await knex.raw(`
    create function cash_session_wall() returns trigger language plpgsql as $$
    declare
      register record;
    begin
      if tg_op = 'INSERT' then
        -- Waits for a command that archives the register, or still books on it, and reads what it left.
        select a.balance, a.blind into register from cash_account a
          where a.tenant_id = new.tenant_id and a.id = new.register_id and a.status = 'active' and a.kind = 'register' for no key update;
        if not found then
          raise exception 'the register is archived' using errcode = 'PL072';
        end if;
        new.opening_difference := new.opening - register.balance;
        new.expected := new.opening;
        new.blind := register.blind;
        return new;
      end if;
      if (new.register_id, new.property_id, new.cashier_id, new.opened_at, new.opening, new.opening_difference, new.blind, new.opened_xid)
        is distinct from (old.register_id, old.property_id, old.cashier_id, old.opened_at, old.opening, old.opening_difference, old.blind, old.opened_xid)
        or (old.status <> 'open' and (new.expected, new.counted, new.declared, new.closed_at, new.closed_by, new.z_number, new.closed_xid)
          is distinct from (old.expected, old.counted, old.declared, old.closed_at, old.closed_by, old.z_number, old.closed_xid)) then
        raise exception 'what was counted stays' using errcode = 'PL010';
      end if;
      if new.status <> old.status and not (old.status = 'open' or (old.status = 'in_review' and new.status = 'closed')) then
        raise exception 'a session does not go from % to %', old.status, new.status using errcode = 'PL013';
      end if;
      if new.expected <> old.expected and pg_trigger_depth() < 2 then
        raise exception 'the expected sum follows the movements' using errcode = 'PL010';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger cash_session_wall before insert or update on cash_session for each row execute function cash_session_wall()`,
  )

  await tenantTable(
    knex,
    'cash_count',
    `session_id uuid not null,
     moment text not null,
     denominations jsonb not null,
     total bigint not null,
     counted_by uuid not null,
     created_at timestamptz not null default now(),
     constraint cash_count_moment check (moment in ('opening', 'closing')),
     constraint cash_count_total check (total >= 0 and jsonb_typeof(denominations) = 'object'),
     constraint cash_count_once unique (tenant_id, session_id, moment),
     foreign key (tenant_id, session_id) references cash_session (tenant_id, id)`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'cash_count')
}
