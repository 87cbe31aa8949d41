import type { Knex } from 'knex'

/** Bills and documents are found by the days of their installments, also of those that are settled. */
export const up = async (knex: Knex) => {
  for (const document of ['payable', 'receivable'])
    await knex.raw(
      `create index ${document}_installment_due_on on ${document}_installment (tenant_id, due_on, ${document}_id) where amount > 0`,
    )
}
