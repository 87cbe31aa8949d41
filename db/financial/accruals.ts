import { invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { accrualCancelled, accrualCompleted } from '../../config/events/financial.ts'
import { todayIn } from '../../config/time.ts'
import { spread, sum } from '../lib/amounts.ts'
import { authorOf } from '../lib/authors.ts'
import { holds } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { equal, pageOf } from '../lib/lists.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { firstDayFor, requestDue } from './due.ts'
import { factsOfBook } from './manual-entries.ts'
import { AccrualSchedule } from './models.ts'
import { placeOf, postEntries, problemOfDate } from './post.ts'
import type { InlineEntry } from './post.ts'
import type { Line } from './rules/resolve.ts'
import { dayOfMonth } from './rules/schedule.ts'

const moves = lifecycle<'running' | 'completed' | 'cancelled'>('An accrual')({
  cancelled: { from: ['running'], to: 'cancelled' },
})

type Accrual = NonNullable<(typeof AccrualSchedule)['row']>

const pages = pageOf(AccrualSchedule, {
  order: ['createdAt desc', 'id'],
  filters: { bookId: equal('bookId'), kind: equal('kind'), status: equal('status'), propertyId: equal('propertyId') },
  scope: { propertyId: 'propertyId' },
})

/** An accrual as it is shown: the month in its own form, the asset together, and its value in the books. */
const shownOf = ({ firstMonth, assetNumber, assetAccountId, assetCost, assetResidual, ...accrual }: Accrual) => ({
  ...accrual,
  firstMonth: firstMonth.slice(0, 7),
  asset:
    assetCost === null || assetAccountId === null
      ? null
      : { number: assetNumber ?? '', accountId: assetAccountId, cost: assetCost, residual: assetResidual ?? 0 },
  bookValue: assetCost === null ? null : assetCost - accrual.posted,
})

export const listAccruals = async (trx: Trx, filter: Parameters<typeof pages>[1]) => {
  const { rows, total } = await pages(trx, filter)
  return { total, rows: rows.map(shownOf) }
}

const lastDay = (firstMonth: string, month: number) => dayOfMonth(firstMonth, month, 31)
const typeOf = ({ kind }: Pick<Accrual, 'kind'>) =>
  kind === 'deferred' ? 'financial.accrual_deferred' : 'financial.accrual_prepaid'

/** An accrual with all its months: amount, last day, and the entry where it is posted. Months of closed periods share one. 404. */
export const readAccrual = async (trx: Trx, id: string) => {
  const accrual = await readRow(trx, AccrualSchedule, id)
  const entries = await sql<{ id: string; seq: number }>(
    trx,
    `select id, source_seq as seq from journal_entry where tenant_id = ? and source_id = ? and source_type = ? order by source_seq`,
    [contextOf(trx).tenantId, id, typeOf(accrual)],
  )
  const months = spread(accrual.amount, accrual.months).map((amount, index) => ({
    month: lastDay(accrual.firstMonth, index).slice(0, 7),
    on: lastDay(accrual.firstMonth, index),
    amount,
    // A month on which nothing falls has no entry.
    entryId: amount > 0 && index < accrual.postedMonths ? (entries.find(({ seq }) => seq > index)?.id ?? null) : null,
  }))
  return { ...shownOf(accrual), schedule: months }
}

export type GivenAccrual = {
  bookId?: string | undefined
  kind: 'prepaid' | 'deferred' | 'depreciation'
  sourceAccountId?: string | undefined
  targetAccountId?: string | undefined
  amount: number
  firstMonth: string
  months: number
  asset?: { number: string; accountId: string; cost: number; residual: number } | null | undefined
  propertyId?: string | null | undefined
  costCenterId?: string | null | undefined
  description: string
}

const sourceRoles = {
  prepaid: 'prepaid_expenses',
  deferred: 'deferred_income',
  depreciation: 'accumulated_depreciation',
}

type FoundAccount = { id: string; role: string | null; class: string; usable: boolean }

/** The accounts of an accrual: those given, else by role. 400 without a target, 422 `account_not_usable`, `reference_not_found`. */
const accountsFor = async (trx: Trx, bookId: string, given: GivenAccrual) => {
  const sourceRole = sourceRoles[given.kind]
  const ids = [given.sourceAccountId, given.targetAccountId, given.asset?.accountId].filter((id) => id !== undefined)
  const accounts = await sql<FoundAccount>(
    trx,
    `select id, role, class, (postable and status = 'active' and control is null) as usable from account
     where tenant_id = ? and book_id = ? and (id = any(?::uuid[]) or role = any(?))`,
    [contextOf(trx).tenantId, bookId, ids, [sourceRole, 'depreciation']],
  )
  const errors: FieldError[] = []
  const find = (field: string, id: string | undefined, role: string | null, classes: string[]): string => {
    const account = accounts.find((one) => (id === undefined ? role !== null && one.role === role : one.id === id))
    if (!account)
      errors.push({
        field,
        message: id === undefined ? `the book has no account of role ${role ?? ''}` : 'is no account of the book',
      })
    else if (!account.usable) errors.push({ field, message: 'is a group, archived, or a control account' })
    else if (!classes.includes(account.class))
      errors.push({ field, message: `must be of class ${classes.join(' or ')}` })
    return account?.id ?? ''
  }
  if (given.targetAccountId === undefined && given.kind !== 'depreciation')
    throw invalid([{ field: 'targetAccountId', message: 'is required' }])
  const source = find('sourceAccountId', given.sourceAccountId, sourceRole, ['asset', 'liability'])
  const target = find('targetAccountId', given.targetAccountId, 'depreciation', ['revenue', 'expense'])
  if (given.asset) find('asset.accountId', given.asset.accountId, null, ['asset'])
  if (errors.length > 0) throw unprocessable('account_not_usable', 'The accrual cannot have this account', errors)
  return { source, target }
}

const refusePlace = async (trx: Trx, bookId: string, { propertyId, costCenterId }: GivenAccrual, scope: Condition) => {
  const found = await sqlOne<{ property: boolean; center: boolean }>(
    trx,
    `select exists (select from property p where p.tenant_id = :tenantId and p.book_id = :bookId and p.id = cast(:propertyId as uuid)) as property,
       exists (select from cost_center c where c.tenant_id = :tenantId and c.book_id = :bookId and c.active and c.id = cast(:costCenterId as uuid)) as center`,
    { tenantId: contextOf(trx).tenantId, bookId, propertyId: propertyId ?? null, costCenterId: costCenterId ?? null },
  )
  const errors = [
    ...((propertyId && !found?.property) || !holds(scope, { propertyId: propertyId ?? null })
      ? [{ field: 'propertyId', message: 'is no property of the book that the caller keeps the books of' }]
      : []),
    ...(costCenterId && !found?.center
      ? [{ field: 'costCenterId', message: 'is no cost centre of the book in use' }]
      : []),
  ]
  if (errors.length > 0) throw unprocessable('reference_not_found', 'The accrual names what is not there', errors)
}

/** Refuses months that no calendar here has: 400. */
const refuseMonths = ({ firstMonth, months }: GivenAccrual): void => {
  if (firstMonth < '1900-01') throw invalid([{ field: 'firstMonth', message: 'must be 1900-01 or later' }])
  if (lastDay(`${firstMonth}-01`, months - 1) > '2200-12-31')
    throw invalid([{ field: 'months', message: 'must end with 2200-12' }])
}

/** Spreads an amount over months (R22); months that are over are posted at once. */
export const createAccrual = async (trx: Trx, given: GivenAccrual, scope: Condition): Promise<string> => {
  const book = await factsOfBook(trx, given.bookId)
  const { asset = null } = given
  if ((given.kind === 'depreciation') !== (asset !== null))
    throw invalid([{ field: 'asset', message: 'belongs to kind depreciation, which needs it' }])
  if (asset && given.amount !== asset.cost - asset.residual)
    throw invalid([{ field: 'amount', message: `must be cost less residual value: ${asset.cost - asset.residual}` }])
  refuseMonths(given)
  const accounts = await accountsFor(trx, book.id, given)
  await refusePlace(trx, book.id, given, scope)
  const firstMonth = `${given.firstMonth}-01`
  const { id } = await insertRow(trx, AccrualSchedule, {
    bookId: book.id,
    kind: given.kind,
    sourceAccountId: accounts.source,
    targetAccountId: accounts.target,
    amount: given.amount,
    firstMonth,
    months: given.months,
    assetNumber: asset?.number ?? null,
    assetAccountId: asset?.accountId ?? null,
    assetCost: asset?.cost ?? null,
    assetResidual: asset?.residual ?? null,
    propertyId: given.propertyId ?? null,
    costCenterId: given.costCenterId ?? null,
    description: given.description,
    nextOn: lastDay(firstMonth, 0),
    createdBy: await authorOf(trx),
  })
  await requestDue(trx, book.id, todayIn(book.timeZone))
  return id
}

const entryOf = (accrual: Accrual, amount: number, seq: number, postingDate: string): InlineEntry => {
  const line = (accountId: string, side: Line['side'], costCenterId: string | null): Line => ({
    accountId,
    side,
    amount,
    propertyId: accrual.propertyId,
    costCenterId,
    partyType: null,
    partyId: null,
    documentType: null,
    documentId: null,
    taxCodeId: null,
    taxBase: null,
    memo: '',
  })
  const isDeferred = accrual.kind === 'deferred'
  return {
    source: { type: typeOf(accrual), id: accrual.id, seq },
    bookId: accrual.bookId,
    postingDate,
    kind: 'standard',
    description: accrual.description,
    lines: isDeferred
      ? [line(accrual.sourceAccountId, 'debit', null), line(accrual.targetAccountId, 'credit', accrual.costCenterId)]
      : [line(accrual.targetAccountId, 'debit', accrual.costCenterId), line(accrual.sourceAccountId, 'credit', null)],
    createdBy: accrual.createdBy,
  }
}

/** Accruals of a book with a month that is over by a day. */
export const dueAccruals = (trx: Trx, bookId: string, date: string) =>
  sql<{ id: string }>(
    trx,
    `select id from accrual_schedule where tenant_id = ? and book_id = ? and status = 'running' and next_on <= ? order by next_on, id`,
    [contextOf(trx).tenantId, bookId, date],
  )

/** The entries of the months of an accrual that are over by a day and not posted, with what is posted then. Null while there are none, or no day is open for them. */
const overBy = async (
  trx: Trx,
  accrual: Accrual,
  date: string,
): Promise<{ entries: InlineEntry[]; posted: number; postedMonths: number } | null> => {
  const due = spread(accrual.amount, accrual.months)
    .map((amount, index) => ({ amount, number: index + 1, on: lastDay(accrual.firstMonth, index) }))
    .filter(({ number, on }) => number > accrual.postedMonths && on <= date)
  const last = due.at(-1)
  if (!last) return null
  const entries: InlineEntry[] = []
  const shut: typeof due = []
  for (const one of due) {
    const at = { bookId: accrual.bookId, postingDate: one.on, kind: 'standard' as const }
    if (problemOfDate(await placeOf(trx, at), at) !== null) shut.push(one)
    else if (one.amount > 0) entries.push(entryOf(accrual, one.amount, one.number, one.on))
  }
  const behind = sum(shut.map(({ amount }) => amount))
  const lastShut = shut.at(-1)
  if (lastShut && behind > 0) {
    const on = await firstDayFor(trx, { bookId: accrual.bookId }, lastShut.on)
    if (on === null) return null
    entries.unshift(entryOf(accrual, behind, lastShut.number, on))
  }
  return { entries, posted: accrual.posted + sum(due.map(({ amount }) => amount)), postedMonths: last.number }
}

/** Posts the months of an accrual that are over by a day, each on its last day; those of closed periods in one sum on the first open day. */
export const runAccrual = async (trx: Trx, id: string, date: string): Promise<void> => {
  await sql(trx, `select id from accrual_schedule where tenant_id = ? and id = ? for no key update`, [
    contextOf(trx).tenantId,
    id,
  ])
  const accrual = await readRow(trx, AccrualSchedule, id)
  if (accrual.status !== 'running') return
  const over = await overBy(trx, accrual, date)
  if (!over) return
  const { entries, ...posted } = over
  const isOver = posted.postedMonths === accrual.months
  const version = await changeRow(trx, AccrualSchedule, id, {
    ...posted,
    ...(isOver ? { status: 'completed', nextOn: null } : { nextOn: lastDay(accrual.firstMonth, posted.postedMonths) }),
  })
  if (isOver) await tell(trx, accrualCompleted, accrual, version)
  await postEntries(trx, entries)
}

const tell = (trx: Trx, event: typeof accrualCompleted, { id, bookId, propertyId }: Accrual, version: number) =>
  emit(trx, event, { propertyId, id, version, data: { accrualScheduleId: id, bookId } })

/**
 * Stops an accrual: months that are over are posted as the nightly run would, and the rest in one entry if asked. The caller holds its row.
 * 422 `period_missing`, `period_closed`, `date_locked` for the date of the rest.
 */
export const cancelAccrual = async (
  trx: Trx,
  id: string,
  { rest, postingDate }: { rest: 'leave' | 'post'; postingDate?: string | undefined },
): Promise<void> => {
  const accrual = await readRow(trx, AccrualSchedule, id)
  if (!moves.isDue('cancelled', accrual.status)) return
  const today = todayIn((await factsOfBook(trx, accrual.bookId)).timeZone)
  const { posted, postedMonths } = accrual
  const over = (await overBy(trx, accrual, today)) ?? { entries: [], posted, postedMonths }
  const left = accrual.amount - over.posted
  const posts = rest === 'post' && left > 0
  const version = await changeRow(trx, AccrualSchedule, id, {
    status: 'cancelled',
    nextOn: null,
    posted: posts ? accrual.amount : over.posted,
    postedMonths: over.postedMonths,
  })
  await tell(trx, accrualCancelled, accrual, version)
  await postEntries(trx, [
    ...over.entries,
    ...(posts ? [entryOf(accrual, left, accrual.months + 1, postingDate ?? today)] : []),
  ])
}
