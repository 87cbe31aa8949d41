import type { Knex } from 'knex'
import { statements } from './cash/statements.ts'

/** Statements of banks, their lines, and the movements that they prove. */
export const up = (knex: Knex) => statements(knex)
