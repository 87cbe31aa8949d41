import type { Knex } from 'knex'

const definer = `language plpgsql security definer set search_path = public, pg_temp`
// The purge of a tenant takes its counts away with everything else.
const unlessPurged = `if coalesce(current_setting('app.purging', true), '') = 'on' then return null; end if;`

const triggerFunction = async (knex: Knex, name: string, body: string) => {
  await knex.raw(
    `create function ${name}() returns trigger ${definer} as $$ begin ${unlessPurged} ${body} return null; end $$`,
  )
  await knex.raw(`revoke all on function ${name}() from public`)
}

/**
 * Deliveries by house, endpoint, state, type and the month of their event, whose partition they lie in. A statement counts all that it writes at once, since
 * numbers and answers are written many at a time.
 */
export const countDeliveries = async (knex: Knex) => {
  const into = 'insert into list_count (tenant_id, list, property_id, webhook_endpoint_id, status, kind, day, n'
  const counted = (n: string, from: string, having = '') => `
    select d.tenant_id, 'webhook_delivery', d.property_id, d.webhook_endpoint_id, d.status, d.type,
      date_trunc('month', d.event_at at time zone 'UTC')::date, ${n} from ${from}
    group by d.tenant_id, d.property_id, d.webhook_endpoint_id, d.status, d.type, 7 ${having}`
  await triggerFunction(
    knex,
    'webhook_delivery_counted',
    `if tg_op = 'INSERT' then ${into}) ${counted('count(*)', 'changed d')};
     else ${into}) ${counted('-count(*)', 'changed d')};
     end if;`,
  )
  // Most updates lend a delivery to a sender, and change no state.
  await triggerFunction(
    knex,
    'webhook_delivery_recounted',
    `${into}) ${counted('sum(d.sign)', '(select 1 as sign, * from after union all select -1, * from before) d', 'having sum(d.sign) <> 0')};`,
  )
  const trigger = (name: string, when: string, end: string) =>
    knex.raw(`create trigger webhook_delivery_count_${name} after ${when} on webhook_delivery referencing ${end}()`)
  const counting = 'for each statement execute function webhook_delivery_counted'
  await trigger('added', 'insert', `new table as changed ${counting}`)
  await trigger('removed', 'delete', `old table as changed ${counting}`)
  await trigger(
    'moved',
    'update',
    `old table as before new table as after for each statement execute function webhook_delivery_recounted`,
  )
  await knex.raw(`${into}, folded) ${counted('count(*), true', 'webhook_delivery d')}`)
}

/** A message as an automation counts it: whether it has left, and what came of it. The words stand in the lists that read it, too. */
const outcomeOf = (row: string) =>
  `case when ${row}.status in ('delivered', 'read') then 'delivered' when ${row}.status in ('failed', 'suppressed') then ${row}.status else 'other' end`
const leftOf = (row: string) => `case when ${row}.sent_at is null then 'kept' else 'sent' end`

/** Messages of automations by outcome and the day on which they were made. Messages of others pay nothing. */
export const countAutomations = async (knex: Knex) => {
  const columns = 'tenant_id, list, automation_id, status, kind, day, n'
  const values = (row: string, n: string) =>
    `${row}.tenant_id, 'automation_message', ${row}.automation_id, ${outcomeOf(row)}, ${leftOf(row)}, (${row}.created_at at time zone 'UTC')::date, ${n}`
  await triggerFunction(
    knex,
    'automation_message_counted',
    `insert into list_count (${columns})
     select x.* from (select ${values('old', '-1')} union all select ${values('new', '1')}) x (${columns})
     where x.automation_id is not null;`,
  )
  const key = (row: string) => `${row}.automation_id, ${row}.created_at, ${outcomeOf(row)}, ${leftOf(row)}`
  const trigger = (name: string, when: string, condition: string) =>
    knex.raw(
      `create trigger automation_message_count_${name} after ${when} on message for each row when (${condition})
       execute function automation_message_counted()`,
    )
  await trigger('added', 'insert', `new.automation_id is not null`)
  await trigger('removed', 'delete', `old.automation_id is not null`)
  await trigger(
    'moved',
    'update',
    `num_nonnulls(old.automation_id, new.automation_id) > 0 and (${key('old')}) is distinct from (${key('new')})`,
  )
  await knex.raw(
    `insert into list_count (${columns}, folded)
     select ${values('m', 'count(*), true')} from message m where m.automation_id is not null group by m.tenant_id, m.automation_id, 4, 5, 6`,
  )
  await knex.raw(
    `create index list_count_automation on list_count (tenant_id, automation_id, day) where automation_id is not null`,
  )
  await knex.raw(`drop index message_automation`)
  await knex.raw(
    `create index message_automation on message (tenant_id, automation_id, created_at) where automation_id is not null`,
  )
}

/**
 * Quotes without a booking by house and the day on which they expire. A booking takes its quote out; one that names a quote which the portal has not stored
 * counts nothing. A quote is held while its booking counts it, so that its deletion sees either.
 */
export const countUnusedQuotes = async (knex: Knex) => {
  const columns = 'tenant_id, list, property_id, day, n'
  const values = (n: string) =>
    `q.tenant_id, 'quote_unused', q.property_id, (q.expires_at at time zone 'UTC')::date, ${n}`
  const usedBy = `(select from booking b where b.tenant_id = q.tenant_id and b.quote_id = q.id)`
  const changed = (row: string, n: string) =>
    `insert into list_count (${columns}) select ${values(n)} from (select ${row}.*) q where not exists ${usedBy};`
  await triggerFunction(
    knex,
    'quote_unused_counted',
    `if tg_op <> 'INSERT' then ${changed('old', '-1')} end if; if tg_op <> 'DELETE' then ${changed('new', '1')} end if;`,
  )
  const taken = (row: string, n: string) =>
    `insert into list_count (${columns}) select ${values(n)} from quote q where q.tenant_id = ${row}.tenant_id and q.id = ${row}.quote_id for key share;`
  await triggerFunction(
    knex,
    'quote_used_counted',
    `if tg_op <> 'INSERT' then ${taken('old', '1')} end if; if tg_op <> 'DELETE' then ${taken('new', '-1')} end if;`,
  )
  const trigger = (table: string, name: string, when: string, condition = '') =>
    knex.raw(
      `create trigger quote_unused_${name} after ${when} on ${table} for each row ${condition}
       execute function ${table === 'quote' ? 'quote_unused' : 'quote_used'}_counted()`,
    )
  await trigger('quote', 'added', 'insert')
  await trigger('quote', 'removed', 'delete')
  const moved =
    'when (old.property_id is distinct from new.property_id or old.expires_at is distinct from new.expires_at)'
  await trigger('quote', 'moved', 'update', moved)
  await trigger('booking', 'taken', 'insert', 'when (new.quote_id is not null)')
  await trigger('booking', 'freed', 'delete', 'when (old.quote_id is not null)')
  await trigger('booking', 'changed', 'update', 'when (old.quote_id is distinct from new.quote_id)')
  await knex.raw(
    `insert into list_count (${columns}, folded) select ${values('count(*), true')} from quote q where not exists ${usedBy} group by q.tenant_id, q.property_id, 4`,
  )
}
