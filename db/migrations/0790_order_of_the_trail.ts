import type { Knex } from 'knex'

/** The order of one chain, which the index over all chains does not have. */
export const up = async (knex: Knex) => {
  await knex.raw(`drop index audit_entry_chain`)
  await knex.raw(`create index audit_entry_chain on audit_entry (chain, at, id)`)
}
