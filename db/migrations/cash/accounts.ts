import type { Knex } from 'knex'
import { tenantTable, touch } from '../support.ts'

/** Accounts of money. Their sums change by movements alone. */
export const accounts = async (knex: Knex) => {
  await tenantTable(
    knex,
    'cash_account',
    `book_id uuid not null,
     property_id uuid,
     kind text not null,
     code text not null,
     name text not null,
     currency text not null,
     ledger_account_id uuid not null,
     ispb text,
     bank_code text,
     branch text,
     number text,
     holder bytea,
     status text not null default 'active',
     balance bigint not null default 0,
     cleared bigint not null default 0,
     movement_count bigint not null default 0,
     blind boolean not null default true,
     difference_limit bigint not null default 0,
     safe_account_id uuid,
     match_rules jsonb not null default '[]',
     csv_mapping jsonb,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint cash_account_kind check (kind in ('bank', 'acquirer', 'safe', 'petty_cash', 'register')),
     constraint cash_account_code_form check (code ~ '^[A-Z0-9-]{1,20}$'),
     constraint cash_account_name check (length(name) between 1 and 120),
     constraint cash_account_status check (status in ('active', 'archived')),
     constraint cash_account_register check (kind <> 'register' or property_id is not null),
     constraint cash_account_bank check (kind = 'bank' or coalesce(ispb, bank_code, branch, number) is null and holder is null),
     constraint cash_account_bank_form check (ispb ~ '^[0-9]{8}$' and bank_code ~ '^[0-9]{3}$' and length(branch) <= 20 and length(number) <= 30),
     constraint cash_account_of_register check (kind = 'register' or (safe_account_id is null and difference_limit = 0)),
     constraint cash_account_limit check (difference_limit between 0 and 10000000000000),
     constraint cash_account_rules check (jsonb_typeof(match_rules) = 'array' and jsonb_array_length(match_rules) <= 50
       and (kind in ('bank', 'acquirer') or match_rules = '[]')),
     constraint cash_not_negative check (balance >= 0 or kind in ('bank', 'acquirer')),
     constraint cash_account_size check (abs(balance) <= 1000000000000000 and movement_count >= 0),
     constraint cash_account_code unique (tenant_id, book_id, code),
     constraint cash_account_currency_key unique (tenant_id, id, currency),
     constraint cash_account_book_key unique (tenant_id, book_id, id),
     constraint cash_account_property_key unique (tenant_id, property_id, id),
     foreign key (tenant_id, book_id, currency) references book (tenant_id, id, currency),
     foreign key (tenant_id, property_id) references property (tenant_id, id),
     foreign key (tenant_id, book_id, ledger_account_id) references account (tenant_id, book_id, id),
     foreign key (tenant_id, ledger_account_id, currency) references account (tenant_id, id, currency),
     foreign key (tenant_id, book_id, safe_account_id) references cash_account (tenant_id, book_id, id)`,
    { grant: 'select, insert, update' },
  )
  await touch(knex, 'cash_account')
  await knex.raw(`create index cash_account_of_book on cash_account (tenant_id, book_id, currency)`)
  await knex.raw(`create index cash_account_ledger on cash_account (tenant_id, ledger_account_id, currency)`)
  await knex.raw(`create index cash_account_ledger_of_book on cash_account (tenant_id, book_id, ledger_account_id)`)
  await knex.raw(`create index cash_account_safe on cash_account (tenant_id, book_id, safe_account_id)`)
  await knex.raw(
    `create unique index cash_account_ledger_alone on cash_account (tenant_id, ledger_account_id) where kind in ('bank', 'acquirer')`,
  )
  await knex.raw(`
    create function cash_account_wall() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        if (new.balance, new.cleared, new.movement_count) <> (0, 0, 0) then
          raise exception 'an account begins empty' using errcode = 'PL010';
        end if;
      else
        if (new.book_id, new.property_id, new.kind, new.currency) is distinct from (old.book_id, old.property_id, old.kind, old.currency)
          or (new.ledger_account_id <> old.ledger_account_id and old.movement_count > 0) then
          raise exception 'what a cash account is does not change' using errcode = 'PL010';
        end if;
        -- Sums follow the movements: the triggers of those come one level deeper.
        if (new.balance, new.cleared, new.movement_count) is distinct from (old.balance, old.cleared, old.movement_count) and pg_trigger_depth() < 2 then
          raise exception 'the sums of a cash account follow its movements' using errcode = 'PL010';
        end if;
      end if;
      if tg_op = 'INSERT' or new.ledger_account_id <> old.ledger_account_id then
        if not exists (select from account a where a.tenant_id = new.tenant_id and a.id = new.ledger_account_id and a.postable and a.control = 'cash') then
          raise exception 'the ledger account is no control account of cash' using errcode = 'PL074';
        end if;
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger cash_account_wall before insert or update on cash_account for each row execute function cash_account_wall()`,
  )
}
