import type { Knex } from 'knex'

const notOfEditors = (column: string) => `${column} is null or ${column} <> all(editors) or self_approved`

/** Those who wrote on drafts, budgets and templates of another person: none of them approves what comes of it. */
export const up = async (knex: Knex) => {
  for (const table of ['entry_draft', 'budget', 'entry_template'])
    await knex.raw(`alter table ${table} add column editors uuid[] not null default '{}'`)
  // The next migration checks the rows of before, in a transaction without this one's lock.
  await knex.raw(`alter table entry_draft add constraint entry_draft_no_editor
    check (status <> 'posted' or ${notOfEditors('decided_by')}) not valid`)
  await knex.raw(`alter table budget add constraint budget_no_editor check (${notOfEditors('approved_by')}) not valid`)
}
