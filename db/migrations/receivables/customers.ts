import type { Knex } from 'knex'
import { refers, stamps } from '../payables/words.ts'
import { tenantTable, touch } from '../support.ts'

/** Those who are billed. `exposure` is what they owe or will be billed, and stands beside the limit that it is compared with. */
export const customers = async (knex: Knex) => {
  await tenantTable(
    knex,
    'customer',
    `kind text not null,
     legal_name text not null,
     trade_name text not null default '',
     country_code text not null default 'BR',
     document text,
     search text not null,
     sealed bytea,
     language text not null default 'pt-BR',
     guest_id uuid,
     term_days int not null default 30,
     billing text not null default 'per_stay',
     billing_day int not null default 1,
     currency text not null,
     credit_limit bigint,
     exposure bigint not null default 0,
     on_hold boolean not null default false,
     hold_reason text,
     withholding_tax_code_ids uuid[] not null default '{}',
     dunning_exempt boolean not null default false,
     status text not null default 'active',
     ${stamps},
     constraint customer_kind check (kind in ('company', 'agency', 'ota', 'person', 'public_body')),
     constraint customer_names check (char_length(legal_name) between 1 and 200 and char_length(trade_name) <= 200),
     constraint customer_guest check (guest_id is null or kind = 'person'),
     constraint customer_terms check (term_days between 0 and 365 and billing_day between 1 and 28),
     constraint customer_billing check (billing in ('per_stay', 'monthly')),
     constraint customer_credit_limit check (credit_limit between 0 and 10000000000000),
     constraint customer_exposure check (exposure >= 0),
     constraint customer_held check (on_hold = (hold_reason is not null)),
     constraint customer_status check (status in ('active', 'archived')),
     constraint customer_archived_is_empty check (status = 'active' or exposure = 0),
     ${refers('guest_id', 'guest')}`,
  )
  await touch(knex, 'customer')
  await knex.raw(
    `create unique index customer_document on customer (tenant_id, country_code, document) where document is not null`,
  )
  await knex.raw(`create unique index customer_guest_once on customer (tenant_id, guest_id) where guest_id is not null`)
  await knex.raw(`create index customer_by_name on customer (tenant_id, legal_name, id)`)
  await knex.raw(
    `create index customer_billing_day on customer (tenant_id, billing_day, id) where billing = 'monthly' and status = 'active'`,
  )
  await knex.raw(`alter table company add column customer_id uuid, add ${refers('customer_id', 'customer')}`)
  await knex.raw(`create index company_customer on company (tenant_id, customer_id) where customer_id is not null`)
}
