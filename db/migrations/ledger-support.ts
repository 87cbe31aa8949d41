import type { Knex } from 'knex'

const parts = 16

export const partsOf = (table: string) => Array.from({ length: parts }, (_, part) => `${table}_p${part}`)

/** Makes the parts of a table that is partitioned by hash of the tenant. */
export const splitByTenant = async (knex: Knex, table: string) => {
  for (const [remainder, part] of partsOf(table).entries()) {
    await knex.raw(
      `create table ${part} partition of ${table} for values with (modulus ${parts}, remainder ${remainder})`,
    )
  }
}

/** A trigger's function, new or in the place of the one before, with the owner's rights; `settings` hold while it runs. */
export const wall = (knex: Knex, name: string, body: string, settings = '') =>
  knex.raw(
    `create or replace function ${name}() returns trigger language plpgsql security definer set search_path = public, pg_temp ${settings} as $wall$ ${body} $wall$`,
  )
