import type { Knex } from 'knex'
import { pix } from './cash/pix.ts'

/** Pix through the bank of the house: connections, keys, charges, money that came and went back. */
export const up = (knex: Knex) => pix(knex)
