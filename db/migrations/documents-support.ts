import type { Knex } from 'knex'
import { appendOnly, tenantTable } from './support.ts'

type Side = {
  /** Table of the documents, such as `receivable`: it has `total` (or what `total` names), `status`, and the sums of `sums`. */
  document: string
  /** Column of the documents that their installments add up to. */
  total?: string
  /** What lowers the open amount of an installment. */
  sums: readonly string[]
  /** States in which the installments need not add up yet. */
  unfinished: readonly string[]
  /** More columns of an installment, each followed by a comma. */
  columns?: string
}

/**
 * The installments of one side, and the dated facts that lower them. `versions` keep the schedule as it stood on each day: figures of a past date read
 * versions and facts, never the sums.
 */
export const installmentTables = async (
  knex: Knex,
  { document, total = 'total', sums, unfinished, columns = '' }: Side,
) => {
  const installment = `${document}_installment`
  const refers = `foreign key (tenant_id, ${document}_id) references ${document} (tenant_id, id)`
  const inAll = sums.join(' + ')
  await tenantTable(
    knex,
    installment,
    `${document}_id uuid not null,
     seq int not null,
     due_on date not null,
     amount bigint not null,
     ${sums.map((sum) => `${sum} bigint not null default 0,`).join('\n')}
     open bigint not null generated always as (amount - (${inAll})) stored,
     versions jsonb not null default '[]',
     ${columns}
     constraint ${installment}_seq unique (tenant_id, ${document}_id, seq),
     constraint ${installment}_in unique (tenant_id, ${document}_id, id),
     constraint ${installment}_seq_above_0 check (seq >= 1),
     constraint ${installment}_limit check (amount >= 0 and ${sums.map((sum) => `${sum} >= 0`).join(' and ')} and ${inAll} <= amount),
     ${refers}`,
  )
  await knex.raw(
    `create index ${installment}_due on ${installment} (tenant_id, due_on, id) where amount - (${inAll}) > 0`,
  )
  await tenantTable(
    knex,
    `${document}_fact`,
    `${document}_id uuid not null,
     installment_id uuid not null,
     dated_on date not null,
     type text not null,
     source_id uuid not null,
     amount bigint not null,
     position bigint generated always as identity,
     created_at timestamptz not null default now(),
     constraint ${document}_fact_amount check (amount <> 0),
     constraint ${document}_fact_type check (type ~ '^[a-z_]{2,40}$'),
     constraint ${document}_fact_once unique (tenant_id, installment_id, type, source_id),
     foreign key (tenant_id, ${document}_id, installment_id) references ${installment} (tenant_id, ${document}_id, id)`,
    { grant: 'select, insert' },
  )
  await appendOnly(knex, `${document}_fact`)
  await knex.raw(
    `create index ${document}_fact_of on ${document}_fact (tenant_id, ${document}_id, installment_id, dated_on)`,
  )
  await knex.raw(`create index ${document}_fact_source on ${document}_fact (tenant_id, source_id)`)
  await knex.raw(`create function ${installment}s_equal() returns trigger language plpgsql as $$
    declare document uuid;
    begin
      if tg_table_name = '${document}' then document := new.id; else document := new.${document}_id; end if;
      if exists (select from ${document} d where d.tenant_id = new.tenant_id and d.id = document and d.status not in (${unfinished.map((one) => `'${one}'`).join(', ')})
          and d.${total} <> (select coalesce(sum(i.amount), 0) from ${installment} i where i.tenant_id = d.tenant_id and i.${document}_id = d.id)) then
        raise exception 'installments differ from the total' using errcode = 'check_violation', constraint = 'installments_equal';
      end if;
      return null;
    end $$`)
  await knex.raw(
    `create constraint trigger ${installment}s_equal after insert or update of amount on ${installment}
     deferrable initially deferred for each row execute function ${installment}s_equal()`,
  )
  await knex.raw(
    `create constraint trigger ${installment}s_equal after insert or update of status, ${total} on ${document}
     deferrable initially deferred for each row execute function ${installment}s_equal()`,
  )
}
