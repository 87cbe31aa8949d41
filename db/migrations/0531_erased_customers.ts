import type { Knex } from 'knex'

/**
 * The name and number of an erased customer who was billed are kept sealed until the law of taxes wants them no more (R22). Those of an earlier release are sealed
 * tenant by tenant, by `provisionParts`, since the key is not the database's; the sweep finds both.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table customer add column identity bytea`)
  await knex.raw(
    `alter table customer add constraint customer_identity check (identity is null or (status = 'archived' and document is null)) not valid`,
  )
  await knex.raw(`alter table customer validate constraint customer_identity`)
  await knex.raw(`
    create or replace function erased_customers_to_forget(most int) returns table (tenant_id uuid, id uuid)
    language sql stable security definer set search_path = public, pg_temp as $sweep$
      select c.tenant_id, c.id from customer c join guest g on g.tenant_id = c.tenant_id and g.id = c.guest_id and g.status = 'erased'
      where (c.identity is not null or c.legal_name <> 'erased') and c.status = 'archived'
        and not exists (select from receivable r where r.tenant_id = c.tenant_id and r.customer_id = c.id
          and greatest(r.posting_on, r.updated_at::date) > (now() - interval '11 years')::date)
      order by c.id limit most
    $sweep$`)
}
