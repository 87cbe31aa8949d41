import type { Knex } from 'knex'

/**
 * Authors of bills that no person entered, and of codes that came after an approval. A bill that recurs was approved by the one who had planned it; and a payment
 * to a Pix code by the one who had put it into a bill that others had approved.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table recurring_payable add column editors uuid[] not null default '{}'`)
  await knex.raw(`alter table payable add column code_authors uuid[] not null default '{}'`)
  await knex.raw(`update payable p set editors = array_append(p.editors, r.created_by) from recurring_payable r
    where p.source = 'recurring' and p.status in ('draft', 'awaiting_approval') and r.tenant_id = p.tenant_id
      and split_part(p.source_key, ':', 1) = cast(r.id as text) and r.created_by <> all(p.editors)`)
  await knex.raw(`create function payable_payment_two_people() returns trigger language plpgsql as $$
    begin
      if not new.self_approved and exists (select from payable_payment_item x
          join payable_installment i on i.tenant_id = x.tenant_id and i.id = x.installment_id and i.pix_code is not null
          join payable p on p.tenant_id = x.tenant_id and p.id = x.payable_id
          where x.tenant_id = new.tenant_id and x.payable_payment_id = new.id and x.status = 'queued' and new.approved_by = any(p.code_authors)) then
        raise exception 'the author of a code approves no payment to it' using errcode = 'check_violation', constraint = 'payable_payment_two_people';
      end if;
      return new;
    end $$`)
  await knex.raw(`create trigger payable_payment_two_people before update of approved_by on payable_payment for each row
    when (new.approved_by is not null and old.approved_by is null) execute function payable_payment_two_people()`)
}
