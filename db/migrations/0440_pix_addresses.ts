import type { Knex } from 'knex'

/** Where the bank of a connection is, for banks that share one standard. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table pix_connection
    add column base_url text,
    add column token_url text,
    add constraint pix_connection_address check ((base_url is null) = (token_url is null) and length(base_url) <= 300 and length(token_url) <= 300)`)
}
