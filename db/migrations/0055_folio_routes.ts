import type { Knex } from 'knex'
import { tenantTable, touch } from './support.ts'

/** Which folio takes which charges of a stay, and the tax rule of each line that is a tax. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'folio_route',
    `reservation_id uuid not null,
     position int not null,
     folio_id uuid not null,
     categories text[],
     "from" date,
     "until" date,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint folio_route_position unique (tenant_id, reservation_id, position),
     constraint folio_route_position_range check (position between 1 and 10),
     constraint folio_route_categories check (categories is null or cardinality(categories) between 1 and 20),
     constraint folio_route_dates check ("from" <= "until"),
     foreign key (tenant_id, reservation_id) references reservation (tenant_id, id),
     foreign key (tenant_id, folio_id) references folio (tenant_id, id)`,
  )
  await knex.raw(`create index folio_route_folio on folio_route (tenant_id, folio_id)`)
  await touch(knex, 'folio_route')
  await knex.raw(`alter table folio_line add column tax_rule_id uuid`)
}
