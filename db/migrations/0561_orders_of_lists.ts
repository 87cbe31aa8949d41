import type { Knex } from 'knex'

/** Indexes by the list that each serves, after the tenant: its order, or its order under a filter. Each costs one more entry for a row that is made. */
const orders: Readonly<Record<string, string>> = {
  // reservations.list by holdExpiresAt. The time of a hold is indexed already, so that a change of it costs no more than before.
  booking_by_hold: `booking (tenant_id, hold_expires_at, id)`,
  // payables.list and receivables.list by amount, by what is open and by the time of making.
  payable_by_gross: `payable (tenant_id, gross, id)`,
  payable_by_open: `payable (tenant_id, open, id)`,
  payable_created: `payable (tenant_id, created_at, id)`,
  receivable_by_total: `receivable (tenant_id, total, id)`,
  receivable_by_open: `receivable (tenant_id, open, id)`,
  receivable_created: `receivable (tenant_id, created_at, id)`,
  // issues.list by priority.
  issue_by_priority: `issue (tenant_id, array_position(array['urgent', 'high', 'normal', 'low'], priority), id)`,
  // receipts.list: money that is left first, then what has no customer, then the latest.
  receipt_listed: `receipt (tenant_id, (status = 'recorded' and available > 0) desc, (customer_id is null) desc, received_on desc, created_at desc, id)`,
  // postingEvents.list.
  posting_event_listed: `posting_event (tenant_id, seq)`,
  // cashMovements.list, and of a kind.
  cash_movement_listed: `cash_movement (tenant_id, booked_on desc, seq desc, id)`,
  cash_movement_kind_listed: `cash_movement (tenant_id, kind, booked_on desc, seq desc, id)`,
  // inventoryMovements.list by occurredOn, and by createdAt in a house.
  inventory_movement_occurred: `inventory_movement (tenant_id, occurred_on, id)`,
  inventory_movement_property_created: `inventory_movement (tenant_id, property_id, created_at, id)`,
  // posOrders.list by businessDate.
  pos_order_date: `pos_order (tenant_id, business_date, id)`,
  // housekeepingTasks.list, and in a state: a day is sorted into the round, not the table.
  housekeeping_task_listed: `housekeeping_task (tenant_id, date desc, priority)`,
  housekeeping_task_status_listed: `housekeeping_task (tenant_id, status, date desc, priority)`,
  // privacyRequests.list in a state.
  privacy_request_status_due: `privacy_request (tenant_id, status, due_on, id)`,
  // paymentExceptions.list, and in a state.
  payment_exception_listed: `payment_exception (tenant_id, status, created_at desc, id)`,
}

/** Lists show what is open by the column that says so, which an index by its formula does not serve. */
const openInstallments = async (knex: Knex, table: string) => {
  await knex.raw(`drop index ${table}_due`)
  await knex.raw(`create index ${table}_due on ${table} (tenant_id, due_on, id) where open > 0`)
}

export const up = async (knex: Knex) => {
  for (const [name, on] of Object.entries(orders)) await knex.raw(`create index ${name} on ${on}`)
  // payableInstallments.list and receivableInstallments.list: what is paid leaves the index.
  for (const table of ['payable_installment', 'receivable_installment']) await openInstallments(knex, table)
}
