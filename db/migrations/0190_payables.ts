import type { Knex } from 'knex'
import { orders } from './payables/orders.ts'
import { payables } from './payables/payables.ts'
import { payments } from './payables/payments.ts'
import { suppliers } from './payables/suppliers.ts'

/** What the house owes: suppliers, orders, bills with approvals and installments, payments, credits, and bills that recur. */
export const up = async (knex: Knex) => {
  await suppliers(knex)
  await orders(knex)
  await payables(knex)
  await payments(knex)
}
