import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/**
 * Files of bills end five years after the bill was settled or voided, those of entries five years after they were posted. A file that was added later ends five
 * years after that: it cannot be older than its record's end, and so the index on its own day finds all that may be due.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index attachment_of_accounts on attachment (created_at) where module in ('accounts-payable', 'financial')`,
  )
  const due = `a.created_at <= now() - interval '5 years'`
  await sweepFunction(
    knex,
    'bill_files_to_erase(most int)',
    'tenant_id uuid, id uuid',
    `select distinct p.tenant_id, p.id from attachment a join payable p on p.tenant_id = a.tenant_id and p.id = a.entity_id
     where a.module = 'accounts-payable' and a.entity_type = 'payable' and ${due}
       and (p.status = 'void' and p.voided_on <= (now() - interval '5 years')::date
         or p.status = 'paid' and not exists (select from payable_fact f where f.tenant_id = p.tenant_id and f.payable_id = p.id
           and f.created_at > now() - interval '5 years'))
     limit most`,
  )
  await sweepFunction(
    knex,
    'entry_files_to_erase(most int)',
    'tenant_id uuid, id uuid',
    `select distinct e.tenant_id, e.id from attachment a join journal_entry e on e.tenant_id = a.tenant_id and e.id = a.entity_id
     where a.module = 'financial' and a.entity_type = 'entry' and ${due}
       and greatest(e.posting_date, e.created_at::date) <= (now() - interval '5 years')::date
     limit most`,
  )
}
