import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

/** The properties of a member or a key that is not for all of them. */
export const up = async (knex: Knex) => {
  for (const [table, parent] of [
    ['membership_property', 'membership'],
    ['api_key_property', 'api_key'],
  ] as const) {
    await tenantTable(
      knex,
      table,
      `${parent}_id uuid not null,
       property_id uuid not null,
       primary key (tenant_id, ${parent}_id, property_id),
       foreign key (tenant_id, ${parent}_id) references ${parent} (tenant_id, id) on delete cascade,
       foreign key (tenant_id, property_id) references property (tenant_id, id)`,
    )
    await knex.raw(`create index ${table}_property on ${table} (tenant_id, property_id)`)
  }
}
