import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import type { ReceivedMail } from '../../scripts/services/mailbox.ts'
import type { Left } from './faults.ts'
import type { GatewayDeed } from './gateway.ts'
import type { Command, Wrong } from './ledger.ts'

/** What the world outside the database knows. */
export type Evidence = {
  deeds: readonly GatewayDeed[]
  mails: readonly ReceivedMail[]
  commands: readonly Command[]
  wrong: readonly Wrong[]
  left: Left
}

export type Check = (database: Knex, evidence: Evidence) => Promise<unknown[]>

/** Rows that should not be. */
export const none =
  (text: string): Check =>
  (database) =>
    sql(database, text)
