import type { Knex } from 'knex'

/** Which release has given a tenant what tenants start with: null for one that was made before this was noted. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table tenant add column provisioned text`)
  await knex.raw(`grant update (provisioned) on tenant to pousada_service`)
}
