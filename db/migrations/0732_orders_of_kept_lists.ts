import type { Knex } from 'knex'

const waiting = '(matched_at is null)'

/** Orders of lists in their whole length, so that a page of them needs no sorting. */
export const up = async (knex: Knex) => {
  await knex.raw(`drop index webhook_delivery_listed`)
  await knex.raw(
    `create index webhook_delivery_listed on webhook_delivery (tenant_id, created_at desc, sequence desc, id)`,
  )
  // Of states that few deliveries are in: those that have arrived are found among all.
  await knex.raw(
    `create index webhook_delivery_state on webhook_delivery (tenant_id, status, created_at desc, sequence desc, id) where status <> 'delivered'`,
  )
  // In each order those come first that a room can be offered to. The order of `-priority` has the oldest first within a priority, so each way needs an index.
  const orders = [
    'priority desc, created_at, id',
    'created_at, id',
    'created_at desc, id',
    'arrival, created_at, id',
    'arrival desc, created_at, id',
  ]
  for (const [index, order] of orders.entries())
    await knex.raw(
      `create index waitlist_entry_listed_${index + 3} on waitlist_entry (tenant_id, status, ${waiting}, ${order})`,
    )
}
