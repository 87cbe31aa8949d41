import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

/** The properties of a member or a key that is not for all of them. */
export const up = async (knex: Knex) => {
  for (const [table, parent] of [
    ['membership_property', 'membership'],
    ['api_key_property', 'api_key'],
  ] as const) {
    await tenantTable(
      knex,
      table,
      `${parent}_id uuid not null,
       property_id uuid not null,
       primary key (tenant_id, ${parent}_id, property_id),
       foreign key (tenant_id, ${parent}_id) references ${parent} (tenant_id, id) on delete cascade,
       foreign key (tenant_id, property_id) references property (tenant_id, id)`,
    )
    await knex.raw(`create index ${table}_property on ${table} (tenant_id, property_id)`)
  }
  // A key is found by its id before its tenant is known: one record, whole, to be checked against the secret.
  await knex.raw(`
    create function api_key_of(of_key text)
    returns table (id uuid, tenant_id uuid, key_id text, hash bytea, pepper_id text, scopes text[], cidrs text[], property_ids uuid[], expires_at timestamptz,
      revoked_at timestamptz)
    language sql stable security definer set search_path = public, pg_temp as $$
      select k.id, k.tenant_id, k.key_id, k.hash, k.pepper_id, k.scopes, k.cidrs::text[],
        case when k.all_properties then null else
          coalesce((select array_agg(p.property_id) from api_key_property p where p.tenant_id = k.tenant_id and p.api_key_id = k.id), '{}') end,
        k.expires_at, k.revoked_at
      from api_key k where k.key_id = of_key
    $$`)
  await knex.raw(`revoke all on function api_key_of(text) from public`)
  await knex.raw(`grant execute on function api_key_of(text) to pousada_service`)
}
