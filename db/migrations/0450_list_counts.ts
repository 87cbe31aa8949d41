import type { Knex } from 'knex'
import { countRows } from './list-counts-support.ts'
import { tenantTable } from './support.ts'

/** Tables whose rows are counted, and by what: the columns that their lists are filtered by most. */
const counted = {
  reservation: ['property_id', 'status'],
  booking: ['property_id'],
  folio: ['property_id', 'status', 'kind'],
  payment: ['property_id', 'status'],
  refund: ['property_id', 'status'],
  guest: ['status'],
  receivable: ['property_id', 'book_id', 'status', 'kind'],
  payable: ['property_id', 'book_id', 'status', 'kind'],
  journal_entry: ['book_id', 'kind'],
  message: ['property_id', 'status'],
  issue: ['property_id', 'status', 'kind'],
} as const

/**
 * Numbers of rows, as changes that are added up when they are read: each transaction adds what it changes, takes no lock for it, and sees the sum of what it may
 * see. Some changes become one by `fold_list_counts`.
 */
export const up = async (knex: Knex) => {
  await tenantTable(
    knex,
    'list_count',
    `list text not null,
     seq bigint generated always as identity,
     property_id uuid,
     book_id uuid,
     status text,
     kind text,
     n bigint not null,
     folded boolean not null default false,
     primary key (tenant_id, list, seq)`,
    { grant: 'select' },
  )
  await knex.raw(`create index list_count_waiting on list_count (tenant_id, list) where not folded`)
  // Rows live for a minute: what is dead must not pile up until a fifth of the table is.
  await knex.raw(
    `alter table list_count set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  )
  for (const [table, columns] of Object.entries(counted)) await countRows(knex, table, columns)
  await folding(knex)
  await orders(knex)
}

/**
 * Makes one row of the changes of a key where at least so many of its list wait, and answers how many rows went. Only the rows that it sees are added up and
 * taken away, in one statement, so the sum is the same before and after for everybody.
 */
const folding = async (knex: Knex) => {
  const key = 'tenant_id, list, property_id, book_id, status, kind'
  await knex.raw(`
    create function fold_list_counts(at_least int) returns bigint
    language sql security definer set search_path = public, pg_temp as $$
      with busy as (select tenant_id, list from list_count where not folded group by 1, 2 having count(*) >= at_least),
      keys as (select distinct ${key} from list_count join busy using (tenant_id, list) where not folded),
      held as (
        select c.tenant_id, c.list, c.seq from keys k
        join list_count c on c.tenant_id = k.tenant_id and c.list = k.list and c.property_id is not distinct from k.property_id
          and c.book_id is not distinct from k.book_id and c.status is not distinct from k.status and c.kind is not distinct from k.kind
        for update of c skip locked),
      taken as (
        delete from list_count c using held h where c.tenant_id = h.tenant_id and c.list = h.list and c.seq = h.seq returning c.*),
      made as (
        insert into list_count (${key}, n, folded) select ${key}, sum(n), true from taken group by ${key} having sum(n) <> 0)
      select count(*) from taken
    $$`)
  await knex.raw(`revoke all on function fold_list_counts(int) from public`)
  await knex.raw(`grant execute on function fold_list_counts(int) to pousada_service`)
}

/** Indexes in the order of lists that had to sort their table for a page. */
const orders = async (knex: Knex) => {
  await knex.raw(`create index folio_created on folio (tenant_id, created_at desc, id)`)
  await knex.raw(
    `create index folio_created_of_property on folio (tenant_id, property_id, status, created_at desc, id)`,
  )
  await knex.raw(`create index payment_created on payment (tenant_id, created_at desc, id)`)
  await knex.raw(`create index payment_status_created on payment (tenant_id, status, created_at desc, id)`)
  await knex.raw(`create index refund_created on refund (tenant_id, created_at desc, id)`)
  await knex.raw(`create index issue_created on issue (tenant_id, created_at desc, id)`)
  await knex.raw(`create index issue_due on issue (tenant_id, next_due_at, id)`)
  await knex.raw(`create index booking_property_created on booking (tenant_id, property_id, created_at, id)`)
  await knex.raw(`create index receivable_status_by_date on receivable (tenant_id, status, issued_on desc, id)`)
  await knex.raw(`create index payable_status_by_date on payable (tenant_id, status, issued_on desc, id)`)
}
