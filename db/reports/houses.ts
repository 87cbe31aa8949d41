import { forbidden, invalid, notFound, unprocessable } from '../../config/errors.ts'
import type { ReportKey } from '../../config/reports.ts'
import { todayIn } from '../../config/time.ts'
import { bookFor } from '../financial/index.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { metaOf, metaOfAll, rangeOf, tooLarge } from './ledger-context.ts'
import type { Asked, Meta, Sight, Window } from './reading.ts'
import type { Range } from './rules/dates.ts'
import { driftsOf } from './verify.ts'

export type House = {
  id: string
  code: string
  name: string
  bookId: string
  bookName: string
  currency: string
  timeZone: string
  /** The open business day; today in a house that never had one. */
  openOn: string
  /** The last closed day, null before the first. */
  closedOn: string | null
}

/** Properties that an endpoint reads at once. */
const mostAtOnce = 20

type Row = Omit<House, 'openOn'> & { openOn: string | null }

const read = (trx: Trx, ids: readonly string[] | null, bookId: string | null) =>
  sql<Row>(
    trx,
    `select p.id, p.code, p.name, p.book_id, b.name as book_name, p.currency, p.timezone as time_zone,
       (select d.date from business_day d where d.tenant_id = p.tenant_id and d.property_id = p.id and d.status = 'open') as open_on,
       (select max(d.date) from business_day d where d.tenant_id = p.tenant_id and d.property_id = p.id and d.status = 'closed') as closed_on
     from property p join book b on b.tenant_id = p.tenant_id and b.id = p.book_id
     where p.tenant_id = :tenantId and (cast(:ids as uuid[]) is null or p.id = any(cast(:ids as uuid[])))
       and (cast(:bookId as uuid) is null or p.book_id = cast(:bookId as uuid))
     order by p.code collate "C", p.id`,
    { tenantId: contextOf(trx).tenantId, ids, bookId },
  )

const namedIn = (asked: Asked): string[] => {
  const given = asked['propertyId']
  return given === undefined ? [] : [...new Set([given].flat() as string[])]
}

/**
 * The properties asked for: by their ids, by their book, or all that the reader may see. 403 outside the reader's properties and their books, 404 where one is
 * not there.
 */
export const housesOf = async (trx: Trx, key: ReportKey, asked: Asked, sight: Sight, window: Window) => {
  const named = namedIn(asked)
  if (sight.propertyIds !== null && named.some((id) => !sight.propertyIds?.includes(id))) throw forbidden()
  const bookId = (asked['bookId'] as string | undefined) ?? null
  const rows = await read(trx, named.length > 0 ? named : sight.propertyIds, bookId)
  if (rows.length === 0 && sight.propertyIds !== null && bookId !== null) {
    const { id } = await bookFor(trx, bookId)
    if ((await read(trx, sight.propertyIds, id)).length === 0) throw forbidden()
  }
  if (rows.length === 0 || (named.length > 0 && rows.length < named.length)) throw notFound('No such property')
  if (window !== null && rows.length > mostAtOnce)
    throw tooLarge(key, asked, `The report reads more than ${mostAtOnce} properties`)
  return rows.map((row): House => ({ ...row, openOn: row.openOn ?? todayIn(row.timeZone) }))
}

/** Properties of one currency. 422 `currency_mismatch` where they have several. */
export const housesOfOneCurrency = async (trx: Trx, key: ReportKey, asked: Asked, sight: Sight, window: Window) => {
  const houses = await housesOf(trx, key, asked, sight, window)
  const currencies = [...new Set(houses.map(({ currency }) => currency))]
  if (currencies.length > 1)
    throw unprocessable('currency_mismatch', `The properties have several currencies: ${currencies.join(', ')}`, [
      { field: 'propertyId', message: 'name properties of one currency' },
    ])
  return houses
}

/** The one property of a report. 400 where the reader sees several and names none. */
export const houseOf = async (trx: Trx, key: ReportKey, asked: Asked, sight: Sight): Promise<House> => {
  const houses = await housesOf(trx, key, asked, sight, null)
  const [house] = houses
  if (!house || houses.length > 1)
    throw invalid([{ field: 'propertyId', message: 'is needed where there are several properties' }])
  return house
}

/** The latest open day of houses. */
export const openDayOf = (houses: readonly House[]): string =>
  houses.reduce((latest, { openOn }) => (openOn > latest ? openOn : latest), '1900-01-01')

/** Days of a range, month to date by default, as of the latest open day. */
export const daysAsked = (key: ReportKey, asked: Asked, houses: readonly House[], window: Window): Range =>
  rangeOf(key, asked, { today: openDayOf(houses) }, window)

/** Facts of a reading over houses. It is provisional while one of its days is not closed. */
export const metaOfHouses = async (
  trx: Trx,
  key: ReportKey,
  houses: readonly House[],
  range: Range,
  sight: Sight,
): Promise<Meta> => {
  const books = new Map<string, House[]>()
  for (const house of houses) books.set(house.bookId, [...(books.get(house.bookId) ?? []), house])
  const metas = await Promise.all(
    [...books.values()].map((of) => {
      const { bookId, bookName, currency, timeZone, openOn } = of[0] as House
      const book = { id: bookId, name: bookName, currency, timeZone, today: openOn }
      return metaOf(
        trx,
        key,
        book,
        range,
        of.map(({ id }) => id),
        sight,
      )
    }),
  )
  const [first] = metas
  if (!first) throw notFound('No such property')
  const all = metas.length === 1 ? first : metaOfAll(metas, first.currency)
  const propertyIds = houses.map(({ id }) => id)
  const names = houses.length <= 3 ? houses.map(({ name }) => name).join(', ') : all.bookName
  return {
    ...all,
    bookName: names.slice(0, 200),
    propertyIds,
    drifts: await driftsOf(trx, propertyIds, range),
    provisional: all.provisional || houses.some(({ openOn }) => openOn <= range.to),
  }
}

/** The basis of figures: facts of closed days, of the open day, or on the books. */
export type Basis = 'actual' | 'open' | 'on_the_books'

/** The source of the figures of days: facts where every day is closed, the books where every day is to come. */
export const basisOf = (houses: readonly House[], { from, to }: Range): Basis => {
  if (houses.every(({ openOn }) => to < openOn)) return 'actual'
  return houses.every(({ openOn }) => from > openOn) ? 'on_the_books' : 'open'
}
