import { bookOf, todayOf } from '../documents/index.ts'
import type { BookFacts } from '../documents/index.ts'
import { randomUUID } from 'node:crypto'
import { invalid } from '../../config/errors.ts'
import {
  recurringPayableChanged,
  recurringPayableCreated,
  recurringPayableOccurred,
} from '../../config/events/accounts-payable.ts'
import type { Event } from '../../config/events/event.ts'
import { refuseProblems } from '../financial/index.ts'
import { ledgerGenerateRecurring } from '../../jobs/accounts-payable.ts'
import { addDays } from '../../config/time.ts'
import { sum } from '../lib/amounts.ts'
import { authorOf, editorsWith } from '../lib/authors.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { emit } from '../lib/events.ts'
import { equal, matching, pageOf } from '../lib/lists.ts'
import { model } from '../lib/models.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { Payable } from './models.ts'
import { namePayee } from './payee.ts'
import { createPayable, sumsOf } from './payables/create.ts'
import type { NewPayable } from './payables/create.ts'
import { submitPayable } from './payables/moves.ts'
import { problemsOfLines, refuseShapes, withholdingsOf } from './payables/lines.ts'
import { occurrence, occurrenceAfter } from './rules/rhythm.ts'

/** The content of each bill of a recurring one. */
export type RecurringTemplate = Pick<
  NewPayable,
  'supplierId' | 'payeeName' | 'payeeDocument' | 'kind' | 'lines' | 'withholdings' | 'notes'
>
export const RecurringPayable = model<'recurring_payable', { template: RecurringTemplate }>('recurring_payable')
export type RecurringRecord = NonNullable<(typeof RecurringPayable)['row']>

export type NewRecurring = {
  bookId?: string | undefined
  propertyId?: string | null | undefined
  name: string
  template: RecurringTemplate
  every?: number | undefined
  unit: 'week' | 'month' | 'year'
  day?: number | null | undefined
  firstOn: string
  endsOn?: string | null | undefined
  leadDays?: number | undefined
  submit?: boolean | undefined
}
export type RecurringChange = {
  name?: string | undefined
  template?: RecurringTemplate | undefined
  endsOn?: string | null | undefined
  leadDays?: number | undefined
  pausedUntil?: string | null | undefined
  submit?: boolean | undefined
}

const tell = (trx: Trx, event: Event, id: string, version: number, propertyId: string | null) =>
  emit(trx, event, { propertyId, id, version, data: { recurringPayableId: id } })

const request = (trx: Trx, bookId: string, date: string) =>
  enqueue(trx, ledgerGenerateRecurring, { tenantId: contextOf(trx).tenantId ?? '', bookId, date })

const within = (on: string, endsOn: string | null): string | null => (endsOn !== null && on > endsOn ? null : on)

/** Refuses what no bill could be made of today: shapes and sums, lines of other books, codes that are not withheld. What is closed later makes drafts with warnings. */
const refuseTemplate = async (
  trx: Trx,
  book: BookFacts,
  { kind, lines, withholdings }: RecurringTemplate,
): Promise<void> => {
  refuseShapes(lines)
  const delivered = lines.findIndex(({ accountId }) => !accountId)
  if (delivered >= 0)
    throw invalid([
      { field: `template.lines.${delivered}.accountId`, message: 'is required: a delivery is billed once' },
    ])
  refuseProblems(
    (await problemsOfLines(trx, book, kind, lines)).map((one) => ({ ...one, field: `template.${one.field}` })),
  )
  const gross = sum(lines.map(({ amount }) => amount))
  sumsOf(lines, await withholdingsOf(trx, book, { gross, issuedOn: todayOf(book) }, withholdings, []))
}

/** Makes a bill that recurs. Its first ones that are due soon are made after the commit. */
export const createRecurring = async (
  trx: Trx,
  given: NewRecurring,
  { features }: { features: readonly string[] },
): Promise<string> => {
  const book = await bookOf(trx, given)
  const { payee } = await namePayee(trx, given.template, { features, countryCode: book.countryCode })
  await refuseTemplate(trx, book, given.template)
  const { every = 1, unit, firstOn, endsOn = null } = given
  if (endsOn !== null && endsOn < firstOn) throw invalid([{ field: 'endsOn', message: 'must not be before firstOn' }])
  const day = unit === 'week' ? null : (given.day ?? Number(firstOn.slice(8)))
  const first = occurrenceAfter({ every, unit, day, firstOn }, addDays(firstOn, -1))
  const id = randomUUID()
  await insertRow(trx, RecurringPayable, {
    id,
    bookId: book.id,
    propertyId: given.propertyId ?? null,
    supplierId: payee.supplierId,
    name: given.name,
    template: given.template,
    every,
    unit,
    day,
    firstOn,
    endsOn,
    nextOn: within(first.on, endsOn),
    made: first.index,
    leadDays: given.leadDays,
    submit: given.submit,
    createdBy: await authorOf(trx),
  })
  await tell(trx, recurringPayableCreated, id, 1, given.propertyId ?? null)
  await request(trx, book.id, todayOf(book))
  return id
}

/** Changes, pauses or ends what is still to come. The caller holds its row. */
export const changeRecurring = async (
  trx: Trx,
  id: string,
  change: RecurringChange,
  { features }: { features: readonly string[] },
): Promise<void> => {
  const row = await readRow(trx, RecurringPayable, id)
  if (Object.keys(change).length === 0) return
  const book = await bookOf(trx, { bookId: row.bookId })
  const named = change.template
    ? await namePayee(trx, change.template, { features, countryCode: book.countryCode })
    : null
  if (change.template) await refuseTemplate(trx, book, change.template)
  const endsOn = change.endsOn === undefined ? row.endsOn : change.endsOn
  if (endsOn !== null && endsOn < row.firstOn)
    throw invalid([{ field: 'endsOn', message: 'must not be before firstOn' }])
  const isWritten = change.template !== undefined || change.submit !== undefined
  const version = await changeRow(trx, RecurringPayable, id, {
    ...change,
    nextOn: within(occurrence(row, row.made), endsOn),
    ...(isWritten ? { editors: editorsWith(row, await authorOf(trx)) } : {}),
    ...(named ? { supplierId: named.payee.supplierId } : {}),
  })
  await tell(trx, recurringPayableChanged, id, version, row.propertyId)
  await request(trx, book.id, todayOf(book))
}

export const readRecurring = (trx: Trx, id: string) => readRow(trx, RecurringPayable, id)

export const listRecurring = pageOf(RecurringPayable, {
  order: ['name', 'id'],
  filters: {
    supplierId: equal('supplierId'),
    propertyId: equal('propertyId'),
    bookId: equal('bookId'),
    ended: matching<boolean>('(next_on is null) = ?'),
  },
  scope: { propertyId: 'propertyId' },
})

/** Recurring bills of a book of which one is due within its lead time. */
export const dueRecurring = async (trx: Trx, bookId: string, date: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(
      trx,
      `select id from recurring_payable where tenant_id = ? and book_id = ? and next_on - lead_days <= cast(? as date) order by id`,
      [contextOf(trx).tenantId, bookId, date],
    )
  ).map(({ id }) => id)

/**
 * Makes the next bill of a recurring one, once per due date (R18). One that falls into a pause is skipped, and not caught up. Answers whether another one is due.
 */
export const occur = async (trx: Trx, id: string, date: string): Promise<boolean> => {
  const { tenantId } = contextOf(trx)
  const row = await sqlOne<RecurringRecord>(
    trx,
    `select * from recurring_payable where tenant_id = ? and id = ? for no key update`,
    [tenantId, id],
  )
  if (!row || row.nextOn === null || addDays(row.nextOn, -row.leadDays) > date) return false
  const dueOn = row.nextOn
  const next = occurrenceAfter(row, dueOn, row.made)
  const version = await changeRow(trx, RecurringPayable, id, {
    nextOn: within(next.on, row.endsOn),
    made: next.index,
  })
  const isPaused = row.pausedUntil !== null && dueOn <= row.pausedUntil
  const key = `${id}:${dueOn}`
  const made = await sqlOne<{ id: string }>(
    trx,
    `select id from payable where tenant_id = ? and source = 'recurring' and source_key = ?`,
    [tenantId, key],
  )
  if (!isPaused && !made) {
    const issuedOn = dueOn < date ? dueOn : date
    const payableId = await createPayable(
      trx,
      {
        ...row.template,
        bookId: row.bookId,
        propertyId: row.propertyId,
        issuedOn,
        withholdings: row.template.withholdings ?? [],
      },
      {
        features: ['suppliers'],
        source: { source: 'recurring', key },
        authors: [row.createdBy, ...row.editors],
        lenient: true,
        dueOn,
      },
    )
    await emit(trx, recurringPayableOccurred, {
      propertyId: row.propertyId,
      id,
      version,
      data: { recurringPayableId: id, payableId },
    })
    if (row.submit) await submitRecurring(trx, payableId)
  }
  return next.on !== null && addDays(next.on, -row.leadDays) <= date && within(next.on, row.endsOn) !== null
}

/** A bill that cannot be submitted stays a draft, with its warnings; so does one that is held, since a tax of it could not be withheld. */
const submitRecurring = async (trx: Trx, payableId: string): Promise<void> => {
  const { onHold } = await readRow(trx, Payable, payableId)
  if (onHold) return
  await sql(trx, 'savepoint submitting')
  try {
    await submitPayable(trx, payableId, null)
    await sql(trx, 'release savepoint submitting')
  } catch {
    await sql(trx, 'rollback to savepoint submitting')
  }
}
