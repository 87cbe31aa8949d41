import type { Knex } from 'knex'

/** Money that came and went back by the days of a report: those of the business, of the wall where there were none, and of the postings of refunds. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index payment_business_date on payment (tenant_id, property_id, business_date) where business_date is not null and captured_amount > 0`,
  )
  await knex.raw(
    `create index payment_captured_undated on payment (tenant_id, property_id, captured_at) where business_date is null and captured_amount > 0`,
  )
  await knex.raw(
    `create index posting_event_refund on posting_event (tenant_id, posting_date) where event in ('payment.refund_succeeded', 'payment.refund_failed')`,
  )
}
