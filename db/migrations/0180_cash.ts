import type { Knex } from 'knex'
import { accounts } from './cash/accounts.ts'
import { movements } from './cash/movements.ts'
import { sessions } from './cash/sessions.ts'
import { transfers } from './cash/transfers.ts'

/** Where the money is: accounts, sessions of registers with their counts, transfers, and movements. */
export const up = async (knex: Knex) => {
  await accounts(knex)
  await sessions(knex)
  await transfers(knex)
  await movements(knex)
}
