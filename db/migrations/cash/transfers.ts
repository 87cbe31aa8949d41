import type { Knex } from 'knex'
import { tenantTable, touch } from '../support.ts'

/** Money between two accounts of the house, and Pix to others. */
export const transfers = async (knex: Knex) => {
  await tenantTable(
    knex,
    'cash_transfer',
    `book_id uuid not null,
     property_id uuid,
     from_account_id uuid not null,
     to_account_id uuid,
     payee bytea,
     method text not null,
     amount bigint not null,
     fee bigint not null default 0,
     currency text not null,
     purpose text not null,
     account_id uuid,
     cost_center_id uuid,
     scheduled_on date,
     sent_on date,
     received_on date,
     status text not null,
     source_type text,
     source_id uuid,
     requested_by uuid,
     approved_by uuid,
     approved_at timestamptz,
     self_approved boolean not null default false,
     end_to_end_id text,
     failure jsonb,
     cancel_reason text,
     next_read_at timestamptz,
     read_count int not null default 0,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint cash_transfer_method check (method in ('manual', 'pix')),
     constraint cash_transfer_status check (status in
       ('pending_approval', 'approved', 'sending', 'unknown', 'completed', 'failed', 'in_transit', 'cancelled')),
     constraint cash_transfer_amount check (amount between 1 and 10000000000000 and fee between 0 and 10000000000000),
     constraint cash_transfer_goal check ((to_account_id is null) = (payee is not null) and from_account_id is distinct from to_account_id),
     constraint cash_transfer_pix check (case method when 'manual' then payee is null and source_type is null
       and status in ('completed', 'in_transit', 'cancelled') else currency = 'BRL' and status <> 'in_transit' end),
     constraint cash_transfer_purpose check (length(purpose) between 1 and 140),
     constraint cash_transfer_dates check (received_on >= sent_on),
     constraint cash_transfer_arrived check (status <> 'completed' or (sent_on is not null and received_on is not null)),
     constraint cash_transfer_sent check (status <> 'in_transit' or (sent_on is not null and received_on is null)),
     constraint cash_transfer_source check (source_type in ('payable_payment_item', 'receipt_refund') and (source_type is null) = (source_id is null)),
     constraint cash_transfer_other_person check (approved_by is distinct from requested_by or approved_by is null or self_approved),
     constraint cash_transfer_approved check ((approved_by is null) = (approved_at is null)),
     foreign key (tenant_id, book_id, from_account_id) references cash_account (tenant_id, book_id, id),
     foreign key (tenant_id, from_account_id, currency) references cash_account (tenant_id, id, currency),
     foreign key (tenant_id, book_id, to_account_id) references cash_account (tenant_id, book_id, id),
     foreign key (tenant_id, to_account_id, currency) references cash_account (tenant_id, id, currency),
     foreign key (tenant_id, property_id) references property (tenant_id, id),
     foreign key (tenant_id, book_id, account_id) references account (tenant_id, book_id, id),
     foreign key (tenant_id, book_id, cost_center_id) references cost_center (tenant_id, book_id, id)`,
    { grant: 'select, insert, update' },
  )
  await touch(knex, 'cash_transfer')
  await knex.raw(
    `create unique index cash_transfer_source_once on cash_transfer (tenant_id, source_type, source_id) where source_id is not null`,
  )
  await knex.raw(
    `create unique index cash_transfer_end_to_end on cash_transfer (tenant_id, end_to_end_id) where end_to_end_id is not null`,
  )
  await knex.raw(`create index cash_transfer_from on cash_transfer (tenant_id, from_account_id, currency)`)
  await knex.raw(`create index cash_transfer_to on cash_transfer (tenant_id, to_account_id, currency)`)
  await knex.raw(`create index cash_transfer_from_book on cash_transfer (tenant_id, book_id, from_account_id)`)
  await knex.raw(`create index cash_transfer_to_book on cash_transfer (tenant_id, book_id, to_account_id)`)
  await knex.raw(`create index cash_transfer_account on cash_transfer (tenant_id, book_id, account_id)`)
  await knex.raw(`create index cash_transfer_cost_center on cash_transfer (tenant_id, book_id, cost_center_id)`)
  await knex.raw(`create index cash_transfer_property on cash_transfer (tenant_id, property_id, created_at)`)
  await knex.raw(`create index cash_transfer_status_of on cash_transfer (tenant_id, status, scheduled_on)`)
  await knex.raw(`create index cash_transfer_due on cash_transfer (next_read_at) where next_read_at is not null`)
  await knex.raw(`
    create function cash_transfer_wall() returns trigger language plpgsql as $$
    begin
      if (new.from_account_id, new.to_account_id, new.amount, new.currency, new.method, new.source_type, new.source_id, new.requested_by)
        is distinct from (old.from_account_id, old.to_account_id, old.amount, old.currency, old.method, old.source_type, old.source_id, old.requested_by) then
        raise exception 'what a transfer is does not change' using errcode = 'PL010';
      end if;
      if new.status <> old.status and not (case old.status
        when 'pending_approval' then new.status in ('approved', 'cancelled')
        when 'approved' then new.status in ('sending', 'cancelled')
        when 'sending' then new.status in ('completed', 'failed', 'unknown', 'approved')
        when 'unknown' then new.status in ('completed', 'failed')
        when 'in_transit' then new.status in ('completed', 'cancelled')
        when 'completed' then new.status = 'cancelled' and new.method = 'manual'
        else false end) then
        raise exception 'a transfer does not go from % to %', old.status, new.status using errcode = 'PL013';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger cash_transfer_wall before update on cash_transfer for each row execute function cash_transfer_wall()`,
  )
}
