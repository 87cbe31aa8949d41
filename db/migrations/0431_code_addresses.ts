import type { Knex } from 'knex'

/** The client that asked for a code, as a hash: one address asks for so many an hour, whatever bookings they are of. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table guest_access_code add column address_hash bytea`)
  await knex.raw(
    `create index guest_access_code_address on guest_access_code (tenant_id, address_hash, created_at) where address_hash is not null`,
  )
}
