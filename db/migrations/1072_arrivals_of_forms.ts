import type { Knex } from 'knex'
import { countByMonths } from './counts-by-month-support.ts'

/**
 * The arrival of a form is that of its stay, which is held while a form of it is made: a change of the stay sees the form. Lists of forms are in its order,
 * and counted by its months.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`lock table reservation, guest_registration in share row exclusive mode`)
  await knex.raw(`alter table guest_registration add column arrival date`)
  await knex.raw(`alter table guest_registration disable trigger user`)
  await knex.raw(
    `update guest_registration f set arrival = r.arrival from reservation r where r.tenant_id = f.tenant_id and r.id = f.reservation_id`,
  )
  await knex.raw(`alter table guest_registration enable trigger user`)
  await knex.raw(`alter table guest_registration alter column arrival set not null`)
  const definer = `language plpgsql security definer set search_path = public, pg_temp`
  await knex.raw(`
    create function guest_registration_arrival() returns trigger ${definer} as $$
    begin
      select r.arrival into new.arrival from reservation r where r.tenant_id = new.tenant_id and r.id = new.reservation_id for share;
      return new;
    end $$`)
  await knex.raw(
    `create trigger guest_registration_arrival before insert or update of arrival, reservation_id on guest_registration
     for each row execute function guest_registration_arrival()`,
  )
  await knex.raw(`
    create function guest_registrations_arrive() returns trigger ${definer} as $$
    begin
      update guest_registration f set arrival = new.arrival where f.tenant_id = new.tenant_id and f.reservation_id = new.id;
      return null;
    end $$`)
  await knex.raw(
    `create trigger guest_registrations_arrive after update on reservation for each row when (old.arrival <> new.arrival)
     execute function guest_registrations_arrive()`,
  )
  await knex.raw(`revoke all on function guest_registration_arrival(), guest_registrations_arrive() from public`)
  await countByMonths(knex, 'guest_registration', ['property_id', 'status'], { arrival: 'date' })
  await knex.raw(`create index guest_registration_arrival on guest_registration (tenant_id, arrival, id)`)
  await knex.raw(`create index guest_registration_status on guest_registration (tenant_id, status, arrival, id)`)
  await knex.raw(`drop index guest_registration_property`)
  await knex.raw(
    `create index guest_registration_property on guest_registration (tenant_id, property_id, status, arrival, id)`,
  )
}
