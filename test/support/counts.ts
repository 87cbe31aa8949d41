import { sql } from '../../db/lib/connection.ts'
import { countedFacts, countedLists, countedMonths, platformLists, platformMonths } from '../../db/lib/counts.ts'
import type { CountedFact } from '../../db/lib/counts.ts'

type Source = { columns: readonly string[]; from: string }

const wrongDays = `select 'audit_entry' as list, (array_agg(tenant_id))[1] as tenant_id, concat_ws(' ', chain, day) as of, sum(n)::int as missed from (
    select chain, tenant_id, (at at time zone 'UTC')::date as day, count(*) as n from audit_entry where hash is not null group by 1, 2, 3
    union all select chain, tenant_id, day, -n from audit_day) x group by chain, day having sum(n) <> 0`

const monthOf = (column: string, type: string) =>
  `date_trunc('month', ${column}${type === 'time' ? ` at time zone 'UTC'` : '::timestamp'})::date`

/** Lists of operators that are counted by the months of a day as well. */
const monthlyOfPlatform: Readonly<Record<string, Source>> = Object.fromEntries(
  Object.entries(platformMonths).flatMap(([list, days]) =>
    Object.entries(days).map(([column, type]) => {
      const columns = platformLists[list as keyof typeof platformMonths]
      const from = `(select ${columns.join(', ')}, ${monthOf(column, type)} as day from ${list}) m`
      return [`${list}_by_${column}`, { columns: [...columns, 'day'], from }] as const
    }),
  ),
)

const sourcesOfPlatform: readonly (readonly [list: string, source: Source])[] = [
  ...Object.entries(platformLists).map(([list, columns]) => [list, { columns, from: list }] as const),
  ...Object.entries(monthlyOfPlatform),
  [
    'tenant_feature',
    {
      columns: ['status', 'plan', 'feature'],
      from: `(select t.status, t.plan, f as feature from tenant t cross join unnest(t.features) f) t`,
    },
  ],
  [
    'audit_entry',
    {
      columns: ['day'],
      from: `(select (at at time zone 'UTC')::date as day from audit_entry where hash is not null) e`,
    },
  ],
]

const wrongOfPlatform = sourcesOfPlatform.map(([list, { columns, from }]) => {
  const by = columns.map((column) => `, ${column}`).join('')
  return `select '${list}' as list, null::uuid as tenant_id, concat_ws(' ', 'all'${by}) as of, sum(n)::int as missed from (
      select 1 as of_all${by}, count(*) as n from ${from} group by 1${by}
      union all select 1${by}, -sum(n) from platform_count where list = '${list}' group by 1${by}) x
      group by of_all${by} having sum(n) <> 0`
})

/** Lists that are counted by more than columns of one table: the rows that are counted, with the columns by which they are. */
const derived: Readonly<Record<string, Source>> = {
  journal_entry_of_house: {
    columns: ['property_id', 'book_id', 'kind', 'journal_id', 'late', 'day'],
    from: `(select distinct l.tenant_id, l.property_id, l.book_id, e.kind, e.journal_id, e.late, l.entry_id,
        ${monthOf('e.posting_date', 'date')} as day from journal_line l
      join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id where l.property_id is not null)`,
  },
  webhook_delivery: {
    columns: ['property_id', 'webhook_endpoint_id', 'status', 'kind', 'day'],
    from: `(select tenant_id, property_id, webhook_endpoint_id, status, type as kind, date_trunc('month', event_at at time zone 'UTC')::date as day
      from webhook_delivery)`,
  },
  journal_line: {
    columns: ['property_id', 'book_id', 'kind', 'journal_id', 'period_id', 'late'],
    from: `(select l.tenant_id, l.property_id, l.book_id, e.kind, e.journal_id, l.period_id, e.late from journal_line l
      join journal_entry e on e.tenant_id = l.tenant_id and e.id = l.entry_id)`,
  },
  ...Object.fromEntries(
    [
      ['payable', `status <> 'void'`],
      ['receivable', `status in ('issued', 'partly_paid', 'paid', 'credited', 'written_off')`],
    ].map(([document, listed]) => [
      `${document}_installment`,
      {
        columns: ['property_id', 'book_id', 'status'],
        from: `(select i.tenant_id, d.property_id, d.book_id, case when i.open > 0 then 'open' else 'settled' end as status from ${document}_installment i
          join (select * from ${document} where ${listed}) d on d.tenant_id = i.tenant_id and d.id = i.${document}_id where i.amount > 0)`,
      },
    ]),
  ),
  ...Object.fromEntries(
    ['payable', 'receivable'].map((document) => [
      `${document}_due`,
      {
        columns: ['property_id', 'book_id', 'status', 'kind', 'day', 'month'],
        from: `(select d.tenant_id, d.property_id, d.book_id, d.status, d.kind, m.day, m.month from (
            select tenant_id, document_id, day, lag(day) over (partition by tenant_id, document_id order by day) as month from (
              select distinct tenant_id, ${document}_id as document_id, ${monthOf('due_on', 'date')} as day from ${document}_installment where amount > 0) x) m
          join ${document} d on d.tenant_id = m.tenant_id and d.id = m.document_id)`,
      },
    ]),
  ),
  automation_message: {
    columns: ['automation_id', 'status', 'kind', 'day'],
    from: `(select tenant_id, automation_id, case when status in ('delivered', 'read') then 'delivered' when status in ('failed', 'suppressed') then status
        else 'other' end as status, case when sent_at is null then 'kept' else 'sent' end as kind, (created_at at time zone 'UTC')::date as day
      from message where automation_id is not null)`,
  },
  webhook_delivery_by_day: {
    columns: ['property_id', 'webhook_endpoint_id', 'status', 'kind', 'day', 'month'],
    from: `(select tenant_id, property_id, webhook_endpoint_id, status, type as kind, (created_at at time zone 'UTC')::date as day,
        date_trunc('month', event_at at time zone 'UTC')::date as month from webhook_delivery)`,
  },
  quote_unused: {
    columns: ['property_id', 'day'],
    from: `(select tenant_id, property_id, (expires_at at time zone 'UTC')::date as day from quote q
      where not exists (select from booking b where b.tenant_id = q.tenant_id and b.quote_id = q.id))`,
  },
}

/** Facts of rows that are counted, as SQL. */
const facts: Readonly<Record<CountedFact, string>> = {
  supplier_blocked: 'payments_blocked',
  supplier_credit_available: `status = 'open' and available > 0`,
  payable_held: 'on_hold',
  customer_held: 'on_hold',
  receipt_unidentified: 'customer_id is null',
  receipt_available: `status = 'recorded' and amount > allocated + refund_reserved`,
  cash_movement_matched: 'matched = abs(amount)',
  payment_late: 'late',
  payment_unallocated: `status = 'captured' and captured_amount > allocated_amount + refund_reserved`,
}

/** Lists that are counted by the months of a day as well. */
const monthly = Object.entries(countedMonths).flatMap(([list, days]) =>
  Object.entries(days).map(([column, type]) => {
    const columns = countedLists[list as keyof typeof countedMonths]
    const from = `(select ${['tenant_id', ...columns].join(', ')}, ${monthOf(`"${column}"`, type)} as day from ${list})`
    return [`${list}_by_${column}`, { columns: [...columns, 'day'], from }] as const
  }),
)

/** Lists of tenants, by their names. */
const sources: readonly (readonly [list: string, source: Source])[] = [
  ...monthly,
  ...Object.entries(countedLists).map(([list, columns]) => [list, { columns, from: list }] as const),
  ...Object.entries(derived),
  ...Object.entries(countedFacts).map(([list, table]) => {
    const from = `(select * from ${table} where ${facts[list as CountedFact]})`
    return [list, { columns: countedLists[table], from }] as const
  }),
]

const wrongOfTenants = sources
  .map(([list, { columns, from }]) => {
    const by = ['tenant_id', ...columns].join(', ')
    return `select '${list}' as list, tenant_id, concat_ws(' ', ${['null', ...columns].join(', ')}) as of, sum(n)::int as missed from (
      select ${by}, count(*) as n from ${from} r group by ${by}
      union all select ${by}, -sum(n) from list_count where list = '${list}' group by ${by}) x
      group by ${by} having sum(n) <> 0`
  })
  .concat(wrongDays)

/** A statement that finds where the total of a list is not the number of its rows; for a reader of all tenants. */
export const wrongTotals: string = [...wrongOfTenants, ...wrongOfPlatform].join(' union all ')

/** A statement that finds the same for a reader that sees one tenant: without the lists of operators. */
export const wrongTotalsOfTenant: string = wrongOfTenants.join(' union all ')

/** Changes of totals by hand, each of one list by its name: in a tenant and one of its houses. */
export const brokenTotals: Readonly<Record<string, string>> = {
  reservation: `insert into list_count (tenant_id, list, property_id, status, n) values (:tenantId, 'reservation', :propertyId, 'no_show', 1)`,
  journal_entry: `update list_count set n = n + 1 where (tenant_id, list, seq) =
    (select tenant_id, list, seq from list_count where tenant_id = :tenantId and list = 'journal_entry' limit 1)`,
  guest: `delete from list_count where (tenant_id, list, seq) =
    (select tenant_id, list, seq from list_count where tenant_id = :tenantId and list = 'guest' and n <> 0 limit 1)`,
  journal_entry_of_house: `insert into list_count (tenant_id, list, property_id, book_id, n) values (:tenantId, 'journal_entry_of_house', :propertyId, :propertyId, 1)`,
  webhook_delivery: `insert into list_count (tenant_id, list, property_id, status, kind, day, n)
    values (:tenantId, 'webhook_delivery', :propertyId, 'dead', 'reservation.confirmed', '2026-01-01', 1)`,
  automation_message: `insert into list_count (tenant_id, list, automation_id, status, kind, day, n)
    values (:tenantId, 'automation_message', :propertyId, 'other', 'kept', '2026-01-01', -1)`,
  quote_unused: `insert into list_count (tenant_id, list, property_id, day, n) values (:tenantId, 'quote_unused', :propertyId, '2026-01-01', 2)`,
  journal_line: `insert into list_count (tenant_id, list, property_id, kind, n) values (:tenantId, 'journal_line', :propertyId, 'standard', 1)`,
  payable_held: `insert into list_count (tenant_id, list, property_id, status, kind, n) values (:tenantId, 'payable_held', :propertyId, 'draft', 'bill', 1)`,
  booking_by_created_at: `insert into list_count (tenant_id, list, property_id, day, n) values (:tenantId, 'booking_by_created_at', :propertyId, '2026-01-01', 1)`,
  webhook_delivery_by_day: `insert into list_count (tenant_id, list, property_id, day, month, n)
    values (:tenantId, 'webhook_delivery_by_day', :propertyId, '2026-01-02', '2026-01-01', 1)`,
  payable_due: `insert into list_count (tenant_id, list, property_id, status, kind, day, n)
    values (:tenantId, 'payable_due', :propertyId, 'draft', 'bill', '2026-01-01', 1)`,
  guest_registration_by_arrival: `insert into list_count (tenant_id, list, property_id, status, day, n)
    values (:tenantId, 'guest_registration_by_arrival', :propertyId, 'pending', '2026-01-01', 1)`,
  subscription_invoice_by_issued_at: `insert into platform_count (list, status, day, n)
    values ('subscription_invoice_by_issued_at', 'paid', '2026-01-01', 1)`,
  tenant_feature: `insert into platform_count (list, status, plan, feature, n) values ('tenant_feature', 'active', 'Basic', 'pos', 1)`,
  app_user: `insert into platform_count (list, status, n) values ('app_user', 'active', -1)`,
  audit_entry: `insert into audit_day (chain, day, tenant_id, n) values (:tenantId, '2001-01-01', :tenantId, 3)`,
}

/** Counts all rows anew, where rows were made past the triggers. */
export const countAnew = async (trx: Parameters<typeof sql>[0]): Promise<void> => {
  await sql(trx, `delete from list_count`)
  await sql(trx, `delete from audit_day`)
  await sql(trx, `delete from platform_count`)
  await sql(
    trx,
    `insert into audit_day (chain, day, tenant_id, n) select chain, (at at time zone 'UTC')::date, tenant_id, count(*) from audit_entry
     where hash is not null group by 1, 2, 3`,
  )
  for (const [list, { columns, from }] of sourcesOfPlatform) {
    const by = columns.map((column) => `, ${column}`).join('')
    await sql(
      trx,
      `insert into platform_count (list${by}, n, folded) select '${list}'${by}, count(*), true from ${from} group by 1${by}`,
    )
  }
  for (const [list, { columns, from }] of sources) {
    const by = ['tenant_id', ...columns].join(', ')
    await sql(
      trx,
      `insert into list_count (list, ${by}, n, folded) select '${list}', ${by}, count(*), true from ${from} r group by ${by}`,
    )
  }
}
