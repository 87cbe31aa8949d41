import type { Knex } from 'knex'
import { countAnew } from './list-counts-support.ts'

/**
 * The channel of a message beside its plan: that of the step it has come to. Under row-level security no index serves a condition on a field of a plan.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table message add column kind text`)
  await knex.raw(`
    create function message_kind() returns trigger language plpgsql as $$
    begin
      new.kind := new.plan -> least(new.step, jsonb_array_length(new.plan) - 1) ->> 'channel';
      return new;
    end $$`)
  await knex.raw(
    `create trigger message_kind before insert or update of plan, step on message for each row execute function message_kind()`,
  )
  // Nothing happens to a message by it.
  await knex.raw(`alter table message disable trigger user`)
  await knex.raw(`update message set kind = plan -> least(step, jsonb_array_length(plan) - 1) ->> 'channel'`)
  await knex.raw(`alter table message enable trigger user`)
  await knex.raw(`create index message_kind_made on message (tenant_id, kind, created_at desc, id)`)
  await countAnew(knex, 'message', ['property_id', 'status', 'kind'])
}
