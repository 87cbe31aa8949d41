import type { Knex } from 'knex'

const definer = `language plpgsql security definer set search_path = public, pg_temp`
// The purge of a tenant takes its counts away with everything else.
const unlessPurged = `if coalesce(current_setting('app.purging', true), '') = 'on' then return null; end if;`

const triggerFunction = async (knex: Knex, name: string, body: string) => {
  await knex.raw(
    `create or replace function ${name}() returns trigger ${definer} as $$ begin ${unlessPurged} ${body} return null; end $$`,
  )
  await knex.raw(`revoke all on function ${name}() from public`)
}

/** The day of a time, by UTC: as lists cut their days. */
export const dayOf = (column: string) => (row: string) => `(${row}.${column} at time zone 'UTC')::date`

/**
 * Counts the rows of a table by these columns and by a day as well, under a name of their own (`<table>_by_day`): a list without days would have to add up
 * those of all years.
 */
export const countByDay = async (
  knex: Knex,
  table: string,
  columns: readonly string[],
  day: (row: string) => string,
) => {
  const into = `insert into list_count (list, tenant_id, ${columns.join(', ')}, day, n`
  const each = (row: string) => columns.map((column) => `${row}.${column}`).join(', ')
  const counted = (n: string, from: string) =>
    `select '${table}_by_day', r.tenant_id, ${each('r')}, ${day('r')}, ${n} from ${from} r group by r.tenant_id, ${each('r')}, ${day('r')}`
  await triggerFunction(
    knex,
    `${table}_counted_by_day`,
    `if tg_op = 'INSERT' then ${into}) ${counted('count(*)', 'changed')}; else ${into}) ${counted('-count(*)', 'changed')}; end if;`,
  )
  const key = (row: string) => `${row}.tenant_id, ${each(row)}, ${day(row)}`
  await triggerFunction(
    knex,
    `${table}_recounted_by_day`,
    `${into}) values ('${table}_by_day', ${key('old')}, -1), ('${table}_by_day', ${key('new')}, 1);`,
  )
  const trigger = (name: string, when: string, end: string) =>
    knex.raw(`create trigger ${table}_day_${name} after ${when} on ${table} ${end}`)
  const statement = `for each statement execute function ${table}_counted_by_day()`
  await trigger('added', 'insert', `referencing new table as changed ${statement}`)
  await trigger('removed', 'delete', `referencing old table as changed ${statement}`)
  await trigger(
    'moved',
    'update',
    `for each row when ((${key('old')}) is distinct from (${key('new')})) execute function ${table}_recounted_by_day()`,
  )
  await knex.raw(`${into}, folded) ${counted('count(*), true', table)}`)
}

const columns = 'tenant_id, list, property_id, webhook_endpoint_id, status, kind, day, month, n'
const month = `date_trunc('month', d.event_at at time zone 'UTC')::date`
const made = dayOf('created_at')('d')
const key = 'd.tenant_id, d.property_id, d.webhook_endpoint_id, d.status, d.type'

/**
 * Counts deliveries by the day on which they were made as well (`webhook_delivery_by_day`). The month of their event stands beside it: it is dropped as a whole,
 * with deliveries that were made later.
 */
export const countDeliveriesByDay = async (knex: Knex) => {
  const counted = (n: string, from: string, having = '') => `
    select d.tenant_id, 'webhook_delivery', d.property_id, d.webhook_endpoint_id, d.status, d.type, ${month}, null::date, ${n} from ${from}
    group by ${key}, 7 ${having}
    union all
    select d.tenant_id, 'webhook_delivery_by_day', d.property_id, d.webhook_endpoint_id, d.status, d.type, ${made}, ${month}, ${n} from ${from}
    group by ${key}, 7, 8 ${having}`
  const into = (n: string, from: string, having?: string) =>
    `insert into list_count (${columns}) ${counted(n, from, having)};`
  await triggerFunction(
    knex,
    'webhook_delivery_counted',
    `if tg_op = 'INSERT' then ${into('count(*)', 'changed d')} else ${into('-count(*)', 'changed d')} end if;`,
  )
  // Most updates lend a delivery to a sender, and change no state.
  await triggerFunction(
    knex,
    'webhook_delivery_recounted',
    into(
      'sum(d.sign)',
      '(select 1 as sign, * from after union all select -1, * from before) d',
      'having sum(d.sign) <> 0',
    ),
  )
  await knex.raw(
    `insert into list_count (${columns}, folded)
     select d.tenant_id, 'webhook_delivery_by_day', d.property_id, d.webhook_endpoint_id, d.status, d.type, ${made}, ${month}, count(*), true
     from webhook_delivery d group by ${key}, 7, 8`,
  )
}
