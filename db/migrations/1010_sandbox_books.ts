import type { Knex } from 'knex'

/** Indexes of the sandbox gateway: an account's objects that are not booked, its transactions by payout, refunds by charge and Pix by txid, without its history. */
export const up = async (knex: Knex) => {
  for (const index of [
    `sandbox_object_unbooked on sandbox_object (account_ref, kind, created_at, id) where kind in ('charge', 'refund', 'dispute') and state->'booked' is null`,
    `sandbox_object_paid_out on sandbox_object (account_ref, (state->>'payout'), created_at, id) where kind = 'transaction'`,
    `sandbox_object_refund_of on sandbox_object (account_ref, (state->>'charge')) where kind = 'refund'`,
    `sandbox_object_txid on sandbox_object (account_ref, (state->>'txid')) where kind in ('pix', 'pix_callback')`,
  ])
    await knex.raw(`create index ${index}`)
}
