import type { Knex } from 'knex'
import { channels } from './ocp/channels.ts'
import { messages } from './ocp/messages.ts'
import { templates } from './ocp/templates.ts'

/** What the house writes to guests: channels, templates, automations, messages, their attempts, and whom not to write to. */
export const up = async (knex: Knex) => {
  await channels(knex)
  await templates(knex)
  await messages(knex)
}
