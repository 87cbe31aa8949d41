import type { Knex } from 'knex'
import { platformTable, sweepFunction } from './support.ts'

/**
 * Imports that go on where they were cut off, notices about money for owner and finance, disputes whose evidence is no longer needed, and a sweep of
 * unallocated money that meets each payment once.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`
    alter table gateway_account
      add column import_since timestamptz,
      add column import_started_at timestamptz,
      add constraint gateway_account_import check ((import_cursor is null) = (import_since is null) and (import_since is null) = (import_started_at is null))`)

  await platformTable(
    knex,
    'finance_notice',
    `id uuid not null default gen_random_uuid(),
     tenant_id uuid not null references tenant (id),
     kind text not null,
     subject_id uuid not null,
     label text not null,
     day date,
     created_at timestamptz not null default now(),
     primary key (tenant_id, id),
     constraint finance_notice_kind check (kind in ('finance_dispute', 'finance_payout', 'finance_account')),
     constraint finance_notice_label check (length(label) <= 200)`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index finance_notice_by_id on finance_notice (id)`)

  await knex.raw(
    `create index dispute_evidence on dispute (closed_at) where evidence is not null and closed_at is not null`,
  )
  await sweepFunction(
    knex,
    'disputes_with_old_evidence(most int)',
    'tenant_id uuid, id uuid',
    `select d.tenant_id, d.id from dispute d
     where d.evidence is not null and d.closed_at is not null and d.closed_at < now() - interval '90 days' order by d.closed_at limit most`,
  )

  await knex.raw(`alter table payment add column unallocated_told boolean not null default false`)
  await knex.raw(
    `update payment p set unallocated_told = true where exists (select from payment_exception e
       where e.tenant_id = p.tenant_id and e.subject_type = 'payment' and e.subject_id = p.id)`,
  )
  await knex.raw(`drop index payment_unallocated`)
  await knex.raw(
    `create index payment_unallocated on payment (captured_at)
     where status = 'captured' and not unallocated_told and allocated_amount + refund_reserved < captured_amount`,
  )
  await knex.raw(`drop function payments_unallocated(int)`)
  await sweepFunction(
    knex,
    'payments_unallocated(most int)',
    'tenant_id uuid, id uuid',
    `select p.tenant_id, p.id from payment p
     where p.captured_at < now() - interval '24 hours' and p.status = 'captured' and not p.unallocated_told
       and p.allocated_amount + p.refund_reserved < p.captured_amount
     order by p.captured_at limit most`,
  )
}
