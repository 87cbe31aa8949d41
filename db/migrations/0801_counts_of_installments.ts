import type { Knex } from 'knex'

/** Documents whose installments are listed, by their table, and their states in SQL of the row `:row`. */
const documents = {
  payable: `:row.status <> 'void'`,
  receivable: `:row.status in ('issued', 'partly_paid', 'paid', 'credited', 'written_off')`,
}

/** Counts of installments that are open and settled, and the order of those that are settled. Requests of guests that wait, by their day. */
export const up = async (knex: Knex) => {
  for (const [document, listed] of Object.entries(documents)) await countInstallments(knex, document, listed)
  await knex.raw(
    `create index privacy_request_waiting on privacy_request (tenant_id, due_on, id) where status in ('received', 'running')`,
  )
}

/**
 * Installments by house and book of their document, which stand on it, and by whether something is open. A document is held while an installment of it is counted,
 * so that a change of the document sees it. Commands hold it already.
 */
const countInstallments = async (knex: Knex, document: string, listed: string) => {
  const table = `${document}_installment`
  const columns = 'tenant_id, list, property_id, book_id, status'
  const isListed = (row: string) => `(${listed.replaceAll(':row', row)})`
  const state = (row: string) => `case when ${row}.open > 0 then 'open' else 'settled' end`
  const made = async (name: string, body: string) => {
    await knex.raw(`
      create function ${name}() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
      declare
        d record;
      begin
        if coalesce(current_setting('app.purging', true), '') = 'on' then return null; end if;
        ${body}
        return null;
      end $$`)
    await knex.raw(`revoke all on function ${name}() from public`)
  }
  const one = (row: string, n: string, not: string) =>
    `select d.tenant_id, '${table}', d.property_id, d.book_id, ${state(row)}, ${n} where tg_op <> '${not}' and ${row}.amount > 0`
  await made(
    `${table}_counted`,
    `select r.tenant_id, r.property_id, r.book_id into d from ${document} r
     where r.tenant_id = coalesce(new.tenant_id, old.tenant_id) and r.id = coalesce(new.${document}_id, old.${document}_id) and ${isListed('r')} for share;
     if found then
       insert into list_count (${columns}, n) ${one('old', '-1', 'INSERT')} union all ${one('new', '1', 'DELETE')};
     end if;`,
  )
  const all = (row: string, sign: string) =>
    `insert into list_count (${columns}, n)
     select ${row}.tenant_id, '${table}', ${row}.property_id, ${row}.book_id, ${state('i')}, ${sign}count(*) from ${table} i
     where i.tenant_id = ${row}.tenant_id and i.${document}_id = ${row}.id and i.amount > 0 group by 5;`
  await made(
    `${table}_of_changed`,
    `if ${isListed('old')} then ${all('old', '-')} end if; if ${isListed('new')} then ${all('new', '')} end if;`,
  )
  const trigger = (on: string, name: string, when: string, condition: string, made: string) =>
    knex.raw(
      `create trigger ${table}_count_${name} after ${when} on ${on} for each row when (${condition}) execute function ${table}_${made}()`,
    )
  await trigger(table, 'added', 'insert', 'new.amount > 0', 'counted')
  await trigger(table, 'removed', 'delete', 'old.amount > 0', 'counted')
  const key = (row: string) => `${row}.amount > 0, ${row}.open > 0`
  await trigger(table, 'moved', 'update', `(${key('old')}) is distinct from (${key('new')})`, 'counted')
  const place = (row: string) => `${isListed(row)}, ${row}.property_id, ${row}.book_id`
  await trigger(document, 'changed', 'update', `(${place('old')}) is distinct from (${place('new')})`, 'of_changed')
  await knex.raw(
    `insert into list_count (${columns}, n, folded)
     select r.tenant_id, '${table}', r.property_id, r.book_id, ${state('i')}, count(*), true from ${table} i
     join ${document} r on r.tenant_id = i.tenant_id and r.id = i.${document}_id where ${isListed('r')} and i.amount > 0 group by 1, 3, 4, 5`,
  )
  await knex.raw(`create index ${table}_settled on ${table} (tenant_id, due_on, id) where open = 0 and amount > 0`)
}
