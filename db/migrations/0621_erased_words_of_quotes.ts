import type { Knex } from 'knex'

/** The reason of an override in a quote is the guest's: an erasure takes it. All else of a quote stays as it was made. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create trigger only_erased before update on quote for each row
     when (not purging() and ((to_jsonb(new) - 'override') is distinct from (to_jsonb(old) - 'override')
       or new.override is distinct from old.override || '{"reason":"erased"}'::jsonb))
     execute function refuse_change()`,
  )
  await knex.raw(`grant update (override) on quote to pousada_service`)
}
