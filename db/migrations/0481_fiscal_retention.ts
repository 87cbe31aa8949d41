import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

/**
 * The law of taxes wants fiscal documents for eleven years (R18): until then what they say stays, and afterwards nothing that names a person does. The same holds for
 * customers who are erased guests, from their latest document on (R22).
 */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table fiscal_document add column erased_at timestamptz`)
  await knex.raw(`create index fiscal_document_unerased on fiscal_document (created_at) where erased_at is null`)
  await knex.raw(`create or replace function fiscal_document_kept() returns trigger language plpgsql as $$
    begin
      if old.rps_number is not null and (new.rps_number is distinct from old.rps_number or new.series <> old.series) then
        raise exception 'a fiscal document keeps its number' using errcode = 'check_violation', constraint = 'fiscal_document_kept';
      end if;
      if old.authority_number is not null and (new.authority_number is distinct from old.authority_number or new.access_key is distinct from old.access_key) then
        raise exception 'an authorised document keeps what its authority gave it' using errcode = 'check_violation', constraint = 'fiscal_document_kept';
      end if;
      if new.erased_at is distinct from old.erased_at and (old.erased_at is not null or old.created_at > now() - interval '11 years') then
        raise exception 'a fiscal document is kept for eleven years' using errcode = 'check_violation', constraint = 'fiscal_document_kept';
      end if;
      if new.erased_at is null and ((old.status in ('authorised', 'cancel_requested', 'cancelled') and new.snapshot <> old.snapshot)
        or (old.xml_blob_id is not null and new.xml_blob_id is null)) then
        raise exception 'an ended document keeps what it said' using errcode = 'check_violation', constraint = 'fiscal_document_kept';
      end if;
      return new;
    end $$`)
  await sweepFunction(
    knex,
    'fiscal_documents_to_erase(most int)',
    'tenant_id uuid, id uuid',
    `select d.tenant_id, d.id from fiscal_document d where d.erased_at is null and d.created_at <= now() - interval '11 years'
       and d.status in ('authorised', 'rejected', 'cancelled') order by d.created_at, d.id limit most`,
  )
  await sweepFunction(
    knex,
    'erased_customers_to_forget(most int)',
    'tenant_id uuid, id uuid',
    `select c.tenant_id, c.id from customer c join guest g on g.tenant_id = c.tenant_id and g.id = c.guest_id and g.status = 'erased'
     where c.legal_name <> 'erased' and c.status = 'archived'
       and not exists (select from receivable r where r.tenant_id = c.tenant_id and r.customer_id = c.id
         and greatest(r.posting_on, r.updated_at::date) > (now() - interval '11 years')::date)
     order by c.id limit most`,
  )
}
