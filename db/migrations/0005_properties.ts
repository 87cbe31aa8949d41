import type { Knex } from 'knex'
import { portal } from './properties/portal.ts'
import { properties } from './properties/properties.ts'
import { rates } from './properties/rates.ts'

/** Properties, their rates and rules, and the offers of their portals. */
export const up = async (knex: Knex) => {
  await properties(knex)
  await rates(knex)
  await portal(knex)
}
