import type { Knex } from 'knex'
import { installmentTables } from '../documents-support.ts'
import { refers, stamps } from '../payables/words.ts'
import { appendOnly, tenantTable, touch } from '../support.ts'

/** The state of an issued document follows from its amounts, and the exposure of a customer from what is open of the documents that are not over. */
const amounts = async (knex: Knex) => {
  await knex.raw(`create function receivable_status() returns trigger language plpgsql as $$
    declare closed constant bigint := new.settled + new.credited + new.written_off;
    begin
      if new.status in ('issued', 'partly_paid', 'paid', 'credited', 'written_off') then
        new.status := case when closed = 0 then 'issued' when closed < new.total then 'partly_paid' when new.written_off > 0 then 'written_off'
          when new.credited = new.total then 'credited' else 'paid' end;
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger receivable_status before update of settled, credited, written_off on receivable for each row execute function receivable_status()`,
  )
  await knex.raw(`create function receivable_exposure() returns trigger language plpgsql as $$
    declare
      before bigint := 0;
      after constant bigint := case when new.status in ('unbilled', 'issuing', 'issued', 'partly_paid') then new.open else 0 end;
    begin
      if tg_op = 'UPDATE' and old.status in ('unbilled', 'issuing', 'issued', 'partly_paid') then before := old.open; end if;
      if after <> before then
        update customer c set exposure = c.exposure + after - before where c.tenant_id = new.tenant_id and c.id = new.customer_id;
      end if;
      return null;
    end $$`)
  await knex.raw(
    `create trigger receivable_exposure after insert or update of status, total, settled, credited, written_off on receivable
     for each row execute function receivable_exposure()`,
  )
}

/**
 * Invoices, bills of stays and opening debts. `billed`: its amount came from the ledger of guests with the folios, so that issuing posts nothing. A document
 * counts in figures from `posting_on` on once `posted_at` is set; one that is unbilled has no installments yet.
 */
export const receivables = async (knex: Knex) => {
  await tenantTable(
    knex,
    'receivable',
    `book_id uuid not null,
     property_id uuid,
     customer_id uuid not null,
     kind text not null,
     billed boolean not null default false,
     series text,
     number int,
     number_prefix text not null default '',
     issued_on date not null,
     posting_on date not null,
     departed_on date,
     currency text not null,
     total bigint not null,
     settled bigint not null default 0,
     credited bigint not null default 0,
     written_off bigint not null default 0,
     open bigint not null generated always as (total - settled - credited - written_off) stored,
     status text not null default 'draft',
     consolidated_into_id uuid,
     customer_reference text not null default '',
     notes text not null default '',
     dunning_paused_until date,
     promised_on date,
     credit_override_by uuid,
     credit_override_reason text,
     sent_at timestamptz,
     sent_to bytea,
     cost_center_id uuid,
     created_by uuid,
     issued_by uuid,
     posted_at timestamptz,
     voided_on date,
     void_reason text,
     ${stamps},
     constraint receivable_kind check (kind in ('invoice', 'stay', 'opening')),
     constraint receivable_billed check ((kind <> 'stay' or billed) and (kind <> 'opening' or (number is null and not billed))),
     constraint receivable_number unique (tenant_id, book_id, series, number),
     constraint receivable_numbered check ((series is null) = (number is null)
       and (kind = 'opening' or number is not null or status in ('draft', 'unbilled', 'issuing', 'consolidated', 'void'))),
     constraint receivable_total check (total between 1 and 10000000000000),
     constraint receivable_limit check (settled >= 0 and credited >= 0 and written_off >= 0 and settled + credited + written_off <= total),
     constraint receivable_status check (status in ('draft', 'unbilled', 'issuing', 'issued', 'partly_paid', 'paid', 'credited', 'written_off', 'consolidated', 'void')),
     constraint receivable_states check (case
       when status in ('draft', 'unbilled', 'issuing', 'consolidated', 'void', 'issued') then settled + credited + written_off = 0
       when status = 'partly_paid' then settled + credited + written_off > 0 and settled + credited + written_off < total
       when status = 'written_off' then settled + credited + written_off = total and written_off > 0
       when status = 'credited' then credited = total
       else settled + credited = total and settled > 0 and written_off = 0 end),
     constraint receivable_posted check ((status in ('draft', 'issuing')) <= (posted_at is null)
       and (status in ('issued', 'partly_paid', 'paid', 'credited', 'written_off')) <= (posted_at is not null)),
     constraint receivable_unbilled check (status <> 'unbilled' or kind = 'stay'),
     constraint receivable_consolidated check ((status = 'consolidated') = (consolidated_into_id is not null)),
     constraint receivable_overridden check ((credit_override_by is null) = (credit_override_reason is null)),
     constraint receivable_voided check ((status = 'void') = (voided_on is not null)),
     ${refers('book_id', 'book')},
     ${refers('property_id', 'property')},
     ${refers('customer_id', 'customer')},
     ${refers('cost_center_id', 'cost_center')},
     ${refers('consolidated_into_id', 'receivable')}`,
  )
  await touch(knex, 'receivable')
  await amounts(knex)
  await knex.raw(`create index receivable_by_date on receivable (tenant_id, issued_on desc, id)`)
  await knex.raw(`create index receivable_book on receivable (tenant_id, book_id, status, posting_on)`)
  await knex.raw(`create index receivable_customer on receivable (tenant_id, customer_id, status)`)
  for (const column of ['property_id', 'consolidated_into_id', 'cost_center_id'])
    await knex.raw(`create index receivable_${column} on receivable (tenant_id, ${column}) where ${column} is not null`)
  await knex.raw(
    `create index receivable_unbilled_of on receivable (tenant_id, customer_id, departed_on) where status = 'unbilled'`,
  )

  await tenantTable(
    knex,
    'receivable_line',
    `receivable_id uuid not null,
     line_no int not null,
     description text not null,
     quantity numeric(15, 4) not null default 1,
     unit_amount bigint not null,
     amount bigint not null,
     account_id uuid,
     folio_id uuid,
     from_receivable_id uuid,
     live boolean not null default true,
     tax_code_id uuid,
     tax_amount bigint not null default 0,
     property_id uuid,
     cost_center_id uuid,
     constraint receivable_line_no unique (tenant_id, receivable_id, line_no),
     constraint receivable_line_for check (num_nonnulls(account_id, folio_id, from_receivable_id) = 1),
     constraint receivable_line_amount check (amount <> 0 and quantity > 0 and (amount > 0 or account_id is not null)),
     constraint receivable_line_tax check (tax_amount between 0 and greatest(amount, 0) and (tax_amount = 0 or tax_code_id is not null)
       and (tax_code_id is null or account_id is not null)),
     ${refers('receivable_id', 'receivable')},
     ${refers('account_id', 'account')},
     ${refers('folio_id', 'folio')},
     ${refers('from_receivable_id', 'receivable')},
     ${refers('tax_code_id', 'tax_code')},
     ${refers('property_id', 'property')},
     ${refers('cost_center_id', 'cost_center')}`,
  )
  // A folio, or a bill of a stay, is on one line of a document that is not void.
  await knex.raw(
    `create unique index receivable_line_folio_once on receivable_line (tenant_id, folio_id) where folio_id is not null and live`,
  )
  await knex.raw(
    `create unique index receivable_line_stay_once on receivable_line (tenant_id, from_receivable_id) where from_receivable_id is not null and live`,
  )
  for (const column of ['account_id', 'folio_id', 'from_receivable_id', 'tax_code_id', 'property_id', 'cost_center_id'])
    await knex.raw(
      `create index receivable_line_${column} on receivable_line (tenant_id, ${column}) where ${column} is not null`,
    )

  await installmentTables(knex, {
    document: 'receivable',
    sums: ['settled', 'credited', 'written_off'],
    unfinished: ['draft', 'unbilled', 'consolidated', 'void'],
  })

  await tenantTable(
    knex,
    'receivable_history',
    `receivable_id uuid not null,
     command text not null,
     from_status text,
     to_status text not null,
     changes jsonb not null default '{}',
     reason text,
     actor jsonb not null,
     request_id text,
     position bigint generated always as identity,
     created_at timestamptz not null default now(),
     ${refers('receivable_id', 'receivable')}`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, 'receivable_history')
  await knex.raw(`create index receivable_history_of on receivable_history (tenant_id, receivable_id, position)`)

  await tenantTable(
    knex,
    'write_off',
    `receivable_id uuid not null,
     amount bigint not null,
     account_id uuid not null,
     reason text not null,
     written_off_by uuid not null,
     self_approved boolean not null default false,
     dated_on date not null,
     reinstated_on date,
     reinstated_by uuid,
     reinstate_reason text,
     version int not null default 1,
     created_at timestamptz not null default now(),
     constraint write_off_amount check (amount > 0),
     constraint write_off_reinstated check ((reinstated_on is null) = (reinstated_by is null) and (reinstated_on is null) = (reinstate_reason is null)
       and reinstated_on >= dated_on),
     ${refers('receivable_id', 'receivable')},
     ${refers('account_id', 'account')}`,
  )
  await appendOnly(
    knex,
    'write_off',
    'of receivable_id, amount, account_id, reason, written_off_by, dated_on, created_at',
  )
  await knex.raw(
    `create unique index write_off_live on write_off (tenant_id, receivable_id) where reinstated_on is null`,
  )
  await knex.raw(`create index write_off_of on write_off (tenant_id, receivable_id)`)
  await knex.raw(`create index write_off_account on write_off (tenant_id, account_id)`)
}
