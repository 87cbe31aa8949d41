import type { Knex } from 'knex'

/**
 * Gathers statistics of a table as soon as five of its rows have changed. PostgreSQL waits for fifty: types of units and rate plans of a house are fewer, and a plan that
 * takes a table for one row joins two such tables row by row with each other before anything else.
 */
export const up = (knex: Knex) =>
  knex.raw(`
    do $$
    declare
      small record;
    begin
      for small in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and not relispartition loop
        execute format('alter table %I set (autovacuum_analyze_threshold = 5)', small.relname);
      end loop;
    end $$`)
