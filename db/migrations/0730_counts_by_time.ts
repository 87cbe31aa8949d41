import type { Knex } from 'knex'
import { countAutomations, countDeliveries } from './counts-by-time-support.ts'

/**
 * Counts by day: of what a list shows for some time alone. Deliveries of webhooks are counted by the month of their event, which is dropped as a whole, and
 * messages of an automation by the day on which they were made.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `alter table list_count add column webhook_endpoint_id uuid, add column automation_id uuid, add column day date`,
  )
  await folding(knex)
  await countDeliveries(knex)
  await droppedMonths(knex)
  await countAutomations(knex)
}

/**
 * Adds up the changes of a key, as before, with the further columns in the key. Rows of a key are found by a hash, so that a list of many days is read once and
 * not once for each day that changed; two keys of one hash cost a row more, and are added up apart.
 */
const folding = async (knex: Knex) => {
  const columns = [
    'property_id', 'book_id', 'status', 'kind', 'journal_id', 'period_id', 'channel_connection_id', 'webhook_endpoint_id', 'automation_id', 'day',
  ] // oxfmt-ignore
  const key = `tenant_id, list, ${columns.join(', ')}`
  const hash = `hash_record_extended(row(${columns.map((column) => `c.${column}`).join(', ')}), 0)`
  await knex.raw(`
    create or replace function fold_list_counts(at_least int) returns bigint
    language sql security definer set search_path = public, pg_temp as $$
      with busy as (select tenant_id, list from list_count where not folded group by 1, 2 having count(*) >= at_least),
      keys as (select distinct c.tenant_id, c.list, ${hash} as key from list_count c join busy using (tenant_id, list) where not c.folded),
      held as (
        select c.tenant_id, c.list, c.seq from busy b join list_count c on c.tenant_id = b.tenant_id and c.list = b.list
        where (c.tenant_id, c.list, ${hash}) in (select k.tenant_id, k.list, k.key from keys k)
        for update of c skip locked),
      taken as (
        delete from list_count c using held h where c.tenant_id = h.tenant_id and c.list = h.list and c.seq = h.seq returning c.*),
      made as (
        insert into list_count (${key}, n, folded) select ${key}, sum(n), true from taken group by ${key} having sum(n) <> 0)
      select count(*) from taken
    $$`)
}

/**
 * Takes the counts of deliveries away with their months, as changes of their own: rows that are being added up at the moment are counted by them too. Dropping a
 * month has waited for all who wrote to it.
 */
const droppedMonths = async (knex: Knex) => {
  const key = 'tenant_id, list, property_id, webhook_endpoint_id, status, kind, day'
  await knex.raw(`
    create or replace function drop_event_partitions() returns int language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      old record;
      dropped int := 0;
    begin
      for old in
        select child.relname, parent.relname as parent, to_date(right(child.relname, 6), 'YYYYMM') as month
        from pg_inherits i join pg_class child on child.oid = i.inhrelid join pg_class parent on parent.oid = i.inhparent
        where parent.relname in ('event', 'webhook_delivery', 'webhook_attempt') and child.relname ~ '_[0-9]{6}$'
      loop
        if old.month + interval '1 month' < (now() at time zone 'UTC')::date - 90 then
          if old.parent = 'event' then
            execute format('update event_head h set oldest_sequence = greatest(h.oldest_sequence, d.last + 1)
              from (select tenant_id, max(sequence) as last from %I where sequence is not null group by tenant_id) d
              where h.tenant_id = d.tenant_id', old.relname);
          end if;
          execute format('drop table %I', old.relname);
          if old.parent = 'webhook_delivery' then
            insert into list_count (${key}, n)
            select ${key}, -sum(n) from list_count where list = 'webhook_delivery' and day = old.month group by ${key} having sum(n) <> 0;
          end if;
          dropped := dropped + 1;
        end if;
      end loop;
      return dropped;
    end $$`)
}
