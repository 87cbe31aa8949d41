import type { Knex } from 'knex'

/**
 * Payments of bills whose day has come and which no job starts. A sweep takes a thousand: those that may not start now, and those whose job is
 * there already, would keep all others from their place.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`
    create or replace function payable_payments_to_start() returns table (tenant_id uuid, id uuid) language sql stable security definer
    set search_path = public, pg_temp as $sweep$
      select p.tenant_id, p.id from payable_payment p join tenant t on t.id = p.tenant_id
      where p.status in ('approved', 'sending') and p.pay_on <= current_date + 1 and t.status not in ('suspended', 'deleting', 'deleted')
        and 'financial' = any(case when t.features_valid_until <= now() then active_features(t.id) else t.features end)
        and exists (select from payable_payment_item x where x.tenant_id = p.tenant_id and x.payable_payment_id = p.id and x.status = 'queued')
        and not exists (
          select from jobs j where coalesce(j.tenant_id, '00000000-0000-0000-0000-000000000000'::uuid) = p.tenant_id
            and j.kind = 'payments.start-payment' and j.unique_key = p.id::text and j.status <> 'dead')
      order by p.pay_on, p.id limit 1000 $sweep$`)
}
