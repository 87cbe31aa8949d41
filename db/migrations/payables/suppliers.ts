import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from '../support.ts'
import { refers, stamps } from './words.ts'

/** Suppliers with their bank details, and who approves which amounts. */
export const suppliers = async (knex: Knex) => {
  await tenantTable(
    knex,
    'supplier',
    `legal_name text not null,
     trade_name text not null default '',
     country_code text not null default 'BR',
     document text,
     search text not null,
     state_registration text not null default '',
     city_registration text not null default '',
     sealed bytea,
     term_days int not null default 30,
     account_id uuid,
     cost_center_id uuid,
     withholding_tax_code_ids uuid[] not null default '{}',
     payments_blocked boolean not null default false,
     block_reason text,
     status text not null default 'active',
     notes text not null default '',
     ${stamps},
     constraint supplier_names check (char_length(legal_name) between 1 and 200 and char_length(trade_name) <= 200),
     constraint supplier_terms check (term_days between 0 and 365),
     constraint supplier_blocked check (payments_blocked = (block_reason is not null)),
     constraint supplier_status check (status in ('active', 'archived')),
     ${refers('account_id', 'account')},
     ${refers('cost_center_id', 'cost_center')}`,
  )
  await touch(knex, 'supplier')
  await knex.raw(
    `create unique index supplier_document on supplier (tenant_id, country_code, document) where document is not null`,
  )
  await knex.raw(`create index supplier_by_name on supplier (tenant_id, legal_name, id)`)
  for (const column of ['account_id', 'cost_center_id'])
    await knex.raw(`create index supplier_${column} on supplier (tenant_id, ${column}) where ${column} is not null`)

  await tenantTable(
    knex,
    'supplier_bank_details',
    `supplier_id uuid not null,
     number int not null,
     sealed bytea not null,
     third_party_reason text,
     status text not null default 'proposed',
     proposed_by uuid not null,
     decided_by uuid,
     decided_at timestamptz,
     usable_from timestamptz,
     self_approved boolean not null default false,
     note text,
     created_at timestamptz not null default now(),
     constraint supplier_bank_details_number unique (tenant_id, supplier_id, number),
     constraint supplier_bank_details_status check (status in ('proposed', 'approved', 'rejected', 'replaced')),
     constraint supplier_bank_details_decided check ((status in ('approved', 'rejected')) = (decided_by is not null)
       and (status = 'proposed') = (decided_at is null)),
     constraint supplier_bank_details_usable check ((status = 'approved') = (usable_from is not null) and usable_from >= decided_at),
     constraint supplier_bank_details_two_people check (status <> 'approved' or self_approved or decided_by <> proposed_by),
     ${refers('supplier_id', 'supplier')}`,
  )
  await appendOnly(
    knex,
    'supplier_bank_details',
    'of supplier_id, number, sealed, third_party_reason, proposed_by, created_at',
  )
  await knex.raw(
    `create unique index supplier_bank_details_one_open on supplier_bank_details (tenant_id, supplier_id) where status = 'proposed'`,
  )

  await tenantTable(
    knex,
    'approval_policy',
    `book_id uuid not null,
     number int not null,
     bands jsonb not null,
     cool_off_hours int not null,
     price_tolerance int not null,
     created_by uuid,
     created_at timestamptz not null default now(),
     constraint approval_policy_number unique (tenant_id, book_id, number),
     constraint approval_policy_limits check (cool_off_hours between 0 and 168 and price_tolerance between 0 and 2000
       and jsonb_array_length(bands) between 1 and 10),
     ${refers('book_id', 'book')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'approval_policy')
}
