import type { Knex } from 'knex'
import { appendOnly, tenantTable } from '../support.ts'

const kinds = `'opening', 'manual', 'bank_line', 'transfer', 'difference', 'pix_in', 'pix_return', 'guest_payment', 'guest_refund', 'payout',
  'receipt', 'receipt_refund', 'payable_payment', 'supplier_refund', 'reversal'`

/**
 * Movements: the insert itself moves the expected sum of the session, then the balance of the account, so that both follow whatever
 * command books it.
 */
export const movements = async (knex: Knex) => {
  await tenantTable(
    knex,
    'cash_movement',
    `cash_account_id uuid not null,
     session_id uuid,
     seq bigint generated always as identity,
     amount bigint not null,
     currency text not null,
     booked_on date not null,
     occurred_at timestamptz not null default now(),
     kind text not null,
     source_type text not null,
     source_id uuid not null,
     source_seq int not null default 0,
     book_id uuid not null,
     account_id uuid,
     cost_center_id uuid,
     property_id uuid,
     counter_book_id uuid,
     description text not null,
     voucher text not null default '',
     counterparty bytea,
     end_to_end_id text,
     txid text,
     reverses_id uuid,
     transfer_id uuid,
     matched bigint not null default 0,
     created_by jsonb not null,
     created_at timestamptz not null default now(),
     constraint cash_movement_amount check (amount <> 0 and abs(amount) <= 10000000000000),
     constraint cash_movement_kind check (kind in (${kinds})),
     constraint cash_movement_other_side check (kind not in ('manual', 'bank_line') or account_id is not null),
     constraint cash_movement_counter_book check (counter_book_id is null or (kind in ('manual', 'bank_line', 'reversal') and counter_book_id <> book_id)),
     constraint cash_movement_texts check (length(description) between 1 and 300 and length(voucher) <= 60 and length(txid) <= 35 and length(end_to_end_id) <= 60),
     constraint cash_movement_matched check (matched between 0 and abs(amount)),
     constraint cash_movement_reversal check ((kind = 'reversal') = (reverses_id is not null)),
     constraint cash_movement_transfer check (kind <> 'transfer' or transfer_id is not null),
     constraint cash_movement_source unique (tenant_id, source_type, source_id, source_seq),
     constraint cash_movement_reversed_once unique (tenant_id, reverses_id),
     foreign key (tenant_id, cash_account_id, currency) references cash_account (tenant_id, id, currency),
     foreign key (tenant_id, book_id, cash_account_id) references cash_account (tenant_id, book_id, id),
     foreign key (tenant_id, cash_account_id, session_id) references cash_session (tenant_id, register_id, id),
     foreign key (tenant_id, book_id, account_id) references account (tenant_id, book_id, id),
     foreign key (tenant_id, book_id, cost_center_id) references cost_center (tenant_id, book_id, id),
     foreign key (tenant_id, counter_book_id) references book (tenant_id, id),
     foreign key (tenant_id, property_id) references property (tenant_id, id),
     foreign key (tenant_id, reverses_id) references cash_movement (tenant_id, id),
     foreign key (tenant_id, transfer_id) references cash_transfer (tenant_id, id)`,
    { grant: 'select, insert, update (matched, counterparty)' },
  )
  await appendOnly(
    knex,
    'cash_movement',
    `of cash_account_id, session_id, seq, amount, currency, booked_on, occurred_at, kind, source_type, source_id, source_seq, book_id, account_id,
     cost_center_id, property_id, counter_book_id, description, voucher, end_to_end_id, txid, reverses_id, transfer_id, created_by, created_at`,
  )
  await knex.raw(
    `create index cash_movement_days on cash_movement (tenant_id, cash_account_id, booked_on, seq) include (amount)`,
  )
  await knex.raw(`create index cash_movement_account on cash_movement (tenant_id, cash_account_id, currency)`)
  await knex.raw(`create index cash_movement_of_book on cash_movement (tenant_id, book_id, cash_account_id)`)
  await knex.raw(
    `create index cash_movement_session on cash_movement (tenant_id, cash_account_id, session_id) where session_id is not null`,
  )
  await knex.raw(
    `create index cash_movement_other on cash_movement (tenant_id, book_id, account_id) where account_id is not null`,
  )
  await knex.raw(
    `create index cash_movement_center on cash_movement (tenant_id, book_id, cost_center_id) where cost_center_id is not null`,
  )
  await knex.raw(
    `create index cash_movement_counter on cash_movement (tenant_id, counter_book_id) where counter_book_id is not null`,
  )
  await knex.raw(
    `create index cash_movement_property on cash_movement (tenant_id, property_id) where property_id is not null`,
  )
  await knex.raw(
    `create index cash_movement_of_transfer on cash_movement (tenant_id, transfer_id) where transfer_id is not null`,
  )
  await knex.raw(
    `create index cash_movement_unmatched on cash_movement (tenant_id, cash_account_id, abs(amount), booked_on) where matched < abs(amount)`,
  )
  await knex.raw(
    `create index cash_movement_end_to_end on cash_movement (tenant_id, end_to_end_id) where end_to_end_id is not null`,
  )
  await knex.raw(
    `create unique index cash_movement_one_opening on cash_movement (tenant_id, cash_account_id) where kind = 'opening'`,
  )
  await walls(knex)
}

const walls = async (knex: Knex) => {
  // Reversed movement first, session second, account last: the order in which every command locks them.
  await knex.raw(`
    create function cash_movement_into_session() returns trigger language plpgsql as $$
    declare
      known bigint;
      of_register boolean;
      here xid8 := pg_current_xact_id();
    begin
      if new.matched <> 0 then
        raise exception 'a movement begins unmatched' using errcode = 'PL010';
      end if;
      if new.reverses_id is not null then
        select m.matched into known from cash_movement m where m.tenant_id = new.tenant_id and m.id = new.reverses_id
          and m.cash_account_id = new.cash_account_id and m.amount = -new.amount and m.kind <> 'reversal' and m.session_id is not distinct from new.session_id
          for no key update;
        if known is null then
          raise exception 'a reversal is the other way round of its movement' using errcode = 'PL010';
        end if;
        if known <> 0 then
          raise exception 'the movement is matched' using errcode = 'PL073';
        end if;
      end if;
      select a.kind = 'register' into of_register from cash_account a where a.tenant_id = new.tenant_id and a.id = new.cash_account_id;
      if of_register is distinct from (new.session_id is not null) and not (of_register and new.kind = 'opening' and new.session_id is null) then
        raise exception 'a register is booked in a session, and nothing else is' using errcode = 'PL075';
      end if;
      if new.kind = 'difference' then
        perform from cash_session s where s.tenant_id = new.tenant_id and s.id = new.session_id and here in (s.opened_xid, s.closed_xid);
        if not found then
          raise exception 'a difference is booked as it is counted' using errcode = 'PL071';
        end if;
      elsif new.session_id is not null then
        update cash_session s set expected = s.expected + new.amount where s.tenant_id = new.tenant_id and s.id = new.session_id and s.status = 'open';
        if not found then
          -- The drop of the session that this transaction has closed: it was counted already.
          perform from cash_session s where s.tenant_id = new.tenant_id and s.id = new.session_id and s.closed_xid = here and new.kind = 'transfer';
          if not found then
            raise exception 'the session is closed' using errcode = 'PL071';
          end if;
        end if;
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger cash_movement_into_session before insert on cash_movement for each row execute function cash_movement_into_session()`,
  )
  await knex.raw(`
    create function cash_movement_into_account() returns trigger language plpgsql as $$
    declare
      found_account record;
    begin
      select a.balance, a.kind, a.status, a.blind and a.kind = 'register' as hidden into found_account
        from cash_account a where a.tenant_id = new.tenant_id and a.id = new.cash_account_id for no key update;
      if found_account.status <> 'active' then
        raise exception 'the account is archived' using errcode = 'PL072';
      end if;
      if found_account.balance + new.amount < 0 and found_account.kind not in ('bank', 'acquirer') then
        raise exception 'there is less in it' using errcode = 'PL070',
          detail = case when found_account.hidden then '' else cast(found_account.balance as text) end;
      end if;
      update cash_account a set balance = a.balance + new.amount, movement_count = a.movement_count + 1
        where a.tenant_id = new.tenant_id and a.id = new.cash_account_id;
      return null;
    end $$`)
  await knex.raw(
    `create trigger cash_movement_into_account after insert on cash_movement for each row execute function cash_movement_into_account()`,
  )
  await knex.raw(`
    create function cash_movement_matching() returns trigger language plpgsql as $$
    begin
      if new.matched > old.matched and exists (select from cash_movement r where r.tenant_id = new.tenant_id and r.reverses_id = new.id) then
        raise exception 'the movement was reversed' using errcode = 'PL073';
      end if;
      update cash_account a set cleared = a.cleared + sign(new.amount) * (new.matched - old.matched)
        where a.tenant_id = new.tenant_id and a.id = new.cash_account_id;
      return null;
    end $$`)
  await knex.raw(
    `create trigger cash_movement_matching after update of matched on cash_movement for each row
     when (new.matched <> old.matched) execute function cash_movement_matching()`,
  )
}
