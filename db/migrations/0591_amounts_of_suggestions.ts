import type { Knex } from 'knex'

/** What a line of a bank statement may pay is looked for by its amount, signed as the bank would say it, and by the id of a charge. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index receivable_installment_amount on receivable_installment (tenant_id, open, due_on) where open > 0`,
  )
  await knex.raw(
    `create index payable_installment_amount on payable_installment (tenant_id, (-open), due_on) where open > 0`,
  )
  await knex.raw(`create index payout_amount on payout (tenant_id, amount)`)
  await knex.raw(`create index cash_movement_txid on cash_movement (tenant_id, txid) where txid is not null`)
}
