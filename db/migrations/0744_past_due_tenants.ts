import type { Knex } from 'knex'

/** The few tenants that owe, for the list of operators. */
export const up = (knex: Knex) =>
  knex.raw(`create index subscription_past_due on subscription (tenant_id) where past_due_since is not null`)
