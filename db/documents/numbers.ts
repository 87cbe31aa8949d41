import { ledgerAssignNumber } from '../../jobs/documents.ts'
import type { NumberedEntity } from '../../jobs/documents.ts'
import { unprocessable } from '../../config/errors.ts'
import { authorOf } from '../lib/authors.ts'
import { contextOf, preparedOne, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { insertRow } from '../lib/records.ts'
import type { NumberSeriesRow } from '../rows.ts'
import { NumberJump } from './models.ts'

export type SeriesKind = NumberSeriesRow['kind']
/** A series of numbers: a kind of documents of a book, of one year where the kind begins anew each year, of one `scopeId` where records have their own. */
export type SeriesKey = { bookId: string; kind: SeriesKind; scopeId?: string | null; year?: number | null }
export type GivenNumber = { number: number; prefix: string; year: number | null }

/** The series of a number, and the function that writes it down. `raised` is a posting that was asked for, and goes before the number in its round trip. */
type Due = { series: SeriesKey; raised?: Promise<unknown>; write: (given: GivenNumber) => Promise<unknown> }
export type Numbered = {
  /** Locks the record and does all that comes before its number, such as raising its posting. Null where it has its number, or needs none any more. */
  prepare: (trx: Trx, id: string) => Promise<Due | null>
  /** Selects `kind`, `scope_id`, `year` and `number` of all that have one. `:tenantId` and `:bookId` are bound. */
  text: string
}

const registered = new Map<NumberedEntity, Numbered>()

/** Adds records of a module to those that `ledger.assign-number` numbers, and that the check for gaps counts. */
export const registerNumbered = (entity: NumberedEntity, numbered: Numbered): void => {
  registered.set(entity, numbered)
}

/** Asks that a record be given its number after the commit. */
export const requestNumber = async (trx: Trx, entity: NumberedEntity, id: string): Promise<void> => {
  const tenantId = contextOf(trx).tenantId ?? ''
  await enqueue(trx, ledgerAssignNumber, { tenantId, entity, id }, { uniqueKey: `${entity}.${id}` })
}

/**
 * Takes the next number of a series, whose row stays locked until the commit: it is the last thing but the note of it. A transaction that rolls back gives the
 * number back. The first number of a year carries the prefix of the year before.
 */
export const takeNumber = async (trx: Trx, { bookId, kind, scopeId = null, year = null }: SeriesKey) => {
  const taken = await preparedOne<GivenNumber>(
    trx,
    `insert into number_series (book_id, kind, scope_id, year, prefix, next)
     values (:bookId, :kind, cast(:scopeId as uuid), cast(:year as int), coalesce((select s.prefix from number_series s
       where s.tenant_id = :tenantId and s.book_id = :bookId and s.kind = :kind and s.scope_id is not distinct from cast(:scopeId as uuid)
         and s.year < cast(:year as int) order by s.year desc limit 1), ''), 2)
     on conflict on constraint number_series_once do update set next = number_series.next + 1
     returning next - 1 as number, prefix, year`,
    { tenantId: contextOf(trx).tenantId, bookId, kind, scopeId, year },
  )
  if (!taken) throw new Error('a number was not given')
  return taken
}

/** Gives a record its number, once (R7). */
export const assignNumber = async (trx: Trx, entity: NumberedEntity, id: string): Promise<void> => {
  const numbered = registered.get(entity)
  if (!numbered) throw new Error(`no module numbers ${entity}`)
  const due = await numbered.prepare(trx, id)
  if (!due) return
  const [given] = await Promise.all([takeNumber(trx, due.series), due.raised])
  await due.write(given)
}

export type SeriesState = Pick<NumberSeriesRow, 'kind' | 'year' | 'prefix' | 'next'>

/** The series of a book that stand, without those of single records. */
export const readSeries = (trx: Trx, bookId: string): Promise<SeriesState[]> =>
  sql<SeriesState>(
    trx,
    `select kind, year, prefix, next from number_series where tenant_id = ? and book_id = ? and scope_id is null order by kind, year desc nulls last`,
    [contextOf(trx).tenantId, bookId],
  )

/**
 * Sets the prefix and the next number of a series. A next number that is lower than what stands is 422 `number_not_growing`; a higher one is a jump, which is
 * recorded with its reason.
 */
export const setSeries = async (
  trx: Trx,
  { bookId, kind, year = null }: SeriesKey,
  { prefix, next, reason }: { prefix: string; next: number; reason: string | null },
): Promise<void> => {
  const place = { tenantId: contextOf(trx).tenantId, bookId, kind, year }
  await sql(
    trx,
    `insert into number_series (book_id, kind, year, prefix) values (:bookId, :kind, cast(:year as int), '') on conflict on constraint number_series_once do nothing`,
    place,
  )
  const stands = await sqlOne<{ id: string; next: number }>(
    trx,
    `select id, next from number_series where tenant_id = :tenantId and book_id = :bookId and kind = :kind and scope_id is null
       and year is not distinct from cast(:year as int) for update`,
    place,
  )
  if (!stands) throw new Error('the series does not stand')
  if (next < stands.next)
    throw unprocessable('number_not_growing', `The next number is ${stands.next}; it only grows`, [
      { field: `numbering.${kind}.next`, message: `must be at least ${stands.next}` },
    ])
  if (next > stands.next) {
    if (reason === null)
      throw unprocessable('number_not_growing', 'Numbers that are left out need a reason', [
        { field: 'numberingReason', message: 'is required where a next number is raised' },
      ])
    await insertRow(trx, NumberJump, {
      seriesId: stands.id,
      fromNumber: stands.next,
      toNumber: next,
      reason,
      createdBy: await authorOf(trx),
    })
  }
  await sql(
    trx,
    `update number_series set prefix = ?, skipped = skipped + ? - next, next = ?, version = version + 1 where tenant_id = ? and id = ?`,
    [prefix, next, next, place.tenantId, stands.id],
  )
}

/** Series whose numbers have a gap, or that gave a number which no record has: for the integrity checks. */
export const gapsText = (): string => {
  if (registered.size === 0) return `select null as kind where false`
  const texts = [...registered.values()].map(({ text }) => text)
  return `select s.kind, s.scope_id, s.year, s.next, s.skipped, count(d.number) as numbered, max(d.number) as last
    from number_series s left join (${texts.join(' union all ')}) d
      on d.kind = s.kind and d.scope_id is not distinct from s.scope_id and d.year is not distinct from s.year
    where s.tenant_id = :tenantId and s.book_id = :bookId and s.kind <> 'purchase_order'
    group by s.id, s.kind, s.scope_id, s.year, s.next, s.skipped
    having count(distinct d.number) + s.skipped <> s.next - 1 or max(d.number) >= s.next`
}
