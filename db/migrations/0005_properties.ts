import type { Knex } from 'knex'
import { portal } from './properties/portal.ts'
import { properties } from './properties/properties.ts'
import { rates } from './properties/rates.ts'

/** What a property is, what it sells, at which price and under which rules. */
export const up = async (knex: Knex) => {
  await properties(knex)
  await rates(knex)
  await portal(knex)
}
