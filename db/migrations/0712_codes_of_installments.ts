import type { Knex } from 'knex'

/** Slips and Pix codes are looked up before another bill may have them. */
export const up = async (knex: Knex) => {
  for (const column of ['boleto_line', 'pix_code'])
    await knex.raw(
      `create index payable_installment_${column} on payable_installment (tenant_id, ${column}) where ${column} is not null`,
    )
}
