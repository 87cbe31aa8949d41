import type { Knex } from 'knex'

/** Drops indexes that another index of their table begins with, or repeats: each row wrote both, and nothing is found by the one alone. */
const spared = [
  'booking_listed_1',
  'booking_of_group',
  'message_attempt_made',
  'message_conversation',
  'support_session_superuser',
]

export const up = (knex: Knex) => knex.raw(`drop index ${spared.join(', ')}`)
