import type { Knex } from 'knex'

/** Figures of a day read what is open now, and what has changed since: the dated facts, by their days. */
export const up = async (knex: Knex) => {
  for (const table of ['receivable_fact', 'payable_fact', 'supplier_credit_fact', 'receipt_allocation'])
    await knex.raw(`create index ${table}_days on ${table} (tenant_id, dated_on)`)
  await knex.raw(`create index receipt_refund_requested on receipt_refund (tenant_id, requested_on)`)
  await knex.raw(`create index receipt_refund_ended on receipt_refund (tenant_id, ended_on) where ended_on is not null`)
  await knex.raw(`create index receipt_reversed on receipt (tenant_id, reversed_on) where reversed_on is not null`)
  await knex.raw(
    `create index supplier_credit_available on supplier_credit (tenant_id, book_id) where available > 0 and status = 'open'`,
  )
}
