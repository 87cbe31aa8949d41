import type { Knex } from 'knex'
import { channels } from './ocp/channels.ts'
import { messages } from './ocp/messages.ts'
import { templates } from './ocp/templates.ts'

/** Messages of the house to guests: channels, templates, automations, messages, their attempts, and the addresses not to write to. */
export const up = async (knex: Knex) => {
  await channels(knex)
  await templates(knex)
  await messages(knex)
}
