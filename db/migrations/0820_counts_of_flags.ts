import type { Knex } from 'knex'
import { foldByAllColumns, keepRecurring } from './flags-support.ts'
import { countAnew } from './list-counts-support.ts'

/**
 * Counts by facts that are true of some rows and false of others: issues that were escalated or recur, suppressions that were lifted, requests that matched.
 * Flags of what is open alone (late, unanswered, held, running, due) are not counted: an index of what is open tells them, and the total less these the others.
 */
export const up = async (knex: Knex) => {
  for (const flag of ['escalated', 'recurring', 'lifted', 'matched', 'late'])
    await knex.raw(`alter table list_count add column if not exists ${flag} boolean`)
  await foldByAllColumns(knex)

  await knex.raw(`alter table issue add column escalated boolean not null generated always as (escalation > 0) stored`)
  await keepRecurring(knex)
  await countAnew(knex, 'issue', ['property_id', 'status', 'kind', 'escalated', 'recurring'])
  for (const flag of ['escalated', 'recurring']) {
    await knex.raw(`create index issue_${flag}_due on issue (tenant_id, next_due_at, id) where ${flag}`)
    await knex.raw(`create index issue_${flag}_created on issue (tenant_id, created_at desc, id) where ${flag}`)
  }
  await knex.raw(
    `create index issue_open_due on issue (tenant_id, next_due_at, id) where status in ('open', 'in_progress', 'waiting')`,
  )

  await knex.raw(
    `alter table suppression add column lifted boolean not null generated always as (lifted_at is not null) stored`,
  )
  await countAnew(knex, 'suppression', ['kind', 'lifted'])
  await knex.raw(`create index suppression_lifted on suppression (tenant_id, lifted, created_at desc, id)`)

  await knex.raw(
    `alter table waitlist_entry add column matched boolean not null generated always as (matched_at is not null) stored`,
  )
  await countAnew(knex, 'waitlist_entry', ['property_id', 'status', 'matched'])
  for (const [name, which] of [
    ['matched', 'matched'],
    ['unmatched', 'not matched'],
  ])
    await knex.raw(
      `create index waitlist_entry_${name} on waitlist_entry (tenant_id, status, (matched_at is null), priority, created_at, id) where ${which}`,
    )

  await knex.raw(
    `create index lost_item_due on lost_item (tenant_id, keep_until, id) where status = 'open' and direction = 'found'`,
  )
  await knex.raw(`create index lost_item_status_at on lost_item (tenant_id, status, at, id)`)
}
