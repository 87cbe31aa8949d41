import type { Knex } from 'knex'
import { sweepFunction, tenantTable } from './support.ts'

const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`

/** Prices that staff has frozen. A quote never changes: what was booked from it is known by the booking. */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'quote',
    `property_id uuid not null,
     number text not null,
     guest_id uuid,
     company_id uuid,
     rooms jsonb not null,
     currency text not null,
     total bigint not null,
     due_now bigint not null,
     promo_code text,
     promo_code_id uuid,
     locale text not null,
     hash text not null,
     arrival date not null,
     departure date not null,
     override jsonb,
     expires_at timestamptz not null,
     created_at timestamptz not null default now(),
     constraint quote_number unique (tenant_id, number),
     constraint quote_number_form check (number ~ '^[0-9A-HJKMNP-TV-Z]{8}$'),
     constraint quote_rooms check (jsonb_array_length(rooms) between 1 and 9),
     constraint quote_amounts check (least(total, due_now) >= 0),
     foreign key (tenant_id, property_id, currency) references property (tenant_id, id, currency),
     ${refers('guest_id', 'guest')},
     ${refers('company_id', 'company')},
     ${refers('promo_code_id', 'promo_code')}`,
    { grant: 'select, insert, delete' },
  )
  await knex.raw(`create index quote_property on quote (tenant_id, property_id, currency)`)
  await knex.raw(`create index quote_newest on quote (tenant_id, created_at desc, id)`)
  await knex.raw(`create index quote_guest on quote (tenant_id, guest_id) where guest_id is not null`)
  await knex.raw(`create index quote_company on quote (tenant_id, company_id) where company_id is not null`)
  await knex.raw(`create index quote_promo_code on quote (tenant_id, promo_code_id) where promo_code_id is not null`)
  await knex.raw(`create index quote_over on quote (expires_at)`)
  await sweepFunction(
    knex,
    'quotes_purgeable(most int)',
    'tenant_id uuid, id uuid',
    `select q.tenant_id, q.id from quote q where q.expires_at < now() - interval '180 days'
       and not exists (select from booking b where b.tenant_id = q.tenant_id and b.quote_id = q.id) order by q.expires_at limit most`,
  )
}
