import type { Knex } from 'knex'

/**
 * The house of a folio's line and of a step of a stay, as their folio and stay have it: a house of a group finds those of its own day without looking at
 * those of all the others. The index of a day of all houses gives way to it.
 */
export const up = async (knex: Knex) => {
  for (const [table, parent] of [
    ['folio_line', 'folio'],
    ['reservation_event', 'reservation'],
  ] as const) {
    await knex.raw(`alter table ${table} add column property_id uuid`)
    await knex.raw(`
      create function ${table}_property() returns trigger language plpgsql as $$
      begin
        new.property_id := (select p.property_id from ${parent} p where p.tenant_id = new.tenant_id and p.id = new.${parent}_id);
        return new;
      end $$`)
    // A row without its parent is refused by its foreign key, not for a house that it lacks.
    await knex.raw(
      `create trigger ${table}_property before insert on ${table} for each row execute function ${table}_property()`,
    )
    // Nothing happens to a row by it.
    await knex.raw(`alter table ${table} disable trigger user`)
    await knex.raw(
      `update ${table} l set property_id = p.property_id from ${parent} p where p.tenant_id = l.tenant_id and p.id = l.${parent}_id`,
    )
    await knex.raw(`alter table ${table} enable trigger user`)
  }
  await knex.raw(`drop index folio_line_day`)
  await knex.raw(`create index folio_line_day on folio_line (tenant_id, property_id, business_date, folio_id)`)
  await knex.raw(`drop index reservation_event_day`)
  await knex.raw(
    `create index reservation_event_day on reservation_event (tenant_id, property_id, business_date, transition)`,
  )
}
