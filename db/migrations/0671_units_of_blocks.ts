import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

const definer = `language plpgsql security definer set search_path = public, pg_temp`

/** The units of a block, a row each, so that the blocks of a unit are found by an index. Under row-level security none serves a condition on an array. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'unit_block_unit',
    `unit_block_id uuid not null,
     unit_id uuid not null,
     primary key (tenant_id, unit_block_id, unit_id),
     foreign key (tenant_id, unit_block_id) references unit_block (tenant_id, id) on delete cascade,
     foreign key (tenant_id, unit_id) references unit (tenant_id, id)`,
    { grant: 'select' },
  )
  await knex.raw(`create index unit_block_unit_unit on unit_block_unit (tenant_id, unit_id)`)
  await knex.raw(`
    create function unit_block_units_kept() returns trigger ${definer} as $$
    begin
      delete from unit_block_unit x where x.tenant_id = new.tenant_id and x.unit_block_id = new.id and x.unit_id <> all(new.unit_ids);
      insert into unit_block_unit (tenant_id, unit_block_id, unit_id) select distinct new.tenant_id, new.id, unnest(new.unit_ids)
        on conflict do nothing;
      return null;
    end $$`)
  await knex.raw(`revoke all on function unit_block_units_kept() from public`)
  await knex.raw(
    `create trigger unit_block_units_kept after insert or update of unit_ids on unit_block for each row execute function unit_block_units_kept()`,
  )
  await knex.raw(
    `insert into unit_block_unit (tenant_id, unit_block_id, unit_id) select distinct tenant_id, id, unnest(unit_ids) from unit_block`,
  )
}
