import { notFound } from '../../config/errors.ts'
import { addDays } from '../../config/time.ts'
import { ageing, bookOf, bookToday, listedInstallments, ofHouses, statement, todayOf } from '../documents/index.ts'
import type { InstallmentsAsked } from '../documents/index.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { lateChargesOf } from './rules/late-charges.ts'
import type { LateCharges } from './rules/late-charges.ts'
import { lateChargeRates } from './settings/settings.ts'
import { receivableSide } from './side.ts'

export type InstallmentFilter = Paging & InstallmentsAsked & { customerId?: string | undefined }
type InstallmentRow = {
  id: string
  receivableId: string
  customer: { id: string; name: string }
  number: string | null
  seq: number
  of: number
  dueOn: string
  daysOverdue: number
  amount: number
  open: number
  currency: string
  promisedOn: string | null
  /** Of the last reminder; null before the first. */
  lastLevel: number | null
  /** The charge by Pix that it can be paid with now. */
  pixChargeId: string | null
  bookId: string
  today: string
}
export type InstallmentListed = Omit<InstallmentRow, 'bookId' | 'today'> & { lateCharges: LateCharges }

/** The schedule of what is to come in, by due date: of issued documents, those with something open unless asked otherwise. */
export const listInstallments = async (trx: Trx, filter: InstallmentFilter): Promise<Page<InstallmentListed>> => {
  const listed = listedInstallments(trx, receivableSide, filter, where('p.customer_id = ?', filter.customerId))
  const { total, rows } = await readPage<InstallmentRow>(
    trx,
    {
      columns: `i.id, i.receivable_id, jsonb_build_object('id', c.id, 'name', c.legal_name) as customer, p.number_prefix || p.number as number, i.seq,
        (select count(*) from receivable_installment o where o.tenant_id = i.tenant_id and o.receivable_id = i.receivable_id) as "of", i.due_on,
        greatest(case when i.open > 0 then ${bookToday} - i.due_on else 0 end, 0) as days_overdue, i.amount, i.open, p.currency, p.promised_on, p.book_id, ${bookToday} as today,
        (select max(n.level) from dunning_notice n where n.tenant_id = i.tenant_id and n.receivable_id = i.receivable_id and n.installment_id = i.id
          and n.status <> 'skipped') as last_level,
        (select x.id from pix_charge x where x.tenant_id = i.tenant_id and x.target_type = 'receivable' and x.target_id = i.receivable_id
          and (x.installment_id = i.id or x.installment_id is null) and x.status in ('creating', 'active')
          order by x.installment_id is null, x.created_at desc, x.id limit 1) as pix_charge_id`,
      from: `receivable_installment i join receivable p on p.tenant_id = i.tenant_id and p.id = i.receivable_id
        join book b on b.tenant_id = p.tenant_id and b.id = p.book_id join customer c on c.tenant_id = p.tenant_id and c.id = p.customer_id`,
      conditions: [
        {
          text: `i.tenant_id = ? and p.status in ('issued', 'partly_paid', 'paid', 'credited', 'written_off') and i.amount > 0`,
          values: [contextOf(trx).tenantId],
        },
        ...listed.conditions,
      ],
      total: listed.total,
      order: 'i.due_on, i.id',
    },
    filter,
  )
  const rates = await lateChargeRates(
    trx,
    rows.map(({ bookId }) => bookId),
  )
  const shown = rows.map(({ bookId, today: asOf, ...row }) => ({
    ...row,
    lateCharges: lateChargesOf(row, rates.get(bookId) ?? { fineRate: 0, monthlyInterestRate: 0 }, asOf),
  }))
  return { total, rows: shown }
}

const kindOf = (record: string) =>
  `(select k.kind from customer k where k.tenant_id = ${record}.tenant_id and k.id = ${record}.customer_id)`
const groups = {
  customer: (record: string) => `${record}.customer_id::text`,
  property: (record: string) => `${record}.property_id::text`,
  kind: kindOf,
} as const
export type AgeingBy = keyof typeof groups
export type AgeingFilter = Paging & {
  bookId?: string | undefined
  asOf?: string | undefined
  propertyId?: string | undefined
  /** The houses of the caller; all unless given. */
  propertyIds?: readonly string[] | null | undefined
  by: AgeingBy
}

/** SQL: receipts that may have had money left on a day. Those of payments never do: what their payment does not allocate is refunded there. */
const perhapsAvailable = `select id from receipt where tenant_id = :tenantId and available > 0 and status = 'recorded'
  union select receipt_id from receipt_allocation where tenant_id = :tenantId and dated_on > cast(:asOf as date)
  union select receipt_id from receipt_refund where tenant_id = :tenantId and requested_on > cast(:asOf as date)
  union select receipt_id from receipt_refund where tenant_id = :tenantId and ended_on > cast(:asOf as date)
  union select id from receipt where tenant_id = :tenantId and reversed_on > cast(:asOf as date)`

/** SQL: bills of stays that waited on a day, and were billed or voided since. */
const perhapsUnbilled = `select id from receivable where tenant_id = :tenantId and book_id = :bookId and status = 'unbilled'
  union select s.id from receivable i join receivable s on s.tenant_id = i.tenant_id and s.consolidated_into_id = i.id
    where i.tenant_id = :tenantId and i.book_id = :bookId and i.issued_on > cast(:asOf as date)
  union select id from receivable where tenant_id = :tenantId and book_id = :bookId and status = 'void' and kind = 'stay' and number is null
    and voided_on > cast(:asOf as date)`

/** SQL: bills of stays that waited, and money of receipts that was there, on a day; by the same groups. Of one customer (`:customerId`), where named. */
const besideOn = (by: AgeingBy, ofCustomer = false): string => {
  const placed = (record: string) =>
    `${ofHouses(record)} and ${
      ofCustomer
        ? `${record}.customer_id = cast(:customerId as uuid)`
        : `(cast(:propertyId as uuid) is null or ${record}.property_id = cast(:propertyId as uuid))`
    }`
  return `
    select ${groups[by]('d')} as key, d.total as unbilled, 0 as available_receipts from (${perhapsUnbilled}) c
    cross join lateral (select x.* from receivable x where x.tenant_id = :tenantId and x.id = c.id offset 0) d
    where d.kind = 'stay' and d.issued_on <= cast(:asOf as date) and ${placed('d')}
    union all
    select ${groups[by]('r')}, 0, greatest(0, r.amount
      - coalesce((select sum(a.cash) from receipt_allocation a where a.tenant_id = r.tenant_id and a.receipt_id = r.id and a.dated_on <= cast(:asOf as date)), 0)
      - coalesce((select sum(f.amount) from receipt_refund f where f.tenant_id = r.tenant_id and f.receipt_id = r.id and f.requested_on <= cast(:asOf as date)
          and not (f.status = 'failed' and f.ended_on <= cast(:asOf as date))), 0))
    from (${perhapsAvailable}) c
    cross join lateral (select x.* from receipt x where x.tenant_id = :tenantId and x.id = c.id offset 0) r
    where r.book_id = :bookId and r.received_on <= cast(:asOf as date) and r.source_type <> 'payment'
      and (r.reversed_on is null or r.reversed_on > cast(:asOf as date)) and ${placed('r')}`
}

/** The amounts beside what one customer owed on a day. */
const besideOf = (
  trx: Trx,
  asked: { bookId: string; asOf: string; customerId: string; propertyIds: readonly string[] | null },
) =>
  sqlOne<{ unbilled: number; available: number }>(
    trx,
    `select coalesce(sum(x.unbilled), 0)::bigint as unbilled, coalesce(sum(x.available_receipts), 0)::bigint as available from (${besideOn('customer', true)}) x`,
    { tenantId: contextOf(trx).tenantId, ...asked },
  )

const namesOf = async (trx: Trx, by: AgeingBy, keys: readonly string[]): Promise<{ key: string; name: string }[]> => {
  if (by === 'kind') return keys.map((key) => ({ key, name: key }))
  const [table, name] = by === 'customer' ? ['customer', 'legal_name'] : ['property', 'name']
  return sql<{ key: string; name: string }>(
    trx,
    `select id::text as key, ${name} as name from ${table} where tenant_id = ? and id = any(?::uuid[])`,
    [contextOf(trx).tenantId, keys],
  )
}

/** Open amounts on a day by age (R21): one page of groups, and the totals of all. It reads dated facts, so that a past date never changes. */
export const readAgeing = async (trx: Trx, { by, page, limit, propertyIds = null, ...filter }: AgeingFilter) => {
  const book = await bookOf(trx, filter)
  const asOf = filter.asOf ?? todayOf(book)
  const found = await ageing(
    trx,
    receivableSide,
    { bookId: book.id, asOf, propertyId: filter.propertyId, propertyIds, by: groups[by]('d'), page, limit },
    { names: ['unbilled', 'availableReceipts'], text: besideOn(by) },
  )
  const names = await namesOf(
    trx,
    by,
    found.rows.flatMap(({ key }) => key ?? []),
  )
  return {
    asOf,
    currency: book.currency,
    totals: found.totals,
    total: found.total,
    rows: found.rows.map((row) => ({ ...row, name: names.find(({ key }) => key === row.key)?.name ?? null })),
  }
}

/** The account of a customer over days (R21), as far as the houses of the caller go, null for all. `debit`: owed more; `credit`: owed less. 404; 400 `range_invalid`, `range_too_long`. */
export const readStatement = async (
  trx: Trx,
  customerId: string,
  { bookId, ...days }: { bookId?: string | undefined; from?: string | undefined; to?: string | undefined },
  propertyIds: readonly string[] | null,
) => {
  const found = await sqlOne<{ id: string }>(trx, `select id from customer where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    customerId,
  ])
  if (!found) throw notFound()
  const book = await bookOf(trx, { bookId })
  const to = days.to ?? todayOf(book)
  const from = days.from ?? addDays(to, -365)
  const made = await statement(trx, receivableSide, { bookId: book.id, party: customerId, propertyIds, from, to })
  const beside = await besideOf(trx, { bookId: book.id, asOf: to, customerId, propertyIds })
  return {
    ...made,
    bookId: book.id,
    currency: book.currency,
    from,
    to,
    unbilled: beside?.unbilled ?? 0,
    available: beside?.available ?? 0,
    entries: made.entries.map(({ raised, lowered, ...entry }) => ({ ...entry, debit: raised, credit: lowered })),
  }
}
