import type { Knex } from 'knex'

/**
 * When a mapping was left out of its connection's set: until its channel has heard that it is closed, and while guests who booked by it may still
 * change their minds, it is kept beside the set. One of the same type and plan may stand in the set meanwhile, under another name.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `alter table channel_mapping add column left_at timestamptz, drop constraint channel_mapping_ours,
       add constraint channel_mapping_left check (left_at is null or not enabled)`,
  )
  await knex.raw(
    `create unique index channel_mapping_ours on channel_mapping (tenant_id, channel_connection_id, unit_type_id, rate_plan_id)
     nulls not distinct where left_at is null`,
  )
}
