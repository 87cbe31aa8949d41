import type { Knex } from 'knex'

/** Those who changed or submitted a bill, changed an order, or changed an invoice before its issue: the last of them alone was kept, so that another could approve. */
export const up = async (knex: Knex) => {
  for (const table of ['payable', 'purchase_order', 'receivable'])
    await knex.raw(`alter table ${table} add column editors uuid[] not null default '{}'`)
  await knex.raw(`create or replace function payable_two_people() returns trigger language plpgsql as $$
    begin
      if new.decision = 'approved' and not new.self_approved and exists (select from payable p where p.tenant_id = new.tenant_id and p.id = new.payable_id
          and new.user_id = any(p.editors || array[p.created_by, p.edited_by, p.submitted_by])) then
        raise exception 'an author approves nothing of their own' using errcode = 'check_violation', constraint = 'payable_two_people';
      end if;
      return new;
    end $$`)
  // The next migration checks the orders of before, in a transaction without this one's lock.
  await knex.raw(`alter table purchase_order add constraint purchase_order_no_editor
    check (approved_by is null or approved_by <> all(editors) or self_approved) not valid`)
  // Bills that wait name all who wrote on them, as their history tells.
  await knex.raw(`alter table payable disable trigger user`)
  await knex.raw(`update payable p set editors = array(
      select distinct e.person from (
        select p.edited_by as person union select p.submitted_by
        union select coalesce(k.created_by, (h.actor ->> 'id')::uuid) from payable_history h
          left join api_key k on h.actor ->> 'type' = 'api_key' and k.id = (h.actor ->> 'id')::uuid
          where h.tenant_id = p.tenant_id and h.payable_id = p.id and h.command in ('change', 'submit')) e
      where e.person is not null and e.person is distinct from p.created_by)
    where p.status in ('draft', 'awaiting_approval')`)
  await knex.raw(`alter table payable enable trigger user`)
  await knex.raw(
    `update purchase_order set editors = array[edited_by] where status = 'draft' and edited_by <> created_by`,
  )
}
