import type { Knex } from 'knex'
import { appendOnly, tenantTable, touch } from '../support.ts'

const stamps = `
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`
const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`
const ofReservation = refers('reservation_id', 'reservation')

/** Folios and their lines. */
export const folios = async (knex: Knex) => {
  await tenantTable(
    knex,
    'folio',
    `property_id uuid not null,
     number text not null,
     kind text not null,
     reservation_id uuid,
     is_primary boolean not null default false,
     payer_guest_id uuid,
     label text not null default '',
     stage text not null default 'deposit',
     status text not null default 'open',
     currency text not null,
     charges bigint not null default 0,
     credits bigint not null default 0,
     balance bigint not null generated always as (charges - credits) stored,
     credit_limit bigint,
     locked boolean not null default false,
     ${stamps},
     constraint folio_number unique (tenant_id, number),
     constraint folio_kind check (kind in ('guest', 'company', 'group', 'house')),
     constraint folio_owner check (kind <> 'house' or reservation_id is null),
     constraint folio_primary check (not is_primary or reservation_id is not null),
     constraint folio_label check (length(label) <= 60),
     constraint folio_stage check (stage in ('deposit', 'guest')),
     constraint folio_house_stage check (kind <> 'house' or stage = 'guest'),
     constraint folio_status check (status in ('open', 'closed')),
     constraint folio_closed_is_zero check (status <> 'closed' or charges = credits),
     constraint folio_deposit_not_in_debit check (stage <> 'deposit' or charges <= credits),
     constraint folio_credit_limit check (credit_limit >= 0),
     foreign key (tenant_id, property_id, currency) references property (tenant_id, id, currency),
     ${ofReservation},
     ${refers('payer_guest_id', 'guest')}`,
  )
  await knex.raw(`create unique index folio_primary_once on folio (tenant_id, reservation_id) where is_primary`)
  await knex.raw(`create index folio_property on folio (tenant_id, property_id, currency, status)`)
  await knex.raw(`create index folio_reservation on folio (tenant_id, reservation_id)`)
  await knex.raw(`create index folio_payer on folio (tenant_id, payer_guest_id)`)
  await touch(knex, 'folio')

  await tenantTable(
    knex,
    'folio_line',
    `folio_id uuid not null,
     seq bigint generated always as identity,
     kind text not null,
     category text,
     description text not null,
     quantity numeric(14, 4) not null default 1,
     unit_amount bigint not null,
     amount bigint not null,
     taxes jsonb not null default '[]',
     business_date date not null,
     source_type text not null,
     source_id uuid not null,
     source_key text not null default '',
     original_line_id uuid,
     transfer_id uuid,
     payment_id uuid,
     posted_by jsonb not null,
     created_at timestamptz not null default clock_timestamp(),
     constraint folio_line_source unique (tenant_id, source_type, source_id, source_key),
     constraint folio_line_kind check (kind in ('charge', 'adjustment', 'fee', 'payment', 'refund', 'transfer_in', 'transfer_out', 'receivable')),
     constraint folio_line_category check (category in ('room', 'rooms', 'food', 'beverage', 'laundry', 'spa', 'parking', 'tours', 'other', 'minibar',
       'tax', 'service_charge', 'cancellation', 'no_show', 'early_departure', 'damage')),
     constraint folio_line_sign check (case kind when 'adjustment' then amount < 0 when 'payment' then amount < 0 when 'refund' then amount > 0
       when 'fee' then amount > 0 else amount <> 0 end),
     constraint folio_line_payment check ((kind in ('payment', 'refund')) <= (payment_id is not null)),
     constraint folio_line_description check (length(description) between 1 and 200),
     ${refers('folio_id', 'folio')},
     ${refers('original_line_id', 'folio_line')}`,
    { grant: 'select, insert' },
  )
  await knex.raw(`create index folio_line_folio on folio_line (tenant_id, folio_id, seq)`)
  await knex.raw(
    `create index folio_line_original on folio_line (tenant_id, original_line_id) where original_line_id is not null`,
  )
  await knex.raw(`create index folio_line_payment on folio_line (tenant_id, payment_id) where payment_id is not null`)
  await appendOnly(knex, 'folio_line')
  // A line raises the balance by its amount: money (payments, refunds, what a customer owes instead) on the side of credits, all else on that of charges.
  await knex.raw(`
    create function folio_line_counts() returns trigger language plpgsql as $$
    declare
      is_money constant boolean := new.payment_id is not null or new.kind = 'receivable';
    begin
      update folio f set charges = f.charges + case when is_money then 0 else new.amount end,
        credits = f.credits - case when is_money then new.amount else 0 end, version = f.version + 1
      where f.tenant_id = new.tenant_id and f.id = new.folio_id and f.status = 'open';
      if not found then
        raise exception 'folio % is closed', new.folio_id using errcode = '23514', constraint = 'folio_line_on_open_folio';
      end if;
      return null;
    end $$`)
  await knex.raw(
    `create trigger folio_line_counts after insert on folio_line for each row execute function folio_line_counts()`,
  )
}
