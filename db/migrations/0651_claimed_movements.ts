import type { Knex } from 'knex'

/** Money that bills and credits of suppliers claim as given back is reversed no more. */
export const up = async (knex: Knex) => {
  await knex.raw(
    `create index payable_payment_item_refund on payable_payment_item (tenant_id, refund_movement_id) where refund_movement_id is not null`,
  )
  await knex.raw(
    `create index supplier_credit_fact_movement on supplier_credit_fact (tenant_id, cash_movement_id) where cash_movement_id is not null`,
  )
  await knex.raw(`
    create function cash_movement_claimed() returns trigger language plpgsql as $$
    begin
      perform from cash_movement m where m.tenant_id = new.tenant_id and m.id = new.reverses_id for no key update;
      if exists (select from payable_payment_item x where x.tenant_id = new.tenant_id and x.refund_movement_id = new.reverses_id)
        or exists (select from supplier_credit_fact f where f.tenant_id = new.tenant_id and f.cash_movement_id = new.reverses_id) then
        raise exception 'the movement is claimed' using errcode = 'PL073';
      end if;
      return new;
    end $$`)
  // By its name it comes before the other triggers of a reversal.
  await knex.raw(
    `create trigger cash_movement_claimed before insert on cash_movement for each row when (new.reverses_id is not null) execute function cash_movement_claimed()`,
  )
}
