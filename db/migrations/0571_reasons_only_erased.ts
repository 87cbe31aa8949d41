import type { Knex } from 'knex'

/** Words of the history of a stay change in one way alone: an erasure takes them, and leaves the code of the step. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create trigger only_erased before update of reason, override on reservation_event for each row
     when (not purging() and (
       new.reason is distinct from old.reason and new.reason is distinct from 'erased' and new.reason is distinct from split_part(old.reason, ': ', 1)
       or new.override is distinct from old.override and new.override is distinct from old.override || '{"reason":"erased"}'::jsonb))
     execute function refuse_change()`,
  )
}
