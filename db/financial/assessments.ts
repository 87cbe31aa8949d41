import { randomUUID } from 'node:crypto'
import { unprocessable } from '../../config/errors.ts'
import { wordsOf } from '../../config/financial.ts'
import { taxAssessmentPosted } from '../../config/events/financial.ts'
import { ledgerAssessTaxes } from '../../jobs/financial.ts'
import { authorOf } from '../lib/authors.ts'
import { holds } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { enqueue } from '../lib/enqueue.ts'
import { equal, pageOf } from '../lib/lists.ts'
import { insertRows, readRow } from '../lib/records.ts'
import { bookFor } from './chart.ts'
import { FiscalPeriod, TaxAssessment } from './models.ts'
import { postEntries } from './post.ts'
import type { InlineEntry } from './post.ts'
import type { Line } from './rules/resolve.ts'
import { lastSequence, requestSeal } from './seals.ts'

export type Assessed = {
  taxCodeId: string
  propertyId: string | null
  base: number
  rate: number
  tax: number
  /** Earlier assessments of the period. */
  before: number
  delta: number
}
type Due = Assessed & { liabilityAccountId: string; contraAccountId: string; baseBefore: number; number: number }

/**
 * Taxes on the revenue of a period (R34), one row for each code and property with a movement, and one for lines without a property. `:tenantId`, `:bookId`,
 * `:periodId`, `:on` and `:taxCodeIds` are bound; the base is revenue less allowances of the same departments, never below 0.
 */
export const dueTaxes = `
  with wanted as (
    select t.id, t.code, t.liability_account_id, t.contra_account_id, r.rate,
      t.sections || array(select p.allowances from (values ('rooms_revenue', 'rooms_allowances'), ('food_beverage_revenue', 'food_beverage_allowances'),
        ('other_operated_revenue', 'other_operated_allowances')) as p (revenue, allowances) where p.revenue = any(t.sections)) as sections
    from tax_code t join tax_rate r on r.tenant_id = t.tenant_id and r.tax_code_id = t.id
      and daterange(r.valid_from, r.valid_to, '[]') @> cast(:on as date)
    where t.tenant_id = :tenantId and t.book_id = :bookId and t.kind = 'period' and t.active and t.contra_account_id is not null
      and (cast(:taxCodeIds as uuid[]) is null or t.id = any(cast(:taxCodeIds as uuid[])))
  ), moved as (
    select w.id as tax_code_id, b.property_id, sum(b.credit - b.debit) as base
    from wanted w
    join account a on a.tenant_id = :tenantId and a.book_id = :bookId and a.postable and a.section = any(w.sections)
    join account_balance b on b.tenant_id = a.tenant_id and b.book_id = a.book_id and b.account_id = a.id and b.period_id = :periodId
    group by 1, 2
  ), earlier as (
    select x.tax_code_id, x.property_id, sum(x.delta) as tax, max(x.number) as number,
      (array_agg(x.base order by x.number desc))[1] as base
    from tax_assessment x where x.tenant_id = :tenantId and x.period_id = :periodId group by 1, 2
  ), places as (
    select tax_code_id, property_id from moved union select e.tax_code_id, e.property_id from earlier e where e.tax_code_id in (select id from wanted)
  )
  select p.tax_code_id, p.property_id, w.liability_account_id, w.contra_account_id, w.rate,
    cast(greatest(coalesce(m.base, 0), 0) as bigint) as base,
    cast(div(greatest(coalesce(m.base, 0), 0) * w.rate * 2 + 1000000, 2000000) as bigint) as tax,
    cast(coalesce(e.tax, 0) as bigint) as before, cast(coalesce(e.base, 0) as bigint) as base_before,
    cast(div(greatest(coalesce(m.base, 0), 0) * w.rate * 2 + 1000000, 2000000) - coalesce(e.tax, 0) as bigint) as delta,
    cast(coalesce(e.number, 0) + 1 as int) as number
  from places p join wanted w on w.id = p.tax_code_id
  left join moved m on m.tax_code_id = p.tax_code_id and m.property_id is not distinct from p.property_id
  left join earlier e on e.tax_code_id = p.tax_code_id and e.property_id is not distinct from p.property_id
  order by w.code, p.tax_code_id, p.property_id nulls first`

type Period = {
  id: string
  bookId: string
  endsOn: string
  status: 'open' | 'soft_closed' | 'closed'
  closedBy: string | null
  diaryUntil: number | null
}

const dueIn = (trx: Trx, period: Period, taxCodeIds: readonly string[] | null) =>
  sql<Due>(trx, dueTaxes, {
    tenantId: contextOf(trx).tenantId,
    bookId: period.bookId,
    periodId: period.id,
    on: period.endsOn,
    taxCodeIds: taxCodeIds === null ? null : [...taxCodeIds],
  })

const lineOf = (due: Due, accountId: string, side: Line['side'], tells: boolean): Line => ({
  accountId,
  side,
  amount: Math.abs(due.delta),
  propertyId: due.propertyId,
  costCenterId: null,
  partyType: null,
  partyId: null,
  documentType: null,
  documentId: null,
  taxCodeId: due.taxCodeId,
  // The tax is told once: on its liability, with the base that the delta is of.
  taxBase: tells ? due.base - due.baseBefore : null,
  memo: '',
})

/** Taxes of one run that became due of one code: what each property owes, in minor units. */
export type AssessedTax = {
  bookId: string
  taxCodeId: string
  /** The last day of the period. */
  endsOn: string
  /** The first of its assessments. */
  assessmentId: string
  lines: { accountId: string; amount: number; propertyId: string | null }[]
}
type DraftTaxes = (trx: Trx, taxes: readonly AssessedTax[]) => Promise<void>
let draftTaxes: DraftTaxes = () => Promise.resolve()

/** Says what makes a payable of taxes that became due (R35). */
export const registerTaxDrafts = (draft: DraftTaxes): void => {
  draftTaxes = draft
}

const taxesOf = ({ bookId, endsOn }: Period, given: readonly (Due & { id: string })[]): AssessedTax[] => {
  const raised = given.filter(({ delta }) => delta > 0)
  return [...new Set(raised.map(({ taxCodeId }) => taxCodeId))].map((taxCodeId) => {
    const own = raised.filter((one) => one.taxCodeId === taxCodeId)
    return {
      bookId,
      taxCodeId,
      endsOn,
      assessmentId: own[0]?.id ?? '',
      lines: own.map(({ liabilityAccountId, delta, propertyId }) => ({
        accountId: liabilityAccountId,
        amount: delta,
        propertyId,
      })),
    }
  })
}

/** Posts the differences on the last day of the period; late, by who closed it, where the period is soft-closed. The caller holds the period's row. */
const postDue = async (trx: Trx, period: Period, due: readonly Due[], author: string | null): Promise<void> => {
  const given = due.filter(({ delta }) => delta !== 0).map((one) => ({ ...one, id: randomUUID() }))
  if (given.length === 0) return
  const book = await sqlOne<{ countryCode: string; currency: string }>(
    trx,
    `select country_code, currency from book where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, period.bookId],
  )
  const type = 'financial.tax_assessed'
  const isLate = period.status !== 'open'
  const entries = given.map((one): InlineEntry => ({
    source: { type, id: one.id },
    bookId: period.bookId,
    postingDate: period.endsOn,
    kind: 'standard',
    description: wordsOf(type, book?.countryCode ?? ''),
    lines: [
      lineOf(one, one.contraAccountId, one.delta > 0 ? 'debit' : 'credit', false),
      lineOf(one, one.liabilityAccountId, one.delta > 0 ? 'credit' : 'debit', true),
    ],
    late: isLate,
    createdBy: isLate ? null : author,
    approvedBy: isLate ? period.closedBy : null,
  }))
  const ids = await postEntries(trx, entries)
  await insertRows(
    trx,
    TaxAssessment,
    given.map(({ id, taxCodeId, propertyId, number, base, rate, tax, delta }, index) => ({
      id,
      bookId: period.bookId,
      taxCodeId,
      periodId: period.id,
      propertyId,
      number,
      base,
      rate,
      tax,
      delta,
      entryId: ids[index] ?? '',
    })),
  )
  await draftTaxes(trx, taxesOf(period, given))
  for (const { id, taxCodeId, delta } of given)
    await emit(trx, taxAssessmentPosted, {
      propertyId: null,
      id,
      version: null,
      data: {
        taxAssessmentId: id,
        taxCodeId,
        fiscalPeriodId: period.id,
        amount: delta,
        currency: book?.currency ?? '',
      },
    })
}

const lockPeriod = (trx: Trx, periodId: string) =>
  sqlOne<Period>(
    trx,
    `select id, book_id, ends_on, status, closed_by, diary_until from fiscal_period where tenant_id = ? and id = ? for no key update`,
    [contextOf(trx).tenantId, periodId],
  )

/** Asks that the taxes of a soft-closed period be assessed. */
export const requestAssessment = async (trx: Trx, bookId: string, periodId: string): Promise<void> => {
  await enqueue(trx, ledgerAssessTaxes, { tenantId: contextOf(trx).tenantId ?? '', bookId, periodId })
}

/**
 * Assesses the taxes of a soft-closed period, and has its diary numbered where that has not begun. A period that is open again, or closed, is left as it is.
 */
export const carryOutAssessment = async (trx: Trx, periodId: string): Promise<void> => {
  const period = await lockPeriod(trx, periodId)
  if (period?.status !== 'soft_closed') return
  await postDue(trx, period, await dueIn(trx, period, null), null)
  await sql(
    trx,
    `update fiscal_period p set taxes_due = false, version = version + 1, diary_until = coalesce(p.diary_until, ${lastSequence})
     where p.tenant_id = :tenantId and p.id = :periodId`,
    { tenantId: contextOf(trx).tenantId, periodId },
  )
  await requestSeal(trx, period.bookId, periodId)
}

/** Has the taxes assessed anew after an entry that is about to be posted late into a soft-closed period. */
export const expectLateEntry = async (trx: Trx, bookId: string, postingDate: string): Promise<void> => {
  // Before its entry locks the period: two of them would wait for each other.
  const found = await sqlOne<{ id: string }>(
    trx,
    `update fiscal_period set taxes_due = true where tenant_id = ? and book_id = ? and kind = 'regular' and status = 'soft_closed'
       and cast(? as date) between starts_on and ends_on returning id`,
    [contextOf(trx).tenantId, bookId, postingDate],
  )
  if (found) await requestAssessment(trx, bookId, found.id)
}

export type Assessing = {
  bookId?: string
  periodId: string
  taxCodeIds?: readonly string[]
  dryRun?: boolean
  /** The properties of the caller. */
  scope: Condition
}

/**
 * The taxes of a period as they are due, posted unless `dryRun`. 404 for a period of another book; 422 `reference_not_found` for an unknown code,
 * `period_closed` for a closed period or the closing one.
 */
export const assessTaxes = async (
  trx: Trx,
  { bookId, periodId, taxCodeIds, dryRun = false, scope }: Assessing,
): Promise<Assessed[]> => {
  const book = await bookFor(trx, bookId)
  const { kind } = await readRow(trx, FiscalPeriod, { id: periodId, bookId: book.id }, ['kind'])
  const period = await lockPeriod(trx, periodId)
  if (!period) return []
  const known = await sql<{ id: string }>(
    trx,
    `select id from tax_code where tenant_id = ? and book_id = ? and kind = 'period' and id = any(?::uuid[])`,
    [contextOf(trx).tenantId, book.id, [...(taxCodeIds ?? [])]],
  )
  const unknown = (taxCodeIds ?? []).flatMap((id, index) =>
    known.some((one) => one.id === id)
      ? []
      : [{ field: `taxCodeIds.${index}`, message: 'is no code of kind period of the book' }],
  )
  if (unknown.length > 0) throw unprocessable('reference_not_found', 'The book has no such tax code', unknown)
  const due = (await dueIn(trx, period, taxCodeIds ?? null)).filter(({ propertyId }) => holds(scope, { propertyId }))
  if (!dryRun) {
    if (kind === 'closing' || period.status === 'closed')
      throw unprocessable('period_closed', 'The period is closed', [{ field: 'periodId', message: periodId }])
    await postDue(trx, period, due, await authorOf(trx))
  }
  return due
}

/** A page of assessments, the latest first. */
export const listAssessments = pageOf(TaxAssessment, {
  order: ['createdAt desc', 'id'],
  filters: {
    bookId: equal('bookId'),
    periodId: equal('periodId'),
    taxCodeId: equal('taxCodeId'),
    propertyId: equal('propertyId'),
  },
  scope: { propertyId: 'propertyId' },
})
