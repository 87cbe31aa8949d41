import type { JournalKind } from '../../config/financial.ts'
import { conflict, forbidden, invalid, notFound, unprocessable } from '../../config/errors.ts'
import { isCnpj, isCpf } from '../../config/tax-ids.ts'
import { todayIn } from '../../config/time.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { equal, pageOf } from '../lib/lists.ts'
import { changeRow, readRow } from '../lib/records.ts'
import { unlessNamed } from '../lib/remove.ts'
import { bookDocument, keptDocument } from './book-document.ts'
import { provisionBook } from './book.ts'
import { Book } from './models.ts'

type Locks = { journalId: string; code: string; kind: JournalKind; lockedUntil: string | null }
type OpenPeriod = { id: string; startsOn: string; endsOn: string }

const page = pageOf(Book, { order: ['name', 'id'], filters: { active: equal('active') } })

/** A page of books by name, with their tax numbers. */
export const listBooks = async (trx: Trx, asked: Parameters<typeof page>[1]) => {
  const found = await page(trx, asked)
  return {
    ...found,
    rows: await Promise.all(found.rows.map(async (book) => ({ ...book, document: await bookDocument(trx, book) }))),
  }
}

/** A book with its first open period, the locks of its journals, and its properties. 404. */
export const readBook = async (trx: Trx, id: string) => {
  const { tenantId } = contextOf(trx)
  const [book, journals, period, properties] = await Promise.all([
    readRow(trx, Book, id),
    sql<Locks>(
      trx,
      `select id as journal_id, code, kind, locked_until from journal where tenant_id = ? and book_id = ? order by code`,
      [tenantId, id],
    ),
    sqlOne<OpenPeriod>(
      trx,
      `select id, starts_on, ends_on from fiscal_period where tenant_id = ? and book_id = ? and kind = 'regular' and status = 'open'
       order by starts_on limit 1`,
      [tenantId, id],
    ),
    sql<{ id: string }>(trx, `select id from property where tenant_id = ? and book_id = ? order by id`, [tenantId, id]),
  ])
  return {
    ...book,
    document: await bookDocument(trx, book),
    openPeriod: period,
    journals,
    propertyIds: properties.map((one) => one.id),
  }
}

const refuseDocument = (countryCode: string, document: string | null | undefined) => {
  if (!document || countryCode !== 'BR') return
  if (!isCnpj(document) && !isCpf(document))
    throw invalid([{ field: 'document', message: 'is no CNPJ or CPF: its check digits differ' }])
}

export type GivenBook = {
  name: string
  legalName: string
  countryCode: string
  document?: string | null
  taxRegime: 'simples' | 'presumed_profit' | 'actual_profit' | 'other'
  currency: string
  timeZone: string
  firstYearStartsOn: string
  template: 'hotel' | 'none'
}

const yearsBack = 5

/** Adds the book of a legal entity with chart, journals and its years from the first to the next (R30). 409 `duplicate_code` for a document that another has. */
export const createBook = async (trx: Trx, { firstYearStartsOn, template, ...book }: GivenBook): Promise<string> => {
  refuseDocument(book.countryCode, book.document)
  const today = todayIn(book.timeZone)
  const field = 'firstYearStartsOn'
  if (!firstYearStartsOn.endsWith('-01')) throw invalid([{ field, message: 'must be the first day of a month' }])
  const earliest = `${Number(today.slice(0, 4)) - yearsBack}${today.slice(4)}`
  if (firstYearStartsOn > today || firstYearStartsOn < earliest)
    throw invalid([{ field, message: `must be between ${earliest} and ${today}` }])
  const tenant = await sqlOne<{ locale: string }>(trx, `select locale from tenant where id = ?`, [
    contextOf(trx).tenantId,
  ])
  return provisionBook(trx, { ...book, locale: tenant?.locale ?? 'en', firstYearStartsOn, template })
}

export type BookChange = {
  name?: string | undefined
  legalName?: string | undefined
  document?: string | null | undefined
  taxRegime?: GivenBook['taxRegime'] | undefined
  approvalThreshold?: number | null | undefined
  singleOperator?: boolean | undefined
  isDefault?: true | undefined
  active?: boolean | undefined
}

/** Changes a book; 422 `in_use` for one that would be inactive with a live property or with entries in a year that is open. The caller holds its row. */
export const changeBook = async (trx: Trx, id: string, change: BookChange): Promise<void> => {
  const book = await readRow(trx, Book, id)
  refuseDocument(book.countryCode, change.document)
  const { tenantId } = contextOf(trx)
  if (change.active === false && book.active) {
    const user = await sqlOne<{ what: string }>(
      trx,
      `select what from (
         select 'it is the default book' as what where :isDefault
         union all select 'a property of it is not archived' where exists (select from property p where p.tenant_id = :tenantId and p.book_id = :id
           and p.status <> 'archived')
         union all select 'a year with entries is not closed' where exists (select from fiscal_year y where y.tenant_id = :tenantId and y.book_id = :id
           and y.status <> 'closed' and exists (select from journal_entry e where e.tenant_id = :tenantId and e.book_id = y.book_id
             and e.posting_date between y.starts_on and y.ends_on))) u limit 1`,
      { tenantId, id, isDefault: book.isDefault },
    )
    if (user) throw unprocessable('in_use', 'The book is in use', [{ field: 'active', message: user.what }])
  }
  if (change.isDefault && !book.isDefault) {
    if (change.active === false || !book.active)
      throw invalid([{ field: 'isDefault', message: 'belongs to an active book' }])
    await sql(trx, `update book set is_default = false, version = version + 1 where tenant_id = ? and is_default`, [
      tenantId,
    ])
  }
  const { document, ...rest } = change
  await changeRow(trx, Book, id, {
    ...rest,
    ...(document === undefined ? {} : await keptDocument(trx, book, document)),
  })
}

export type LockChange = {
  lockedUntil?: string | null | undefined
  journals?: readonly { journalId: string; lockedUntil: string | null }[] | undefined
  reason?: string | undefined
}

const movesBack = (now: string | null, next: string | null) => now !== null && (next === null || next < now)

/**
 * Sets the lock dates of a book and of its journals (R31); null clears one. 422 `postings_waiting` over events that wait, `reference_not_found`; a date that
 * moves back needs a reason (400) and `mayOverride` (403). The caller holds the book's row.
 */
export const setLocks = async (trx: Trx, id: string, change: LockChange, mayOverride: boolean): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const book = await readRow(trx, Book, id)
  const journals = await sql<{ id: string; kind: string; lockedUntil: string | null }>(
    trx,
    `select id, kind, locked_until from journal where tenant_id = ? and book_id = ? order by id for no key update`,
    [tenantId, id],
  )
  const given = (change.journals ?? []).map((one, index) => {
    const journal = journals.find((other) => other.id === one.journalId)
    const field = `journals.${index}.journalId`
    if (!journal)
      throw unprocessable('reference_not_found', 'The book has no such journal', [{ field, message: one.journalId }])
    return { ...one, journal }
  })
  const isBack =
    (change.lockedUntil !== undefined && movesBack(book.lockedUntil, change.lockedUntil)) ||
    given.some(({ journal, lockedUntil }) => movesBack(journal.lockedUntil, lockedUntil))
  if (isBack && !mayOverride) throw forbidden('forbidden', 'A lock moves back with the permission override Book alone')
  if (isBack && !change.reason) throw invalid([{ field: 'reason', message: 'is required where a lock moves back' }])
  const waiting = await sqlOne<{ postingDate: string }>(
    trx,
    `select e.posting_date from posting_event e where e.tenant_id = :tenantId and e.book_id = :id and e.status in ('pending', 'failed', 'parked')
       and (e.posting_date <= cast(:book as date) or exists (select from jsonb_to_recordset(cast(:kinds as jsonb)) as k (kind text, until date)
         where k.kind = e.journal_kind and e.posting_date <= k.until)) order by e.seq limit 1`,
    {
      tenantId,
      id,
      book: change.lockedUntil ?? null,
      kinds: JSON.stringify(given.map(({ journal, lockedUntil }) => ({ kind: journal.kind, until: lockedUntil }))),
    },
  )
  if (waiting)
    throw unprocessable('postings_waiting', 'Postings on these dates are still waiting', [
      { field: 'lockedUntil', message: `an event of ${waiting.postingDate} is not posted` },
    ])
  await sql(trx, `update book set locked_until = ?, version = version + 1 where tenant_id = ? and id = ?`, [
    change.lockedUntil === undefined ? book.lockedUntil : change.lockedUntil,
    tenantId,
    id,
  ])
  for (const { journal, lockedUntil } of given)
    await sql(trx, `update journal set locked_until = ?, version = version + 1 where tenant_id = ? and id = ?`, [
      lockedUntil,
      tenantId,
      journal.id,
    ])
  await audit(trx, {
    action: 'book.lock',
    subjectType: 'Book',
    subjectId: id,
    reason: change.reason ?? null,
    changes: [{ field: 'lockedUntil', before: book.lockedUntil, after: change.lockedUntil ?? book.lockedUntil }],
  })
}

/**
 * Gives a property to this book (R39). 422 `currency_mismatch`, `property_has_postings` once an event names it, `in_use` while a gateway account does.
 * The caller holds the book's row.
 */
export const assignProperty = async (trx: Trx, id: string, propertyId: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const book = await readRow(trx, Book, id)
  const property = await sqlOne<{ bookId: string; currency: string }>(
    trx,
    `select book_id, currency from property where tenant_id = ? and id = ? for no key update`,
    [tenantId, propertyId],
  )
  if (!property) throw notFound('No such property')
  if (property.bookId === id) return
  const field = 'propertyId'
  if (!book.active) throw conflict('invalid_transition', 'An inactive book takes no property')
  if (property.currency !== book.currency)
    throw unprocessable('currency_mismatch', 'Property and book have one currency', [
      { field, message: `is in ${property.currency}, the book in ${book.currency}` },
    ])
  const posted = await sqlOne(trx, `select 1 from posting_event where tenant_id = ? and property_id = ? limit 1`, [
    tenantId,
    propertyId,
  ])
  if (posted)
    throw unprocessable('property_has_postings', 'The property has postings in its present book', [
      { field, message: propertyId },
    ])
  const named = await sqlOne<{ what: string }>(
    trx,
    `select what from (
       select 'a gateway account of its present book is for it' as what where exists (select from gateway_account g where g.tenant_id = :tenantId
         and cast(:propertyId as uuid) = any(g.property_ids))
       union all select 'a tax of it names an account of its present book' where exists (select from tax_rule t where t.tenant_id = :tenantId
         and t.property_id = :propertyId and t.account_id is not null)
       union all select 'a cash account of its present book is for it' where exists (select from cash_account c where c.tenant_id = :tenantId
         and c.property_id = :propertyId and c.status <> 'archived')
       union all select 'a draft entry names it' where exists (select from entry_draft d where d.tenant_id = :tenantId and d.status <> 'posted'
         and d.lines @> cast(:line as jsonb))) u limit 1`,
    { tenantId, propertyId, line: JSON.stringify([{ propertyId }]) },
  )
  const inUse = (message: string) =>
    unprocessable('in_use', 'Records of the present book name the property', [{ field, message }])
  if (named) throw inUse(named.what)
  await unlessNamed(
    sql(trx, `update property set book_id = ?, version = version + 1 where tenant_id = ? and id = ?`, [
      id,
      tenantId,
      propertyId,
    ]),
    () => inUse('a budget, schedule or assessment of its present book is for it'),
  )
  await sql(trx, `update book set version = version + 1 where tenant_id = ? and id = ?`, [tenantId, id])
}
