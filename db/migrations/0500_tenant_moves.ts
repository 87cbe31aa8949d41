import type { Knex } from 'knex'
import { openTable } from './support.ts'

/**
 * Tenants that move to another installation, and those that came from one. Every transaction of a tenant looks here first: nothing enters a tenant
 * that has gone, and the blind indexes of one that came were made with a key that came with it.
 */
export const up = async (knex: Knex) => {
  await openTable(
    knex,
    'tenant_move',
    `tenant_id uuid primary key references tenant (id),
     direction text not null,
     ticket_id uuid not null,
     receipt_hash bytea,
     index_key bytea,
     master_key_id text,
     moved_at timestamptz not null default now(),
     constraint tenant_move_direction check (direction in ('out', 'in')),
     constraint tenant_move_out check ((direction = 'out') = (receipt_hash is not null)),
     constraint tenant_move_in check ((direction = 'out' or index_key is not null) and (index_key is null) = (master_key_id is null))`,
    { grant: 'select' },
  )
  await knex.raw(`grant update (index_key, master_key_id) on tenant_move to pousada_service`)
  await knex.raw(`
    create or replace function tenants_to_rewrap(newest text) returns table (tenant_id uuid) language sql stable security definer
    set search_path = public, pg_temp as $sweep$
      select k.tenant_id from tenant_key k where k.master_key_id <> newest
      union select g.tenant_id from guest_key g where g.wrapped_key is not null and g.master_key_id <> newest
      union select m.tenant_id from tenant_move m where m.master_key_id <> newest order by 1 $sweep$`)
  // Its private key opens what was exported for it; once that is gone, nothing does.
  await openTable(
    knex,
    'tenant_ticket',
    `id uuid primary key,
     public_key bytea not null,
     private_key bytea,
     state text not null default 'open',
     moved_tenant uuid,
     created_at timestamptz not null default now(),
     ended_at timestamptz,
     constraint tenant_ticket_state check (state in ('open', 'used', 'withdrawn')),
     constraint tenant_ticket_key check ((state = 'open') = (private_key is not null) and (state = 'open') = (ended_at is null)),
     constraint tenant_ticket_moved check ((state = 'used') = (moved_tenant is not null))`,
    { grant: 'select' },
  )
  await knex.raw(`
    create function refuse_entry(direction text) returns text language plpgsql as $$
    begin
      if direction = 'out' then
        raise exception 'the tenant has moved to another installation' using errcode = 'PM001';
      end if;
      raise exception 'the tenant came from another installation, and this process does not know its index key yet' using errcode = 'PM002';
    end $$`)
  await knex.raw(`
    create function moved_stays_shut() returns trigger language plpgsql as $$
    begin
      if exists (select from tenant_move where tenant_id = new.id and direction = 'out') then
        raise exception 'the tenant has moved to another installation' using errcode = 'PM001';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger moved_stays_shut before update of status on tenant for each row when (new.status = 'active' and old.status <> 'active') execute function moved_stays_shut()`,
  )
}
