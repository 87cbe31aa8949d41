import type { Knex } from 'knex'

/**
 * The day from which the present schedule of an installment counts, where it has had another: what was open on a past day is found by it among all that are
 * settled. An expression over JSON would serve no index under row-level security.
 */
export const up = async (knex: Knex) => {
  for (const document of ['payable', 'receivable']) {
    await knex.raw(
      `alter table ${document}_installment add column replanned_since text
       generated always as (case when jsonb_array_length(versions) > 1 then versions -> -1 ->> 'since' end) stored`,
    )
    await knex.raw(
      `create index ${document}_installment_replanned on ${document}_installment (tenant_id, replanned_since) where replanned_since is not null`,
    )
  }
}
