import type { Knex } from 'knex'

/** Reports wait for one another, and are found by their form; a report of a form that was corrected meanwhile is superseded. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table registration_report drop constraint registration_report_status, add constraint registration_report_status
    check (status in ('queued', 'accepted', 'rejected', 'unknown', 'superseded'))`)
  await knex.raw(`alter table registration_secret add column updated_at timestamptz not null default now()`)
}
