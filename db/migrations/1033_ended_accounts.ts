import type { Knex } from 'knex'

/** When an account at a gateway was disconnected: its list is read for thirty days more, and an import that ends is no new beginning of them. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table gateway_account add column ended_at timestamptz`)
  await knex.raw(`alter table gateway_account disable trigger user`)
  await knex.raw(`update gateway_account set ended_at = updated_at where status = 'disconnected'`)
  await knex.raw(`alter table gateway_account enable trigger user`)
  // A process of before ends an account without it.
  await knex.raw(
    `alter table gateway_account add constraint gateway_account_ended check (ended_at is null or status = 'disconnected')`,
  )
}
