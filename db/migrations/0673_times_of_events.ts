import type { Knex } from 'knex'

/**
 * Events since an instant, as an issue asks whether its cause has ended since. Events are written in the order of their time, so a summary of each range of pages
 * finds them, and costs a command that writes one next to nothing.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index event_time on event using brin (occurred_at) with (pages_per_range = 16, autosummarize = on)`,
  )
}
