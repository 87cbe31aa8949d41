import type { Knex } from 'knex'

/**
 * A search asks for all types of a plan on some thirty nights: by plan and day they lie together, on far fewer pages than
 * by plan and type. With the amount in the index itself the rows need not be read at all.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `alter table rate_cell drop constraint rate_cell_pkey,
       add primary key (tenant_id, rate_plan_id, date, unit_type_id) include (amount)`,
  )
}
