import type { Knex } from 'knex'

const isOver = `state in ('succeeded', 'failed', 'not_sent')`
const isMoney = `operation in ('submit', 'cancel', 'refund')`

/** The journal of outside calls forgets: calls that are over are found by their age, those of money apart, which are kept for longer. */
export const up = async (knex: Knex) => {
  await knex.raw(`grant delete on external_call to pousada_service`)
  await knex.raw(
    `create index external_call_money_over on external_call (finished_at, id) where ${isOver} and ${isMoney}`,
  )
  await knex.raw(
    `create index external_call_other_over on external_call (finished_at, id) where ${isOver} and not (${isMoney})`,
  )
}
