import type { Knex } from 'knex'

/**
 * Words of staff about a stay, beside the code of its step, are the guest's: an erasure takes them. All else of the history stays as it was written, and no row
 * of it goes.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`drop trigger append_only on reservation_event`)
  await knex.raw(
    `create trigger append_only before update of tenant_id, id, reservation_id, transition, command, "from", "to", changes, actor, business_date, at, request_id
     or delete on reservation_event for each row when (not purging()) execute function refuse_change()`,
  )
  await knex.raw(`grant update (reason, override) on reservation_event to pousada_service`)
}
