import type { Knex } from 'knex'
import { countByMonths } from './counts-by-month-support.ts'

/** The day of a transfer: on which it was sent, or is to be. Lists of days are counted by its months. */
export const up = async (knex: Knex) => {
  // Its rewriting holds the table: each row is seen by the counts below or by the triggers.
  await knex.raw(
    `alter table cash_transfer add column dated_on date generated always as (coalesce(sent_on, scheduled_on)) stored`,
  )
  await knex.raw(`drop index cash_transfer_listed_2`)
  await knex.raw(`create index cash_transfer_dated on cash_transfer (tenant_id, dated_on) where dated_on is not null`)
  await countByMonths(knex, 'cash_transfer', ['property_id', 'status'], { dated_on: 'date' })
}
