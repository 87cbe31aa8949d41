import type { Knex } from 'knex'

/**
 * Takes the checked foreign keys of the parts for one of the whole, and drops the one over book, period and day with the index that it needed. No row is read:
 * the locks are held for a moment.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`lock table journal_entry, journal_line in access exclusive mode`)
  await knex.raw(
    `alter table journal_line add constraint journal_line_of_entry foreign key (tenant_id, entry_id) references journal_entry (tenant_id, id)`,
  )
  await knex.raw(`alter table journal_line drop constraint journal_line_entry`)
  await knex.raw(`alter table journal_entry drop constraint journal_entry_line_key`)
}
