import { wordOf } from '../../../config/report-texts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { balance } from '../figures.ts'
import { ledgerBook, metaOf, rangeOf, scopeOf } from '../ledger-context.ts'
import { localName } from '../operating/table.ts'
import type { Asked, Column, Meta, Reading, Sight, Window } from '../reading.ts'
import { priceTaxesOf, summedDays } from '../stays.ts'

export type TaxRow = {
  kind: 'period' | 'document' | 'withheld_from_suppliers' | 'withheld_by_customers' | 'rule'
  code: string
  name: string
  propertyId: string | null
  /** `2026-01`; null by property. */
  period: string | null
  base: number
  /** Rate in percent with four places, where all of the row has one. */
  rate: string | null
  tax: number
  /** Closing balance of the account that owes the tax, on its normal side; null for rules of prices. */
  payable: number | null
}

type Found = Omit<TaxRow, 'rate' | 'payable'> & { rate: number | null; accountId: string | null }

const inRange = `between cast(:from as date) and cast(:to as date)`
const inScope = (column: string) =>
  `(cast(:properties as uuid[]) is null or ${column} = any(cast(:properties as uuid[])))`

/** Taxes on the revenue of periods, as they were assessed: the last assessment of each property and period is what it comes to. */
const assessed = `
  select 'period' as kind, c.code, c.name, x.property_id, to_char(p.starts_on, 'YYYY-MM') as period, cast(sum(x.base) as bigint) as base,
    case when min(x.rate) = max(x.rate) then min(x.rate) end as rate, cast(sum(x.tax) as bigint) as tax, c.liability_account_id as account_id
  from (select distinct on (t.tax_code_id, t.period_id, t.property_id) t.* from tax_assessment t
    where t.tenant_id = :tenantId and t.book_id = :bookId and ${inScope('t.property_id')}
    order by t.tax_code_id, t.period_id, t.property_id, t.number desc) x
  join fiscal_period p on p.tenant_id = x.tenant_id and p.id = x.period_id and p.ends_on ${inRange}
  join tax_code c on c.tenant_id = x.tenant_id and c.id = x.tax_code_id
  group by c.id, c.code, c.name, c.liability_account_id, x.property_id, p.starts_on`

/** Taxes of documents, and what was withheld: the lines that carry the code on the account that owes it. */
const ofDocuments = `
  select c.kind, c.code, c.name, l.property_id, to_char(l.posting_date, 'YYYY-MM') as period,
    cast(sum(coalesce(l.tax_base, 0) * case when (a.side = 'credit') = (l.credit > 0) then 1 else -1 end) as bigint) as base, null::int as rate,
    cast(sum(case a.side when 'credit' then l.credit - l.debit else l.debit - l.credit end) as bigint) as tax, c.liability_account_id as account_id
  from tax_code c join journal_line l on l.tenant_id = c.tenant_id and l.book_id = c.book_id and l.tax_code_id = c.id
    and l.account_id = c.liability_account_id and l.posting_date ${inRange} and ${inScope('l.property_id')}
  join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
  where c.tenant_id = :tenantId and c.book_id = :bookId and c.kind <> 'period'
  group by c.id, c.kind, c.code, c.name, c.liability_account_id, l.property_id, 5`

/** Taxes inside and on top of guests' prices, by the rules of properties: from the sums of closed days, and else from the lines of folios. */
const ofRules = `
  with house as (select p.id from property p where p.tenant_id = :tenantId and p.book_id = :bookId and ${inScope('p.id')}), ${summedDays},
  taxed (property_id, date, code, rule, base, tax) as (
    ${priceTaxesOf('live')}
    union all
    select s.property_id, s.date, s.code, s.rule, s.base, s.tax from house h
    join price_tax_sum s on s.tenant_id = :tenantId and s.property_id = h.id and s.date ${inRange}
    join kept k on k.property_id = s.property_id and k.date = s.date)
  select 'rule' as kind, t.code, coalesce(max(${localName}), t.code) as name, t.property_id, to_char(t.date, 'YYYY-MM') as period,
    cast(sum(t.base) as bigint) as base, null::int as rate, cast(sum(t.tax) as bigint) as tax, null::uuid as account_id
  from taxed t
  left join tax_rule x on x.tenant_id = :tenantId and x.id = cast(nullif(t.rule, '') as uuid)
  group by 2, 4, 5`

const percent = (rate: number | null): string | null => {
  if (rate === null) return null
  const digits = String(rate).padStart(5, '0')
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`
}

const columnsOf = ({ locale }: Meta): Column[] => {
  const word = (key: string) => wordOf(key, locale)
  return [
    { key: 'kind', title: word('kind'), kind: 'text', width: 18 },
    { key: 'code', title: word('code'), kind: 'text', width: 12 },
    { key: 'name', title: word('tax'), kind: 'text', width: 30 },
    { key: 'propertyId', title: word('property'), kind: 'text', width: 36 },
    { key: 'period', title: word('period'), kind: 'text', width: 10 },
    { key: 'base', title: word('base'), kind: 'amount' },
    { key: 'rate', title: word('rate'), kind: 'ratio' },
    { key: 'tax', title: word('tax'), kind: 'amount' },
    { key: 'payable', title: word('payable'), kind: 'amount' },
  ]
}

/** Rows of one code together, over properties or over months. */
const merged = (found: readonly Found[], by: 'period' | 'property'): Found[] => {
  const rows = new Map<string, Found>()
  for (const one of found) {
    const row = by === 'period' ? { ...one, propertyId: null } : { ...one, period: null }
    const key = `${row.kind} ${row.code} ${row.propertyId} ${row.period}`
    const known = rows.get(key)
    rows.set(
      key,
      known
        ? {
            ...known,
            base: known.base + row.base,
            tax: known.tax + row.tax,
            rate: known.rate === row.rate ? row.rate : null,
          }
        : row,
    )
  }
  return [...rows.values()].toSorted((a, b) =>
    [a.kind, a.code, a.period ?? '', a.propertyId ?? ''].join(' ') <
    [b.kind, b.code, b.period ?? '', b.propertyId ?? ''].join(' ')
      ? -1
      : 1,
  )
}

/** Base and tax of each code, by month or property (R12). A period that is not assessed yet has no row. */
export const openTaxes = async (trx: Trx, asked: Asked, sight: Sight, window: Window): Promise<Reading<TaxRow>> => {
  const { by = 'period' } = asked as { by?: 'period' | 'property' }
  const book = await ledgerBook(trx, asked, sight)
  const range = rangeOf('taxes', asked, book, window)
  const properties = scopeOf(asked, sight)
  const meta = await metaOf(trx, 'taxes', book, range, properties, sight)
  const values = { tenantId: contextOf(trx).tenantId, bookId: book.id, ...range, properties, locale: meta.locale }
  const lists = await Promise.all([assessed, ofDocuments, ofRules].map((text) => sql<Found>(trx, text, values)))
  const found = merged(lists.flat(), by)
  const accounts = [...new Set(found.flatMap(({ accountId }) => (accountId === null ? [] : [accountId])))]
  const sides = await sql<{ id: string; side: string }>(
    trx,
    `select id, side from account where tenant_id = ? and id = any(?::uuid[])`,
    [values.tenantId, accounts],
  )
  const owed = await balance(trx, {
    bookId: book.id,
    on: range.to,
    properties,
    accountIds: accounts,
    withClosing: true,
  })
  const sideOf = new Map(sides.map(({ id, side }) => [id, side]))
  const payable = new Map(
    owed.map(({ accountId, debit, credit }) => [
      accountId,
      sideOf.get(accountId) === 'debit' ? debit - credit : credit - debit,
    ]),
  )
  const rows = found.map(({ accountId, rate, ...row }): TaxRow => ({
    ...row,
    rate: percent(rate),
    payable: accountId === null ? null : (payable.get(accountId) ?? 0),
  }))
  const totals = { tax: rows.reduce((sum, { tax }) => sum + tax, 0) }
  return {
    meta,
    rows,
    totals: () => totals,
    columns: columnsOf(meta),
    flat: (row) => [row],
    foot: () => ({ name: wordOf('totals', meta.locale), ...totals }),
  }
}
