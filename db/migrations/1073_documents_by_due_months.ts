import type { Knex } from 'knex'

const definer = 'language plpgsql security definer set search_path = public, pg_temp'
const unlessPurged = `if coalesce(current_setting('app.purging', true), '') = 'on' then return null; end if;`
const key = 'property_id, book_id, status, kind'
const month = (day: string) => `date_trunc('month', ${day}::timestamp)::date`

/**
 * Counts bills and documents by the months in which installments of theirs fall due: once in each, with the month before of the same document. Those of a range of
 * months are in it for the first time where that one is none, or before the range.
 */
export const up = async (knex: Knex) => {
  await knex.raw(
    `lock table payable, payable_installment, receivable, receivable_installment in share row exclusive mode`,
  )
  for (const document of ['payable', 'receivable']) await countDueMonths(knex, document)
}

const countDueMonths = async (knex: Knex, document: string) => {
  const installment = `${document}_installment`
  const into = `insert into list_count (list, tenant_id, ${key}, day, month, n`
  /** Months of documents, each with the one before, out of rows with `document_id` and `due_on`. */
  const months = (from: string) =>
    `select m.tenant_id, m.document_id, m.due_month, lag(m.due_month) over (partition by m.tenant_id, m.document_id order by m.due_month) as last_month
     from (select distinct x.tenant_id, x.document_id, ${month('x.due_on')} as due_month from (${from}) x) m`
  const rowsOf = (source: string, where: string) =>
    `select i.tenant_id, i.${document}_id as document_id, i.due_on from ${source} i where i.amount > 0 and ${where}`
  const keyOf = (row: string) =>
    key
      .split(', ')
      .map((column) => `${row}.${column}`)
      .join(', ')

  await knex.raw(`
    create function ${document}_due_moved() returns trigger ${definer} as $$
    begin
      ${into})
      select '${document}_due', s.tenant_id, ${keyOf('s')}, m.due_month, m.last_month, s.n
      from (${months(rowsOf(installment, `i.tenant_id = new.tenant_id and i.${document}_id = new.id`))}) m
      cross join (values (old.tenant_id, ${keyOf('old')}, -1), (new.tenant_id, ${keyOf('new')}, 1)) s (tenant_id, ${key}, n);
      return null;
    end $$`)
  await knex.raw(
    `create trigger ${document}_due_moved after update on ${document} for each row when ((${keyOf('old')}) is distinct from (${keyOf('new')}))
     execute function ${document}_due_moved()`,
  )
  const operations = {
    added: ['insert', 'new table as come', 'select * from come where false', 'come'],
    removed: ['delete', 'old table as gone', 'gone', 'select * from gone where false'],
    changed: ['update', 'old table as gone new table as come', 'gone', 'come'],
  } as const
  for (const [name, [operation, tables, gone, come]] of Object.entries(operations)) {
    const [before, after] = [gone, come].map((one) => (one.includes(' ') ? `(${one})` : one))
    // The document is held while its months are counted, so that a change of it sees them; they are read after it is.
    await knex.raw(`
      create function ${installment}_due_${name}() returns trigger ${definer} as $$
      declare
        changed uuid[];
        tenant uuid;
      begin
        ${unlessPurged}
        select array_agg(distinct coalesce(c.${document}_id, g.${document}_id)), (array_agg(coalesce(c.tenant_id, g.tenant_id)))[1] into changed, tenant
        from ${before} g full join ${after} c on c.tenant_id = g.tenant_id and c.id = g.id
        where case when g.amount > 0 then ${month('g.due_on')} end is distinct from case when c.amount > 0 then ${month('c.due_on')} end;
        if changed is null then return null; end if;
        perform from ${document} d where d.tenant_id = tenant and d.id = any(changed) order by d.id for no key update;
        ${into})
        select '${document}_due', d.tenant_id, ${keyOf('d')}, m.due_month, m.last_month, sum(m.n) from (
          select w.*, -1 as n from (${months(
            `${rowsOf(installment, `i.tenant_id = tenant and i.${document}_id = any(changed) and not exists (select from ${after} c where c.id = i.id)`)}
             union all ${rowsOf(before!, `i.${document}_id = any(changed)`)}`,
          )}) w
          union all
          select w.*, 1 from (${months(rowsOf(installment, `i.tenant_id = tenant and i.${document}_id = any(changed)`))}) w) m
        join ${document} d on d.tenant_id = m.tenant_id and d.id = m.document_id
        group by d.tenant_id, ${keyOf('d')}, m.due_month, m.last_month having sum(m.n) <> 0;
        return null;
      end $$`)
    await knex.raw(
      `create trigger ${installment}_due_${name} after ${operation} on ${installment} referencing ${tables} for each statement
       execute function ${installment}_due_${name}()`,
    )
    await knex.raw(`revoke all on function ${installment}_due_${name}() from public`)
  }
  await knex.raw(`revoke all on function ${document}_due_moved() from public`)
  await knex.raw(
    `${into}, folded)
     select '${document}_due', d.tenant_id, ${keyOf('d')}, m.due_month, m.last_month, count(*), true from (${months(rowsOf(installment, 'true'))}) m
     join ${document} d on d.tenant_id = m.tenant_id and d.id = m.document_id group by d.tenant_id, ${keyOf('d')}, m.due_month, m.last_month`,
  )
}
