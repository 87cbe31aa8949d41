import type { Knex } from 'knex'
import { countByMonths } from './counts-by-month-support.ts'

/** Counts reservations by the months in which they were made, and invoices of operators by those of their issue. */
export const up = async (knex: Knex) => {
  // Rows that are being written come first: from here on each is seen by the counts below or by the triggers.
  await knex.raw(`lock table reservation, subscription_invoice in share row exclusive mode`)
  await knex.raw(`delete from list_count where list like 'reservation\\_by\\_%'`)
  await countByMonths(knex, 'reservation', ['property_id', 'status'], {
    arrival: 'date',
    departure: 'date',
    updated_at: 'time',
    created_at: 'time',
  })
  await invoicesByMonth(knex)
}

/** Invoices by their state and the month of their issue, over all tenants. A purge keeps them. */
const invoicesByMonth = async (knex: Knex) => {
  const month = (row: string) => `date_trunc('month', ${row}.issued_at at time zone 'UTC')::date`
  const one = (row: string, n: string, not: string) =>
    `select 'subscription_invoice_by_issued_at', ${row}.status, ${month(row)}, ${n} where tg_op <> '${not}'`
  await knex.raw(`
    create function subscription_invoice_counted_by_month() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
    begin
      insert into platform_count (list, status, day, n) ${one('old', '-1', 'INSERT')} union all ${one('new', '1', 'DELETE')};
      return null;
    end $$`)
  await knex.raw(`revoke all on function subscription_invoice_counted_by_month() from public`)
  const trigger = (name: string, when: string, condition = '') =>
    knex.raw(
      `create trigger subscription_invoice_month_${name} after ${when} on subscription_invoice for each row ${condition}
       execute function subscription_invoice_counted_by_month()`,
    )
  await trigger('added', 'insert')
  await trigger('removed', 'delete')
  const key = (row: string) => `${row}.status, ${month(row)}`
  await trigger('moved', 'update', `when ((${key('old')}) is distinct from (${key('new')}))`)
  await knex.raw(
    `insert into platform_count (list, status, day, n, folded)
     select 'subscription_invoice_by_issued_at', i.status, ${month('i')}, count(*), true from subscription_invoice i group by ${key('i')}`,
  )
}
