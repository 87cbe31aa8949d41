import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/**
 * Texts at Twilio that are known to be messages of a tenant, whichever it is: the account of the service carries those of all, so that one of unknown outcome
 * could be taken for that of another tenant. Answers ids alone that the caller named.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index message_attempt_provider_of_all on message_attempt (provider_id) where provider_id is not null and kind in ('sms', 'whatsapp')`,
  )
  await sweepFunction(
    knex,
    'message_texts_claimed(texts text[])',
    'provider_id text',
    `select a.provider_id from message_attempt a where a.kind in ('sms', 'whatsapp') and a.provider_id = any(texts)`,
  )
}
