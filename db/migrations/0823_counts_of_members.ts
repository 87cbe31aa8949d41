import type { Knex } from 'knex'
import { countRows } from './list-counts-support.ts'

/** Counts members by their state and role, as the list of roles shows them. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table list_count add column if not exists role text, add column if not exists role_id uuid`)
  await countRows(knex, 'membership', ['status', 'role', 'role_id'])
}
