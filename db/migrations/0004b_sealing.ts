import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

/** The keys under which personal data is sealed, themselves wrapped by the master key, and the store of sealed files. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'tenant_key',
    `wrapped_key bytea not null,
     master_key_id text not null,
     created_at timestamptz not null default now(),
     primary key (tenant_id)`,
  )

  // Destroying a key is what erasure does: every row and backup that it sealed becomes unreadable.
  await tenantTable(
    knex,
    'guest_key',
    `guest_id uuid not null,
     purpose text not null,
     wrapped_key bytea,
     master_key_id text not null,
     destroy_after date,
     destroyed_at timestamptz,
     created_at timestamptz not null default now(),
     primary key (tenant_id, guest_id, purpose),
     constraint guest_key_purpose check (purpose in ('profile', 'retention')),
     constraint guest_key_destroyed check ((wrapped_key is null) = (destroyed_at is not null))`,
  )
  await knex.raw(
    `create index guest_key_due on guest_key (destroy_after) where destroyed_at is null and destroy_after is not null`,
  )
  await knex.raw(`create index guest_key_master on guest_key (tenant_id, master_key_id) where wrapped_key is not null`)
  // A destroyed key stays destroyed, and a guest never gets another.
  await knex.raw(`
    create function guest_key_stays_destroyed() returns trigger language plpgsql as $$
    begin
      if old.destroyed_at is not null then
        raise exception 'a destroyed key does not come back' using errcode = 'PL010';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger guest_key_stays_destroyed before update on guest_key for each row execute function guest_key_stays_destroyed()`,
  )

  await tenantTable(
    knex,
    'blob',
    `bytes bytea not null,
     created_at timestamptz not null default now(),
     constraint blob_size check (octet_length(bytes) <= 15728640)`,
    { grant: 'select, insert, delete' },
  )
  // Sealed bytes do not compress.
  await knex.raw(`alter table blob alter column bytes set storage external`)
}
