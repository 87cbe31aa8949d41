import type { Knex } from 'knex'
import { sweepFunction, tenantTable, touch } from '../support.ts'

/** Statements of banks: what they say, and what of the movements it proves. */
export const statements = async (knex: Knex) => {
  await tenantTable(
    knex,
    'bank_statement',
    `cash_account_id uuid not null,
     property_id uuid,
     seq bigint generated always as identity,
     currency text not null,
     format text not null,
     file_name text not null,
     file_hash bytea not null,
     blob_id uuid,
     mapping jsonb,
     status text not null default 'received',
     first_on date,
     last_on date,
     opening_balance bigint,
     closing_balance bigint,
     given_balance bigint,
     lines_read int not null default 0,
     lines_added int not null default 0,
     lines_known int not null default 0,
     lines_same_id int not null default 0,
     lines_left_out int not null default 0,
     error jsonb,
     imported_at timestamptz,
     reconciled_by uuid,
     reconciled_at timestamptz,
     reopen_reason text,
     created_by uuid,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint bank_statement_format check (format in ('ofx', 'csv', 'cnab240') and (format = 'csv' or mapping is null)),
     constraint bank_statement_status check (status in ('received', 'imported', 'rejected', 'reconciled')),
     constraint bank_statement_imported check (status in ('received', 'rejected')
       or (first_on is not null and last_on is not null and first_on <= last_on and imported_at is not null)),
     constraint bank_statement_rejected check ((status = 'rejected') = (error is not null)),
     constraint bank_statement_reconciled check ((status = 'reconciled') = (reconciled_at is not null)
       and (status <> 'reconciled' or coalesce(closing_balance, given_balance) is not null)),
     constraint bank_statement_counts check (least(lines_read, lines_added, lines_known, lines_same_id, lines_left_out) >= 0
       and lines_read = lines_added + lines_known + lines_left_out and lines_same_id <= lines_added),
     constraint bank_statement_words check (length(file_name) between 1 and 200 and octet_length(file_hash) = 32 and length(reopen_reason) <= 500),
     constraint bank_statement_file_once unique (tenant_id, cash_account_id, file_hash),
     constraint bank_statement_account_key unique (tenant_id, cash_account_id, id),
     foreign key (tenant_id, cash_account_id, currency) references cash_account (tenant_id, id, currency),
     foreign key (tenant_id, property_id, cash_account_id) references cash_account (tenant_id, property_id, id),
     foreign key (tenant_id, blob_id) references blob (tenant_id, id)`,
  )
  await touch(knex, 'bank_statement')
  await knex.raw(
    `create index bank_statement_order on bank_statement (tenant_id, cash_account_id, last_on, seq) where status in ('imported', 'reconciled')`,
  )
  await knex.raw(`create index bank_statement_account on bank_statement (tenant_id, cash_account_id, currency)`)
  await knex.raw(
    `create unique index bank_statement_blob on bank_statement (tenant_id, blob_id) where blob_id is not null`,
  )
  await knex.raw(`create index bank_statement_files on bank_statement (created_at) where blob_id is not null`)

  await tenantTable(
    knex,
    'bank_statement_line',
    `bank_statement_id uuid not null,
     cash_account_id uuid not null,
     property_id uuid,
     fingerprint_hash bytea not null,
     occurrence int not null,
     position int not null,
     booked_on date not null,
     amount bigint not null,
     external_id text,
     document_number text,
     text text not null,
     counterparty bytea,
     end_to_end_id text,
     status text not null default 'unmatched',
     ignore_reason text,
     same_external_id boolean not null default false,
     version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now(),
     constraint bank_statement_line_amount check (amount <> 0 and abs(amount) <= 10000000000000),
     constraint bank_statement_line_status check (status in ('unmatched', 'matched', 'ignored')),
     constraint bank_statement_line_ignored check ((status = 'ignored') = (ignore_reason is not null)),
     constraint bank_statement_line_words check (length(text) <= 500 and length(external_id) <= 255 and length(document_number) <= 60
       and length(end_to_end_id) <= 60 and length(ignore_reason) between 1 and 500),
     constraint bank_statement_line_numbers check (occurrence > 0 and position > 0 and octet_length(fingerprint_hash) = 32),
     constraint bank_statement_line_once unique (tenant_id, cash_account_id, fingerprint_hash, occurrence),
     foreign key (tenant_id, property_id, cash_account_id) references cash_account (tenant_id, property_id, id),
     foreign key (tenant_id, cash_account_id, bank_statement_id) references bank_statement (tenant_id, cash_account_id, id)`,
  )
  await touch(knex, 'bank_statement_line')
  for (const table of ['bank_statement', 'bank_statement_line'])
    await knex.raw(
      `create index ${table}_property on ${table} (tenant_id, property_id, cash_account_id) where property_id is not null`,
    )
  await knex.raw(
    `create index bank_statement_line_days on bank_statement_line (tenant_id, cash_account_id, booked_on, position)`,
  )
  await knex.raw(
    `create index bank_statement_line_of on bank_statement_line (tenant_id, cash_account_id, bank_statement_id, booked_on, position)`,
  )
  await knex.raw(
    `create index bank_statement_line_open on bank_statement_line (tenant_id, cash_account_id) where status = 'unmatched'`,
  )
  await knex.raw(
    `create index bank_statement_line_external on bank_statement_line (tenant_id, cash_account_id, external_id) where external_id is not null`,
  )

  await tenantTable(
    knex,
    'statement_match',
    `line_id uuid not null,
     cash_movement_id uuid not null,
     amount bigint not null,
     made boolean not null default false,
     created_by uuid,
     created_at timestamptz not null default now(),
     undone_at timestamptz,
     undone_by uuid,
     constraint statement_match_amount check (amount <> 0),
     constraint statement_match_undone check (undone_at is not null or undone_by is null),
     foreign key (tenant_id, line_id) references bank_statement_line (tenant_id, id),
     foreign key (tenant_id, cash_movement_id) references cash_movement (tenant_id, id)`,
    { grant: 'select, insert, update (undone_at, undone_by), delete' },
  )
  await knex.raw(
    `create unique index statement_match_live on statement_match (tenant_id, line_id, cash_movement_id) where undone_at is null`,
  )
  await knex.raw(`create index statement_match_of_line on statement_match (tenant_id, line_id)`)
  await knex.raw(`create index statement_match_of_movement on statement_match (tenant_id, cash_movement_id)`)
  await walls(knex)
  await sweepFunction(
    knex,
    `statement_files_due(most int)`,
    'tenant_id uuid, id uuid',
    `select tenant_id, id from bank_statement where blob_id is not null and status <> 'received' and created_at < now() - interval '90 days' order by created_at limit most`,
  )
}

const walls = async (knex: Knex) => {
  await knex.raw(`
    create function bank_statement_wall() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        if old.status = 'reconciled' then
          raise exception 'a statement in use stays' using errcode = 'PL013';
        end if;
        return old;
      end if;
      if (new.cash_account_id, new.seq, new.currency, new.format, new.file_hash) is distinct from
        (old.cash_account_id, old.seq, old.currency, old.format, old.file_hash)
        or (old.status <> 'received' and (new.first_on, new.last_on, new.opening_balance, new.closing_balance, new.imported_at) is distinct from
          (old.first_on, old.last_on, old.opening_balance, old.closing_balance, old.imported_at)) then
        raise exception 'what a bank has said does not change' using errcode = 'PL010';
      end if;
      if new.status <> old.status and not (case old.status when 'received' then new.status in ('imported', 'rejected')
        when 'imported' then new.status = 'reconciled' when 'reconciled' then new.status = 'imported' else false end) then
        raise exception 'a statement does not go from % to %', old.status, new.status using errcode = 'PL013';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger bank_statement_wall before update or delete on bank_statement for each row execute function bank_statement_wall()`,
  )
  // Lines and matches of a proven statement are frozen.
  await knex.raw(`
    create function bank_statement_line_wall() returns trigger language plpgsql as $$
    begin
      perform from bank_statement s where s.tenant_id = old.tenant_id and s.id = old.bank_statement_id and s.status = 'reconciled' for share;
      if found then
        raise exception 'the statement is reconciled' using errcode = 'PL076';
      end if;
      if tg_op = 'DELETE' then
        if old.status <> 'unmatched' then
          raise exception 'a line in use stays' using errcode = 'PL073';
        end if;
        return old;
      end if;
      if (new.bank_statement_id, new.cash_account_id, new.fingerprint_hash, new.occurrence, new.booked_on, new.amount, new.external_id, new.document_number,
          new.text, new.end_to_end_id) is distinct from (old.bank_statement_id, old.cash_account_id, old.fingerprint_hash, old.occurrence, old.booked_on,
          old.amount, old.external_id, old.document_number, old.text, old.end_to_end_id) then
        raise exception 'what a bank has said does not change' using errcode = 'PL010';
      end if;
      if new.status <> old.status and 'unmatched' not in (new.status, old.status) then
        raise exception 'a line does not go from % to %', old.status, new.status using errcode = 'PL013';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger bank_statement_line_wall before update or delete on bank_statement_line for each row execute function bank_statement_line_wall()`,
  )
  await knex.raw(`
    create function statement_match_wall() returns trigger language plpgsql as $$
    declare
      line record;
    begin
      select l.cash_account_id, s.status = 'reconciled' as frozen into line from bank_statement_line l
        join bank_statement s on s.tenant_id = l.tenant_id and s.id = l.bank_statement_id
        where l.tenant_id = coalesce(new.tenant_id, old.tenant_id) and l.id = coalesce(new.line_id, old.line_id) for share of s;
      if line.frozen then
        raise exception 'the statement is reconciled' using errcode = 'PL076';
      end if;
      if tg_op = 'DELETE' then
        if old.undone_at is null then
          raise exception 'a match that stands is undone first' using errcode = 'PL073';
        end if;
        return old;
      end if;
      if tg_op = 'UPDATE' then
        if old.undone_at is not null or new.undone_at is null or (new.line_id, new.cash_movement_id, new.amount, new.made) is distinct from
          (old.line_id, old.cash_movement_id, old.amount, old.made) then
          raise exception 'a match is undone once' using errcode = 'PL010';
        end if;
        update cash_movement m set matched = m.matched - abs(old.amount) where m.tenant_id = old.tenant_id and m.id = old.cash_movement_id;
        return new;
      end if;
      update cash_movement m set matched = m.matched + abs(new.amount) where m.tenant_id = new.tenant_id and m.id = new.cash_movement_id
        and m.cash_account_id = line.cash_account_id and sign(m.amount) = sign(new.amount) and m.kind not in ('reversal', 'opening');
      if not found then
        raise exception 'the movement is none of the line' using errcode = 'PL010';
      end if;
      return new;
    end $$`)
  await knex.raw(
    `create trigger statement_match_wall before insert or update or delete on statement_match for each row execute function statement_match_wall()`,
  )
  await knex.raw(`
    create function statement_line_matched() returns trigger language plpgsql as $$
    declare
      line record;
      matched bigint;
    begin
      select l.id, l.amount, l.status into line from bank_statement_line l where l.tenant_id = new.tenant_id
        and l.id = cast(case tg_table_name when 'statement_match' then to_jsonb(new) ->> 'line_id' else to_jsonb(new) ->> 'id' end as uuid);
      if not found then
        return null;
      end if;
      select coalesce(sum(m.amount), 0) into matched from statement_match m
        where m.tenant_id = new.tenant_id and m.line_id = line.id and m.undone_at is null;
      if matched <> (case line.status when 'matched' then line.amount else 0 end) then
        raise exception 'the matches of a line come to its amount' using errcode = 'PL077';
      end if;
      return null;
    end $$`)
  for (const [table, when] of [
    ['statement_match', 'insert or update'],
    ['bank_statement_line', 'update of status'],
  ])
    await knex.raw(
      `create constraint trigger ${table}_sum after ${when} on ${table} deferrable initially deferred
       for each row execute function statement_line_matched()`,
    )
  // What a proven statement has matched is not turned any more.
  await knex.raw(`
    create function cash_movement_frozen() returns trigger language plpgsql as $$
    begin
      if exists (select from statement_match x join bank_statement_line l on l.tenant_id = x.tenant_id and l.id = x.line_id
        join bank_statement s on s.tenant_id = l.tenant_id and s.id = l.bank_statement_id
        where x.tenant_id = new.tenant_id and x.cash_movement_id = new.reverses_id and x.undone_at is null and s.status = 'reconciled') then
        raise exception 'the movement is in a reconciled statement' using errcode = 'PL076';
      end if;
      return new;
    end $$`)
  // By its name it comes before the trigger that refuses any matched movement.
  await knex.raw(
    `create trigger cash_movement_frozen before insert on cash_movement for each row when (new.reverses_id is not null) execute function cash_movement_frozen()`,
  )
}
