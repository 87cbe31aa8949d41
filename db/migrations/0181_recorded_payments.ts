import type { Knex } from 'knex'

/** Where recorded money lies, and where it went back from. */
export const up = async (knex: Knex) => {
  for (const table of ['payment', 'refund'])
    await knex.raw(
      `alter table ${table} add column cash_account_id uuid, add column cash_session_id uuid,
         add constraint ${table}_cash_account foreign key (tenant_id, cash_account_id, currency) references cash_account (tenant_id, id, currency),
         add constraint ${table}_cash_session foreign key (tenant_id, cash_session_id) references cash_session (tenant_id, id)`,
    )
  for (const table of ['payment', 'refund']) {
    await knex.raw(
      `create index ${table}_of_cash_account on ${table} (tenant_id, cash_account_id, currency) where cash_account_id is not null`,
    )
    await knex.raw(
      `create index ${table}_of_session on ${table} (tenant_id, cash_session_id) where cash_session_id is not null`,
    )
  }
  await knex.raw(
    `alter table payment add constraint payment_recorded_where check ((origin = 'recorded') = (cash_account_id is not null)
       and (method <> 'cash' or cash_session_id is not null)),
     add constraint payment_of_gateway_has_no_session check (origin = 'recorded' or cash_session_id is null)`,
  )
  await knex.raw(
    `alter table refund add constraint refund_by_hand_where check ((via = 'manual') = (cash_account_id is not null)
       and (via = 'manual' or cash_session_id is null))`,
  )
  await knex.raw(
    `create unique index payment_terminal_reference on payment (tenant_id, cash_account_id, reference)
     where origin = 'recorded' and method = 'terminal' and reference is not null and status <> 'reversed'`,
  )
}
