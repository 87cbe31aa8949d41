import type { Knex } from 'knex'

/**
 * What a line of a bank statement may pay is looked for by its amount and by the id of a charge. An index serves a policy of rows by plain columns alone:
 * `abs` and a minus may not see rows before the policy does.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`drop index cash_movement_unmatched`)
  await knex.raw(
    `create index cash_movement_unmatched on cash_movement (tenant_id, cash_account_id, amount, booked_on) where matched < abs(amount)`,
  )
  await knex.raw(`create index cash_movement_txid on cash_movement (tenant_id, txid) where txid is not null`)
  for (const side of ['receivable', 'payable'])
    await knex.raw(
      `create index ${side}_installment_amount on ${side}_installment (tenant_id, open, due_on) where open > 0`,
    )
  await knex.raw(`create index payout_amount on payout (tenant_id, amount)`)
}
