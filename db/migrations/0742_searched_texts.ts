import type { Knex } from 'knex'
import { sweepFunction } from './support.ts'

const tenant = `nullif(current_setting('app.tenant_id', true), '')::uuid`
const line = `E'\\n'`

/** Texts in which lists find parts of words, as one with a line for each. Columns named `search` and such hold plain words already. */
const texts = {
  supplier: 'search',
  customer: 'search',
  company: 'name_search',
  receipt: 'search',
  booking_group: `lower(name || ${line} || code)`,
  payable: `lower(coalesce(number, '') || ${line} || coalesce(payee_name, ''))`,
  purchase_order: 'lower(notes)',
  receivable: `lower(coalesce(number_prefix || number::text, '') || ${line} || customer_reference)`,
  cash_movement: `lower(description || ${line} || voucher || ${line})`,
  bank_statement_line: 'lower(text)',
  pos_order: `lower(number || ${line} || coalesce("table", ''))`,
}

const ofTenant = `lower(name || ${line} || coalesce(legal_name, '') || ${line} || billing_email || ${line} || coalesce(document, '') || ${line} || id::text)`

/** Indexes of parts of words, and of numbers that a search asks for. */
export const up = async (knex: Knex) => {
  for (const [table, text] of Object.entries(texts))
    await knex.raw(`create index ${table}_words on ${table} using gin (tenant_id, (${text}) gin_trgm_ops)`)
  await knex.raw(`create index tenant_words on tenant using gin ((${ofTenant}) gin_trgm_ops)`)
  await knex.raw(`create index app_user_words on app_user using gin (lower(name) gin_trgm_ops)`)
  await byWords(knex)
  for (const [table, column] of [
    ['payment', 'external_id'],
    ['payment', 'reference'],
    ['payment', 'link_id'],
    ['fiscal_document', 'authority_number'],
    ['fiscal_document', 'verification_code'],
  ] as const)
    await knex.raw(`create index ${table}_by_${column} on ${table} (tenant_id, ${column}) where ${column} is not null`)
  await knex.raw(`create index purchase_order_by_number on purchase_order (tenant_id, number) where number is not null`)
}

/**
 * Patterns use no index through row-level security, so these ask as the owner: within the tenant of the transaction, and of all tenants for operators alone.
 * A table that is not searched is refused by the missing text.
 */
const byWords = async (knex: Knex) => {
  const choices = Object.entries(texts).map(([table, text]) => `when '${table}' then ${literal(text)}`)
  const made = async (head: string, of: string, condition: string) => {
    await sweepFunction(knex, head, 'found uuid', `select null::uuid where false`)
    await knex.raw(`
      create or replace function ${head} returns table (found uuid)
      language plpgsql stable security definer set search_path = public, pg_temp set max_parallel_workers_per_gather = 0 set enable_seqscan = off as $$
      declare matching text;
      begin
        select string_agg(format('%s like %L', ${of}, p), ' or ') into strict matching from unnest(patterns) p;
        ${condition}
      end $$`)
  }
  await made(
    `ids_like(of_table text, patterns text[], most int)`,
    `case of_table ${choices.join(' ')} end`,
    `return query execute format('select t.id from %I t where t.tenant_id = %L and (%s) limit %s', of_table, ${tenant}, matching, most);`,
  )
  await made(
    `tenants_like(patterns text[], most int)`,
    literal(ofTenant),
    `if current_setting('app.scope', true) is distinct from 'platform' then raise exception 'tenants are searched by operators' using errcode = 'insufficient_privilege'; end if;
     return query execute format('select t.id from tenant t where (%s) limit %s', matching, most);`,
  )
}

const literal = (text: string) => `'${text.replaceAll(`'`, `''`)}'`
