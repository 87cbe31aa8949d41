import type { Knex } from 'knex'

/** A notice is written by the plan of a run, and changed once it has its message and once that was sent: in its page, without an entry more in each index. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table dunning_notice set (fillfactor = 50)`)
}
