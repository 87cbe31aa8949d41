import type { Knex } from 'knex'
import { platformTable } from './support.ts'

/** The usage of tenants: each fact once, and the running sums of days. */
export const up = async (knex: Knex) => {
  await platformTable(
    knex,
    'usage_event',
    `tenant_id uuid not null references tenant (id),
     meter text not null,
     key text not null,
     quantity bigint not null,
     at timestamptz not null,
     primary key (tenant_id, meter, key),
     constraint usage_event_quantity check (quantity > 0),
     constraint usage_event_key check (length(key) between 1 and 200)`,
    { grant: 'select, insert, delete' },
  )
  await knex.raw(`create index usage_event_at on usage_event (at)`)
  await knex.raw(
    `create trigger append_only before update on usage_event for each row execute function refuse_change()`,
  )
  // The days keep the sums; a fact is kept for as long as it could come a second time.
  await knex.raw(
    `create policy kept on usage_event as restrictive for delete to pousada_service using (at < now() - interval '60 days')`,
  )
  await platformTable(
    knex,
    'usage_day',
    `tenant_id uuid not null references tenant (id),
     meter text not null,
     day date not null,
     quantity bigint not null,
     primary key (tenant_id, meter, day),
     constraint usage_day_quantity check (quantity > 0)`,
    { grant: 'select, insert, update' },
  )
}
