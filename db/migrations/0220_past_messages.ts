import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/** Messages go after two years; issues stand in the conversation with their guest. */
export const up = async (knex: Knex) => {
  await knex.raw(`grant delete on message, message_attempt, message_callback to pousada_service`)
  await knex.raw(
    `alter table suppression drop constraint suppression_tenant_id_message_id_fkey,
       add foreign key (tenant_id, message_id) references message (tenant_id, id) on delete set null (message_id)`,
  )
  await sweepFunction(
    knex,
    'tenants_with_past_messages()',
    'tenant_id uuid',
    `select t.id from tenant t where exists (select from message m where m.tenant_id = t.id and m.created_at < now() - interval '2 years'
       and m.status not in ('scheduled', 'queued', 'sending'))
     or exists (select from message_callback c where c.tenant_id = t.id and c.created_at < now() - interval '2 years')`,
  )
  await knex.raw(
    `alter table issue add foreign key (tenant_id, conversation_id) references conversation (tenant_id, id)`,
  )
  await knex.raw(
    `create index issue_conversation_id on issue (tenant_id, conversation_id) where conversation_id is not null`,
  )
}
