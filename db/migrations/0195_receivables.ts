import type { Knex } from 'knex'
import { credits } from './receivables/credits.ts'
import { customers } from './receivables/customers.ts'
import { folioLines } from './receivables/folios.ts'
import { receipts } from './receivables/receipts.ts'
import { receivables } from './receivables/receivables.ts'

/** What others owe the house: customers, invoices and bills of stays with installments, receipts with allocations, credit notes and write-offs. */
export const up = async (knex: Knex) => {
  await customers(knex)
  await receivables(knex)
  await receipts(knex)
  await credits(knex)
  await folioLines(knex)
}
