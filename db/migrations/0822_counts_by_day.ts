import type { Knex } from 'knex'
import { countByDay, countDeliveriesByDay, dayOf } from './counts-by-day-support.ts'

/** Counts by day, for lists that are asked for days: bookings, issues, items, entries of the ledger and deliveries of webhooks. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table list_count add column if not exists month date`)
  // Rows that are being written come first: from here on each row is seen by the counts below or by the triggers.
  await knex.raw(`lock table booking, issue, lost_item, journal_entry, webhook_delivery in share row exclusive mode`)
  await countByDay(knex, 'booking', ['property_id'], dayOf('created_at'))
  await countByDay(knex, 'issue', ['property_id', 'status', 'kind', 'escalated', 'recurring'], dayOf('created_at'))
  await countByDay(knex, 'lost_item', ['property_id', 'status'], dayOf('at'))
  await countByDay(knex, 'journal_entry', ['book_id', 'kind', 'journal_id', 'late'], (row) => `${row}.posting_date`)
  await countDeliveriesByDay(knex)
  await droppedMonths(knex)
  await knex.raw(`create index list_count_day on list_count (tenant_id, list, day) where day is not null`)
}

/** Takes the counts of deliveries away with their months, as before, and those by the days on which they were made. */
const droppedMonths = async (knex: Knex) => {
  const key = 'tenant_id, list, property_id, webhook_endpoint_id, status, kind, day, month'
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
            select ${key}, -sum(n) from list_count
            where (list = 'webhook_delivery' and day = old.month) or (list = 'webhook_delivery_by_day' and month = old.month)
            group by ${key} having sum(n) <> 0;
          end if;
          dropped := dropped + 1;
        end if;
      end loop;
      return dropped;
    end $$`)
}
