import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

/** Nights of a property whose facts, when they were last proved, differed from the records that they stand for. */
export const up = (knex: Knex) =>
  tenantTable(
    knex,
    'report_drift',
    `property_id uuid not null,
     report text not null,
     "from" date not null,
     "to" date not null,
     found_at timestamptz not null default now(),
     primary key (tenant_id, property_id, report),
     constraint report_drift_nights check ("from" <= "to"),
     foreign key (tenant_id, property_id) references property (tenant_id, id)`,
  )
