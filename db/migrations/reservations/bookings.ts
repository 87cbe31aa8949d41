import type { Knex } from 'knex'
import { tenantTable, touch } from '../support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const ofProperty = refers('property_id', 'property')

/** Bookings with their holds, the codes that let a booker back in, and the strikes of holds that came to nothing. */
export const bookings = async (knex: Knex) => {
  await tenantTable(
    knex,
    'booking',
    `property_id uuid not null,
     number text not null,
     source text not null,
     currency text not null,
     quote_id uuid,
     promo_code_id uuid,
     booker_guest_id uuid,
     sealed bytea,
     email_index bytea,
     address_hash bytea,
     accepted_terms jsonb,
     guest_tokens_valid_from timestamptz,
     external_reference text,
     credit bigint not null default 0,
     language text not null,
     hold_kind text,
     hold_expires_at timestamptz,
     hold_cap_at timestamptz,
     hold_version int,
     ended_at timestamptz,
     ${stamps},
     constraint booking_number unique (tenant_id, number),
     constraint booking_quote unique (tenant_id, quote_id),
     constraint booking_number_form check (number ~ '^[0-9A-HJKMNP-TV-Z]{8}$'),
     constraint booking_source check (source in ('phone', 'email', 'desk', 'walk_in', 'portal', 'api', 'channel', 'group')),
     constraint booking_credit check (credit >= 0),
     constraint booking_hold check (num_nonnulls(hold_kind, hold_expires_at, hold_cap_at, hold_version) in (0, 4) and hold_expires_at <= hold_cap_at),
     constraint booking_hold_kind check (hold_kind in ('checkout', 'option', 'payment')),
     constraint booking_external_reference check (length(external_reference) between 1 and 60),
     constraint booking_indexes check (octet_length(email_index) = 16 and octet_length(address_hash) = 16),
     foreign key (tenant_id, property_id, currency) references property (tenant_id, id, currency),
     ${refers('promo_code_id', 'promo_code')},
     ${refers('booker_guest_id', 'guest')}`,
  )
  await knex.raw(
    `create unique index booking_external_reference_once on booking (tenant_id, external_reference) where source = 'api'`,
  )
  await knex.raw(
    `create index booking_reference on booking (tenant_id, external_reference) where external_reference is not null`,
  )
  await knex.raw(`create index booking_property on booking (tenant_id, property_id, currency)`)
  await knex.raw(`create index booking_created on booking (tenant_id, created_at, id)`)
  await knex.raw(`create index booking_promo on booking (tenant_id, promo_code_id) where promo_code_id is not null`)
  await knex.raw(
    `create index booking_booker on booking (tenant_id, booker_guest_id) where booker_guest_id is not null`,
  )
  await knex.raw(`create index booking_hold_due on booking (hold_expires_at) where hold_expires_at is not null`)
  await knex.raw(
    `create index booking_hold_address on booking (tenant_id, address_hash) where hold_expires_at is not null`,
  )
  await knex.raw(
    `create index booking_hold_email on booking (tenant_id, property_id, email_index) where hold_expires_at is not null`,
  )
  await knex.raw(`create index booking_email on booking (tenant_id, email_index) where email_index is not null`)
  await knex.raw(
    `create index booking_unerased on booking (ended_at) where sealed is not null and ended_at is not null`,
  )
  await touch(knex, 'booking')

  await tenantTable(
    knex,
    'guest_access_code',
    `booking_id uuid not null,
     expires_at timestamptz not null,
     attempts int not null default 0,
     used_at timestamptz,
     ended_at timestamptz,
     created_at timestamptz not null default now(),
     constraint guest_access_code_attempts check (attempts between 0 and 5),
     ${refers('booking_id', 'booking')}`,
  )
  await knex.raw(
    `create unique index guest_access_code_live on guest_access_code (tenant_id, booking_id) where used_at is null and ended_at is null`,
  )
  await knex.raw(`create index guest_access_code_booking on guest_access_code (tenant_id, booking_id, created_at)`)
  await knex.raw(`create index guest_access_code_age on guest_access_code (created_at)`)

  await tenantTable(
    knex,
    'hold_strike',
    `property_id uuid not null,
     email_index bytea not null,
     booking_id uuid not null,
     expired_at timestamptz not null default now(),
     constraint hold_strike_once unique (tenant_id, booking_id),
     constraint hold_strike_index check (octet_length(email_index) = 16),
     ${ofProperty},
     ${refers('booking_id', 'booking')}`,
    { grant: 'select, insert, delete' },
  )
  await knex.raw(`create index hold_strike_email on hold_strike (tenant_id, property_id, email_index, expired_at)`)
  await knex.raw(`create index hold_strike_age on hold_strike (expired_at)`)
}
