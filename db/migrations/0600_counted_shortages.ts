import type { Knex } from 'knex'

/** The last shortage of an item and location that a line of a count has seen: its approval ends that and older ones, and none that came later. Null: all. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table inventory_count_line add column last_shortage bigint`)
}
