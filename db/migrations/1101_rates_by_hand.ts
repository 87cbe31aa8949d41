import type { Knex } from 'knex'

/** Rates of taxes withheld that a person gave: those of drafts of before that are not the rate of the day of issue. */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table payable_withholding add column rate_given boolean not null default false`)
  await knex.raw(
    `update payable_withholding w set rate_given = true from payable p
     where p.tenant_id = w.tenant_id and p.id = w.payable_id and p.status in ('draft', 'awaiting_approval')
       and not exists (select from tax_rate r where r.tenant_id = w.tenant_id and r.tax_code_id = w.tax_code_id and r.rate = w.rate
         and daterange(r.valid_from, r.valid_to, '[]') @> p.issued_on)`,
  )
}
