import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/** A change of rates that is first and has no job holds all that were asked for after it, until somebody asks for another one. */
export const up = async (knex: Knex) => {
  await sweepFunction(
    knex,
    'rates_stuck(after uuid, most int)',
    'tenant_id uuid, property_id uuid',
    `select w.tenant_id, w.property_id from (
       select distinct on (c.tenant_id, c.property_id) c.tenant_id, c.property_id, c.id from rate_change c
       where c.status = 'queued' and c.property_id > after order by c.tenant_id, c.property_id, c.seq) w
     where not exists (
       select from jobs j where coalesce(j.tenant_id, '00000000-0000-0000-0000-000000000000'::uuid) = w.tenant_id
         and j.kind = 'inventory.apply-rate-change' and j.unique_key = w.id::text and j.status <> 'dead')
     order by w.property_id limit most`,
  )
}
