import type { Knex } from 'knex'

/** What the sandbox gateway has still to book, to pay out or to give back is found without its whole history. */
export const up = async (knex: Knex) => {
  for (const index of [
    `sandbox_object_unbooked on sandbox_object (account_ref, kind, created_at, id) where kind in ('charge', 'refund', 'dispute') and state->'booked' is null`,
    `sandbox_object_paid_out on sandbox_object (account_ref, (state->>'payout'), created_at, id) where kind = 'transaction'`,
    `sandbox_object_refund_of on sandbox_object (account_ref, (state->>'charge')) where kind = 'refund'`,
    `sandbox_object_txid on sandbox_object (account_ref, (state->>'txid')) where kind in ('pix', 'pix_callback')`,
  ])
    await knex.raw(`create index ${index}`)
}
