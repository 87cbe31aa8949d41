import type { Knex } from 'knex'

/** The lowest number that is kept stands beside the highest, and moves with the months that are dropped. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table event_head add oldest_sequence bigint not null default 1`)
  await knex.raw(`
    create or replace function drop_event_partitions() returns int language plpgsql security definer set search_path = public, pg_temp as $$
    declare
      old record;
      dropped int := 0;
    begin
      for old in
        select child.relname, parent.relname as parent
        from pg_inherits i join pg_class child on child.oid = i.inhrelid join pg_class parent on parent.oid = i.inhparent
        where parent.relname in ('event', 'webhook_delivery', 'webhook_attempt') and child.relname ~ '_[0-9]{6}$'
      loop
        if to_date(right(old.relname, 6), 'YYYYMM') + interval '1 month' < (now() at time zone 'UTC')::date - 90 then
          if old.parent = 'event' then
            execute format('update event_head h set oldest_sequence = greatest(h.oldest_sequence, d.last + 1)
              from (select tenant_id, max(sequence) as last from %I where sequence is not null group by tenant_id) d
              where h.tenant_id = d.tenant_id', old.relname);
          end if;
          execute format('drop table %I', old.relname);
          dropped := dropped + 1;
        end if;
      end loop;
      return dropped;
    end $$`)
}
