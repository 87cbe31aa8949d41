import type { Knex } from 'knex'

/**
 * Bulk changes of a property are applied in the order in which they were asked for: the time of a row is that of its transaction's beginning, and says
 * nothing of it. Rows that are done need no number, so the table is not written anew.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`create sequence rate_change_seq`)
  await knex.raw(`grant usage on sequence rate_change_seq to pousada_service`)
  await knex.raw(`alter table rate_change add column seq bigint`)
  await knex.raw(`alter table rate_change alter column seq set default nextval('rate_change_seq')`)
  await knex.raw(
    `update rate_change c set seq = w.seq from (
       select o.tenant_id, o.id, nextval('rate_change_seq') as seq from (
         select tenant_id, id from rate_change where status = 'queued' order by created_at, id offset 0) o) w
     where c.tenant_id = w.tenant_id and c.id = w.id`,
  )
  await knex.raw(
    `create index rate_change_waiting on rate_change (tenant_id, property_id, seq) where status = 'queued'`,
  )
}
