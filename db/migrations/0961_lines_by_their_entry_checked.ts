import type { Knex } from 'knex'
import { partsOf } from './ledger-support.ts'

/** Checks that lines of before have their entry: without a lock that keeps anybody from reading or posting. */
export const up = async (knex: Knex) => {
  for (const part of partsOf('journal_line'))
    await knex.raw(`alter table ${part} validate constraint journal_line_of_entry`)
}
