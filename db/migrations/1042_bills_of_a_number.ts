import type { Knex } from 'knex'

/** Bills and credit notes of one number are found whatever their payee: a supplier may be named, too. */
export const up = async (knex: Knex) => {
  for (const table of ['payable', 'supplier_credit'])
    await knex.raw(
      `create index ${table}_of_number on ${table} (tenant_id, upper(number)) where number is not null and status <> 'void'`,
    )
}
