import type { Knex } from 'knex'
import { tenantTable, touch } from '../support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const ofProperty = `foreign key (tenant_id, property_id) references property (tenant_id, id)`

/** Further offers of a portal: extras, promo codes, ways to pay and pictures. */
export const portal = async (knex: Knex) => {
  await tenantTable(
    knex,
    'extra',
    `property_id uuid not null,
     code text not null,
     name jsonb not null,
     description jsonb not null default '{}',
     category text not null,
     revenue_group text not null,
     amount bigint not null,
     basis text not null,
     mandatory boolean not null default false,
     bookable_online boolean not null default true,
     unit_type_ids uuid[] not null default '{}',
     max_quantity int not null default 1,
     cutoff_hours int not null default 0,
     daily_limit int,
     pool_id uuid,
     status text not null default 'active',
     ${stamps},
     constraint extra_code unique (tenant_id, property_id, code),
     constraint extra_category check (category in ('early_check_in', 'late_check_out', 'cleaning', 'meal', 'transport', 'parking', 'pet', 'bed', 'activity', 'other')),
     constraint extra_revenue_group check (revenue_group in ('rooms', 'food', 'beverage', 'laundry', 'spa', 'parking', 'tours', 'other')),
     constraint extra_amount check (amount between 0 and 100000000000),
     constraint extra_basis check (basis in ('per_stay', 'per_night', 'per_person', 'per_person_per_night', 'per_unit')),
     constraint extra_quantity check (max_quantity between 1 and 99 and cutoff_hours between 0 and 720 and daily_limit between 1 and 10000),
     constraint extra_pool check ((daily_limit is null) = (pool_id is null)),
     constraint extra_status check (status in ('active', 'archived')),
     ${ofProperty}`,
  )
  await knex.raw(`create index extra_pool on extra (tenant_id, pool_id)`)
  await touch(knex, 'extra')

  await tenantTable(
    knex,
    'promo_code',
    `property_id uuid not null,
     code text not null,
     type text not null,
     value bigint not null,
     rate_plan_ids uuid[] not null default '{}',
     unit_type_ids uuid[] not null default '{}',
     bookable_from date,
     bookable_until date,
     stay_from date,
     stay_until date,
     min_nights int,
     max_redemptions int,
     max_per_booker int,
     redeemed int not null default 0,
     status text not null default 'active',
     ${stamps},
     constraint promo_code_code unique (tenant_id, property_id, code),
     constraint promo_code_form check (code ~ '^[A-Z0-9-]{3,30}$'),
     constraint promo_code_value check (type in ('percent', 'amount') and value > 0 and (type = 'amount' or value <= 10000)),
     constraint promo_code_limit check (redeemed <= coalesce(max_redemptions, redeemed)),
     constraint promo_code_redeemed check (redeemed >= 0 and max_redemptions > 0 and max_per_booker > 0 and min_nights > 0),
     constraint promo_code_status check (status in ('active', 'archived')),
     ${ofProperty}`,
  )
  await touch(knex, 'promo_code')

  await tenantTable(
    knex,
    'property_payment_method',
    `property_id uuid not null,
     method text not null,
     offered_to text not null,
     position int not null default 0,
     gateway_account_id uuid,
     min_days_before_arrival int not null default 0,
     max_amount bigint,
     max_installments int not null default 1,
     instructions jsonb not null default '{}',
     constraint property_payment_method_offer unique (tenant_id, property_id, method, offered_to),
     constraint property_payment_method_kind check (method in ('card', 'pix', 'boleto', 'bank_transfer', 'cash', 'pay_at_property')),
     constraint property_payment_method_offered_to check (offered_to in ('portal', 'staff', 'both') and (offered_to = 'staff' or method not in ('bank_transfer', 'cash'))),
     constraint property_payment_method_gateway check (offered_to = 'staff' or method not in ('card', 'pix', 'boleto') or gateway_account_id is not null),
     constraint property_payment_method_days check (min_days_before_arrival between (case method when 'boleto' then 5 else 0 end) and 365),
     constraint property_payment_method_limits check (max_installments between 1 and 12 and max_amount > 0),
     ${ofProperty}`,
  )
  await knex.raw(
    `create index property_payment_method_account on property_payment_method (tenant_id, gateway_account_id)`,
  )

  await tenantTable(
    knex,
    'gallery_image',
    `property_id uuid not null,
     url text not null,
     unit_type_id uuid,
     category text not null,
     caption jsonb not null default '{}',
     position int not null default 0,
     status text not null default 'pending',
     width int,
     height int,
     mime_type text,
     bytes int,
     checked_at timestamptz,
     ${stamps},
     constraint gallery_image_url unique (tenant_id, property_id, url),
     constraint gallery_image_address check (url ~ '^https://' and length(url) <= 2000),
     constraint gallery_image_category check (category in ('exterior', 'unit', 'bathroom', 'common', 'food', 'surroundings', 'plan')),
     constraint gallery_image_status check (status in ('pending', 'ready', 'broken')),
     ${ofProperty}`,
  )
  await knex.raw(`create index gallery_image_unit_type on gallery_image (tenant_id, unit_type_id)`)
  await touch(knex, 'gallery_image')
}
