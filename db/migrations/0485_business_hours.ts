import type { Knex } from 'knex'

const hours = `in ('always', 'business')`

/** The hours by which the clocks of categories and of their issues run. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `alter table issue_category add column hours text not null default 'always' constraint issue_category_hours check (hours ${hours})`,
  )
  await knex.raw(`alter table issue add column hours text not null default 'always'`)
  // The next migration checks the rows of before, in a transaction without this one's lock.
  await knex.raw(`alter table issue add constraint issue_hours check (hours ${hours}) not valid`)
}
