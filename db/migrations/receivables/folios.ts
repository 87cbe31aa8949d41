import type { Knex } from 'knex'
import { refers } from '../payables/words.ts'

/** A folio knows the document that bills it, and its lines the receipt whose money they are. */
export const folioLines = async (knex: Knex) => {
  await knex.raw(`alter table folio add column receivable_id uuid, add ${refers('receivable_id', 'receivable')},
    add constraint folio_billed_is_closed check (receivable_id is null or status = 'closed')`)
  await knex.raw(`create index folio_receivable on folio (tenant_id, receivable_id) where receivable_id is not null`)
  await knex.raw(`alter table folio_line add column receipt_id uuid, add ${refers('receipt_id', 'receipt')},
    drop constraint folio_line_payment,
    add constraint folio_line_payment check ((kind in ('payment', 'refund')) <= (num_nonnulls(payment_id, receipt_id) = 1)
      and num_nonnulls(payment_id, receipt_id) <= 1)`)
  await knex.raw(`create index folio_line_receipt on folio_line (tenant_id, receipt_id) where receipt_id is not null`)
  // Money of customers counts on the side of credits, as payments do.
  await knex.raw(`
    create or replace function folio_line_counts() returns trigger language plpgsql as $$
    declare
      is_money constant boolean := new.payment_id is not null or new.receipt_id is not null or new.kind = 'receivable';
      house uuid;
      day date;
    begin
      update folio f set charges = f.charges + case when is_money then 0 else new.amount end,
        credits = f.credits - case when is_money then new.amount else 0 end, version = f.version + 1
      where f.tenant_id = new.tenant_id and f.id = new.folio_id and f.status = 'open' returning f.property_id into house;
      if not found then
        raise exception 'folio % is closed', new.folio_id using errcode = '23514', constraint = 'folio_line_on_open_folio';
      end if;
      select d.date into day from business_day d where d.tenant_id = new.tenant_id and d.property_id = house and d.status = 'open' for share;
      if not found then -- a roll may have committed while we waited: the next statement sees its day
        select d.date into day from business_day d where d.tenant_id = new.tenant_id and d.property_id = house and d.status = 'open' for share;
      end if;
      if day <> new.business_date
        or day is null and exists (select from business_day d where d.tenant_id = new.tenant_id and d.property_id = house) then
        raise exception 'the business day is %, not %', coalesce(day::text, 'none'), new.business_date using errcode = 'PL012';
      end if;
      return null;
    end $$`)
}
