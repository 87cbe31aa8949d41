import type { Knex } from 'knex'
import { tenantTable } from './support.ts'

const day = (row: string) => `(${row}.occurred_at at time zone 'utc')::date`

/**
 * What moved the balance of an account at a gateway, by days in UTC: the opening balance of a day is the sum of the days before it, and not of all
 * transactions that there ever were. A transaction that is listed late moves its own day.
 */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'gateway_balance_day',
    `gateway_account_id uuid not null,
     day date not null,
     net bigint not null,
     primary key (tenant_id, gateway_account_id, day),
     foreign key (tenant_id, gateway_account_id) references gateway_account (tenant_id, id)`,
    { grant: 'select' },
  )
  await knex.raw(`alter table gateway_balance_day set (autovacuum_analyze_threshold = 5)`)
  await knex.raw(`lock table balance_transaction in share row exclusive mode`)
  await knex.raw(`
    create function balance_transactions_summed() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      insert into gateway_balance_day as d (tenant_id, gateway_account_id, day, net)
      select r.tenant_id, r.gateway_account_id, ${day('r')}, sum(r.net) from added r group by 1, 2, 3 order by 1, 2, 3
      on conflict (tenant_id, gateway_account_id, day) do update set net = d.net + excluded.net;
      return null;
    end $$`)
  await knex.raw(`revoke all on function balance_transactions_summed() from public`)
  await knex.raw(
    `create trigger balance_transactions_summed after insert on balance_transaction referencing new table as added for each statement
     execute function balance_transactions_summed()`,
  )
  await knex.raw(
    `insert into gateway_balance_day (tenant_id, gateway_account_id, day, net)
     select t.tenant_id, t.gateway_account_id, ${day('t')}, sum(t.net) from balance_transaction t group by 1, 2, 3`,
  )
}
