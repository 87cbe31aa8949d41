import type { Knex } from 'knex'

/**
 * Money that a bank has taken back by itself although a part of it had gone back already, or is on its way: the money has left the account, whatever is
 * left of the record. `over_returned` is how much more went back than came, and the only way past the limit; it shrinks by itself as a refund under way
 * fails. `over_written_off` is what of it a person has booked to an account.
 */
const records = {
  payment: { came: 'captured_amount', paid: 'allocated_amount + new.refund_reserved' },
  receipt: { came: 'amount', paid: 'allocated + new.refund_reserved' },
} as const

export const up = async (knex: Knex) => {
  for (const [table, { came, paid }] of Object.entries(records)) {
    await knex.raw(`alter table ${table} add column over_returned bigint not null default 0,
      add column over_written_off bigint not null default 0,
      add constraint ${table}_over_returned check (over_returned >= 0 and over_written_off >= 0)`)
    const kept = table === 'receipt' ? `case new.status when 'reversed' then 0 else new.amount end` : `new.${came}`
    await knex.raw(`create function ${table}_over_returned() returns trigger language plpgsql set search_path = pg_catalog, public as $$
      begin
        new.over_returned := least(new.over_returned, greatest(0, new.${paid} - (${kept})));
        return new;
      end $$`)
    await knex.raw(`create trigger ${table}_over_returned before update on ${table}
      for each row when (new.over_returned > 0) execute function ${table}_over_returned()`)
  }
  await knex.raw(`alter table payment drop constraint payment_refund_limit, drop constraint payment_allocation_limit,
    add constraint payment_refund_limit check (refund_reserved <= captured_amount + over_returned and refunded_amount <= refund_reserved),
    add constraint payment_allocation_limit check (allocated_amount + refund_reserved <= captured_amount + over_returned)`)
  await knex.raw(`alter table receipt drop constraint receipt_limit, drop constraint receipt_reversed,
    add constraint receipt_limit check (allocated >= 0 and refund_reserved >= 0 and allocated + refund_reserved <= amount + over_returned
      and refunded between 0 and refund_reserved),
    add constraint receipt_reversed check ((status = 'reversed') = (reversed_on is not null)
      and (status = 'recorded' or (allocated = 0 and refund_reserved = refunded and over_returned = refund_reserved)))`)
  await knex.raw(`alter table payment_exception drop constraint payment_exception_kind, drop constraint payment_exception_subject_type,
    add constraint payment_exception_kind check (kind in
      ('outcome_unknown', 'amount_differs', 'currency_differs', 'duplicate_payment', 'late_payment', 'unallocated', 'refund_failed',
       'missing_here', 'missing_there', 'fee_differs', 'payout_differs', 'account_gone', 'over_returned', 'capture_refused')),
    add constraint payment_exception_subject_type
      check (subject_type in ('payment', 'refund', 'dispute', 'payout', 'balance_transaction', 'gateway_account', 'receipt'))`)
}
