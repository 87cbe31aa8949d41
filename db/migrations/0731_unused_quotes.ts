import type { Knex } from 'knex'
import { countUnusedQuotes } from './counts-by-time-support.ts'

/** Quotes that no booking was made of, by house and day of expiry: from these follow those that are open, expired and used. */
export const up = (knex: Knex) => countUnusedQuotes(knex)
