import type { Knex } from 'knex'
import { countAnew } from './list-counts-support.ts'

/** The house of an assignment, as its unit has it, so that the list of a house is counted without its units. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table unit_assignment add column property_id uuid`)
  await knex.raw(`
    create function unit_assignment_property() returns trigger language plpgsql as $$
    begin
      new.property_id := (select u.property_id from unit u where u.tenant_id = new.tenant_id and u.id = new.unit_id);
      return new;
    end $$`)
  await knex.raw(
    `create trigger unit_assignment_property before insert or update of unit_id on unit_assignment for each row execute function unit_assignment_property()`,
  )
  // Nothing happens to an assignment by it.
  await knex.raw(`alter table unit_assignment disable trigger user`)
  await knex.raw(
    `update unit_assignment a set property_id = u.property_id from unit u where u.tenant_id = a.tenant_id and u.id = a.unit_id`,
  )
  await knex.raw(`alter table unit_assignment enable trigger user`)
  await countAnew(knex, 'unit_assignment', ['property_id', 'status'])
}
