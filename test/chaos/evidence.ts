import type { Knex } from 'knex'
import { queues } from '../../config/queues.ts'
import type { QueueName } from '../../config/queues.ts'
import { sql } from '../../db/lib/connection.ts'
import type { ReceivedMail } from '../../scripts/services/mailbox.ts'
import type { Text } from './carrier.ts'
import type { Left } from './faults.ts'
import type { GatewayDeed } from './gateway.ts'
import type { Removed } from './hooks.ts'
import type { Command, Wrong } from './ledger.ts'
import type { Refusal } from './no-sayers.ts'
import type { Hook } from './receiver.ts'

/** Facts that the world outside the database knows. */
export type Evidence = {
  deeds: readonly GatewayDeed[]
  mails: readonly ReceivedMail[]
  /** SMS and WhatsApp messages that the carrier has taken. */
  texts: readonly Text[]
  commands: readonly Command[]
  wrong: readonly Wrong[]
  left: Left
  /** Webhooks that the receiver has heard, and addresses that were taken away from it. */
  hooks: readonly Hook[]
  removed: readonly Removed[]
  /** Guests who said no, and were heard. */
  refusals: readonly Refusal[]
}

export type Check = (database: Knex, evidence: Evidence) => Promise<unknown[]>

/** Rows that should not be. */
export const none =
  (text: string): Check =>
  (database) =>
    sql(database, text)

/** The message that a mail carries, by its Message-ID. */
export const messageOf = (messageId: string) => /^<?([0-9a-f-]{36})\.\d+@/.exec(messageId)?.[1] ?? null

/** The time after which a start is missed whose process died: it says running until its lock is over, and two looks for stalled ones later. */
export const missedAfterMs = (queue: QueueName): number => queues[queue].lockMs + 2 * queues[queue].stalledMs + 5_000
