import type { Knex } from 'knex'
import { sweepFunction, tenantTable } from './support.ts'

/** Which stay is in which unit: what the tape chart reads, what blocks have moved, and who was left without a unit. */
export const up = async (knex: Knex) => {
  // Under row-level security an index on the range cannot be searched (its operators are not leakproof); these two days can.
  await knex.raw(
    `alter table unit_assignment
       add starts_on date generated always as (lower(during)) stored,
       add ends_on date generated always as (upper(during)) stored`,
  )
  await knex.raw(
    `create index unit_assignment_place on unit_assignment (tenant_id, unit_id, ends_on) where status <> 'released'`,
  )

  await knex.raw(`alter table unit_block add cancel_reason text`)
  await knex.raw(
    `alter table unit_block add constraint unit_block_cancel_reason check (cancel_reason is null or (length(cancel_reason) between 1 and 500 and status = 'cancelled'))`,
  )
  await knex.raw(`create index unit_block_open on unit_block (tenant_id, property_id, "to") where status = 'open'`)

  await tenantTable(
    knex,
    'unit_block_stay',
    `unit_block_id uuid not null,
     reservation_id uuid not null,
     unit_id uuid not null,
     displaced boolean not null,
     at timestamptz not null default now(),
     primary key (tenant_id, unit_block_id, reservation_id, unit_id),
     foreign key (tenant_id, unit_block_id) references unit_block (tenant_id, id),
     foreign key (tenant_id, reservation_id) references reservation (tenant_id, id),
     foreign key (tenant_id, unit_id) references unit (tenant_id, id)`,
  )
  await knex.raw(`create index unit_block_stay_reservation on unit_block_stay (tenant_id, reservation_id)`)
  await knex.raw(`create index unit_block_stay_unit on unit_block_stay (tenant_id, unit_id)`)

  // Stays that wait for a unit of a pool, so that it is said once.
  await tenantTable(
    knex,
    'stranded_stay',
    `reservation_id uuid not null,
     unit_pool_id uuid not null,
     "from" date not null,
     "to" date not null,
     since timestamptz not null default now(),
     primary key (tenant_id, reservation_id, unit_pool_id),
     constraint stranded_stay_dates check ("to" > "from"),
     foreign key (tenant_id, reservation_id) references reservation (tenant_id, id),
     foreign key (tenant_id, unit_pool_id) references unit_pool (tenant_id, id)`,
  )
  await knex.raw(`create index stranded_stay_pool on stranded_stay (tenant_id, unit_pool_id)`)

  await sweepFunction(
    knex,
    'pools_to_repack(after uuid, most int)',
    'tenant_id uuid, pool_id uuid',
    `select p.tenant_id, p.id from unit_pool p
     join property y on y.tenant_id = p.tenant_id and y.id = p.property_id and y.status <> 'archived'
     where p.id > after and (
       exists (select from unit u join unit_assignment a on a.tenant_id = u.tenant_id and a.unit_id = u.id and a.status = 'proposed'
           and a.ends_on > current_date
         where u.tenant_id = p.tenant_id and u.unit_pool_id = p.id)
       or exists (select from stranded_stay s where s.tenant_id = p.tenant_id and s.unit_pool_id = p.id))
     order by p.id limit most`,
  )
}
