import type { Knex } from 'knex'

/** Checks the drafts and budgets of before: without a lock that keeps anybody from reading or writing them. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table entry_draft validate constraint entry_draft_no_editor`)
  await knex.raw(`alter table budget validate constraint budget_no_editor`)
}
