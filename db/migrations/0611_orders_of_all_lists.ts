import type { Knex } from 'knex'

/** A conversation waits for an answer. */
const waits = `(status = 'open' and last_inbound_at is not null and (answered_at is null or answered_at < last_inbound_at))`

/**
 * Orders of lists, and their orders below the filters that people use, after the tenant. Each costs one more entry for a row that is made; tables that a
 * house writes to many times for each booking have the fewest.
 */
const orders: Readonly<Record<string, readonly string[]>> = {
  // Of what is made for each booking, sale and message.
  booking: [`quote_id`, `updated_at, id`],
  reservation: [`departure, id`],
  folio: [`kind, created_at desc, id`],
  unit_assignment: [`starts_on, id`, `status, starts_on`],
  pos_order: [`status, created_at desc, id`, `number, id`, `total, id`],
  inventory_consumption: [`created_at, id`, `business_date, id`, `kind, created_at, id`],
  inventory_movement: [`kind, created_at desc, id`],
  housekeeping_task: [`property_id, date desc, priority`, `kind, date desc, priority`],
  pix_charge: [`created_at desc, id`, `status, created_at desc, id`, `kind, created_at desc, id`],
  balance_transaction: [`occurred_at desc, seq desc, id`, `kind, occurred_at desc, seq desc, id`],
  message: [`scheduled_for, id`],
  quote: [`property_id, created_at desc, id`, `expires_at, id`, `arrival, id`],
  bank_statement_line: [`booked_on, position, id`, `status, booked_on, position, id`],
  cash_movement: [`source_id`],
  refund: [`status, created_at desc, id`],
  channel_booking: [`created_at desc, id desc`, `status, created_at desc, id desc`],
  channel_push: [`channel_connection_id, status, started_at desc, id desc`],
  // Of what is made a few times a day.
  waitlist_entry: [
    `status, (matched_at is null), priority, created_at, id`,
    `property_id, status, (matched_at is null), priority, created_at, id`,
  ],
  booking_group: [`arrival, id`, `departure`],
  company: [`name_search, id`, `kind, name_search, id`],
  supplier: [`status, legal_name, id`],
  supplier_credit: [`status, issued_on desc, created_at desc, id`],
  payable: [`kind, issued_on desc, id`],
  payable_installment: [`due_on, payable_id`],
  payable_payment: [`status, pay_on desc, created_at desc, id`],
  payable_payment_item: [`installment_id`],
  purchase_order: [`expected_on`],
  customer: [`status, legal_name, id`, `kind, legal_name, id`],
  receivable: [`kind, issued_on desc, id`],
  receivable_installment: [`due_on, receivable_id`],
  fiscal_document: [`status, created_at desc, id`, `rps_number, id`, `total, id`],
  dunning_run: [`run_on desc, id`],
  dunning_notice: [`status`],
  entry_draft: [
    `created_at desc, id`,
    `status, created_at desc, id`,
    `created_by, created_at desc, id`,
    `posting_date`,
  ],
  business_day: [`date desc, id`, `status, date desc, id`],
  report_run: [`status, created_at desc, id`, `created_by, created_at desc, id`],
  inventory_count: [`created_at, id`, `status, created_at, id`, `property_id, created_at, id`],
  cash_transfer: [`created_at desc, id`, `(case when sent_on is null then scheduled_on else sent_on end)`],
  cash_session: [
    `opened_at desc, id`,
    `property_id, opened_at desc, id`,
    `status, opened_at desc, id`,
    `business_date`,
  ],
  bank_statement: [`last_on desc nulls first, seq desc, id`, `status, last_on desc nulls first, seq desc, id`],
  compensation: [
    `(status <> 'proposed'), created_at desc, id`,
    `property_id, (status <> 'proposed'), created_at desc, id`,
    `created_at`,
  ],
  lost_item: [`created_at, id`, `at, id`, `keep_until, id`, `property_id, at, id`],
  issue: [`kind, next_due_at, id`],
  privacy_request: [`kind, due_on, id`],
  dispute: [`response_due_at, opened_at desc, id`, `status, response_due_at, opened_at desc, id`],
  payout: [`created_on desc, created_at desc, id`, `status, created_on desc, id`],
  reconciliation: [`date desc, id`, `status, date desc, id`],
  payment_exception: [`kind, status, created_at desc, id`],
  night_audit: [`status, business_date desc, id desc`],
  rate_change: [`created_at desc, id desc`, `status, created_at desc, id desc`, `created_by, created_at desc, id desc`],
  conversation: [
    `${waits} desc, last_message_at desc, id`,
    `property_id, ${waits} desc, last_message_at desc, id`,
    `kind, ${waits} desc, last_message_at desc, id`,
  ],
  campaign: [`created_at desc, id`, `status, created_at desc, id`],
  suppression: [`kind, created_at desc, id`],
  unit_block: [`"from", id`, `kind, "from", id`, `status, "from", id`],
  housekeeping_sheet: [`date desc, created_at, id`],
}

/** Indexes of a few rows of a table. */
const few = async (knex: Knex) => {
  // postingEvents.list by what went wrong.
  await knex.raw(
    `create index posting_event_wrong on posting_event (tenant_id, status, seq) where status in ('failed', 'dismissed')`,
  )
  // ledgerEntries.list by kind: most are of one.
  await knex.raw(
    `create index journal_entry_kind on journal_entry (tenant_id, book_id, kind, posting_date, sequence) where kind <> 'standard'`,
  )
  // overbookingLimits.list. Nights that are sold do not touch it.
  await knex.raw(`create index pool_night_oversold on pool_night (tenant_id, pool_id, night) where oversell > 0`)
  // Whether a unit was left or taken after it was looked at (units.list, housekeeping.board).
  await knex.raw(
    `create index unit_assignment_moved on unit_assignment (tenant_id, unit_id, updated_at) where status in ('occupied', 'ended')`,
  )
  // Arrivals and departures of a day (frontDesk.arrivals, frontDesk.departures), however many guests have left before.
  for (const way of ['in', 'out'])
    await knex.raw(
      `create index reservation_checked_${way} on reservation (tenant_id, property_id, check_${way}_business_date) where check_${way}_business_date is not null`,
    )
  // Messages that a house has sent in a day, and a person in an hour, before another is.
  await knex.raw(`create index message_attempt_made on message_attempt (tenant_id, property_id, kind, created_at)`)
  await knex.raw(`create index message_by_staff on message (tenant_id, created_by, created_at) where origin = 'staff'`)
  // Suggestions for lines of a bank: by the amount as it stands, since no index by a formula serves a condition under row-level security.
  await knex.raw(`drop index cash_movement_unmatched`)
  await knex.raw(
    `create index cash_movement_unmatched on cash_movement (tenant_id, cash_account_id, amount, booked_on) where matched < abs(amount)`,
  )
}

export const up = async (knex: Knex) => {
  for (const [table, lists] of Object.entries(orders))
    for (const [index, columns] of lists.entries())
      await knex.raw(`create index ${table}_listed_${index + 1} on ${table} (tenant_id, ${columns})`)
  await few(knex)
  // Lists of operators: invoices of all tenants in a state.
  await knex.raw(`create index subscription_invoice_status on subscription_invoice (status, issued_at desc, id)`)
}
