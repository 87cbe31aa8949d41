import type { Knex } from 'knex'

/** Whatever names a property in the ledger names one of the same book; so a property with postings cannot change its book. */
export const up = async (knex: Knex) => {
  for (const table of ['journal_line', 'account_balance', 'posting_event']) {
    await knex.raw(`
      alter table ${table} add constraint ${table}_property
      foreign key (tenant_id, property_id, book_id) references property (tenant_id, id, book_id)`)
  }
  await knex.raw(`
    alter table business_day add constraint business_day_property foreign key (tenant_id, property_id) references property (tenant_id, id)`)
}
