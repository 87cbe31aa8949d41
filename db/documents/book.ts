import { unprocessable } from '../../config/errors.ts'
import { todayIn } from '../../config/time.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

export type BookFacts = {
  id: string
  currency: string
  timeZone: string
  countryCode: string
  approvalThreshold: number | null
  singleOperator: boolean
}

/**
 * The book of a document: the one named, else that of its property, else the default one. 422 `reference_not_found` for one that does not exist, or where the
 * property keeps another book.
 */
export const bookOf = async (
  trx: Trx,
  { bookId, propertyId }: { bookId?: string | undefined; propertyId?: string | null | undefined },
): Promise<BookFacts> => {
  const found = await sqlOne<BookFacts & { hasProperty: boolean; ownBookId: string | null }>(
    trx,
    `select b.id, b.currency, b.time_zone, b.country_code, b.approval_threshold, b.single_operator, p.id is not null as has_property, p.book_id as own_book_id
     from book b left join property p on p.tenant_id = b.tenant_id and p.id = cast(:propertyId as uuid)
     where b.tenant_id = :tenantId and case when cast(:bookId as uuid) is not null then b.id = cast(:bookId as uuid)
       when p.book_id is not null then b.id = p.book_id else b.is_default end
     limit 1`,
    { tenantId: contextOf(trx).tenantId, bookId: bookId ?? null, propertyId: propertyId ?? null },
  )
  if (!found)
    throw unprocessable('reference_not_found', 'There is no such book', [{ field: 'bookId', message: 'is no book' }])
  if (propertyId && found.ownBookId !== found.id)
    throw unprocessable('reference_not_found', 'The property does not keep this book', [
      { field: 'propertyId', message: found.hasProperty ? 'keeps another book' : 'is no property' },
    ])
  return found
}

export const todayOf = ({ timeZone }: Pick<BookFacts, 'timeZone'>): string => todayIn(timeZone)

/**
 * Today in the zone of the book, or the day of the fact that follows, where that is later: the business day of a house in a zone ahead of that of its book is, for
 * some hours of each night.
 */
export const todayAfter = (book: Pick<BookFacts, 'timeZone'>, fact: string): string => {
  const today = todayOf(book)
  return fact > today ? fact : today
}

/** 422 `date_out_of_range` for the date of a fact that is still to come; `known` is the day of a fact that stands already, which is none. */
export const refuseFuture = (book: Pick<BookFacts, 'timeZone'>, on: string, field: string, known = ''): void => {
  const today = todayAfter(book, known)
  if (on > today)
    throw unprocessable('date_out_of_range', 'A fact is not dated ahead', [
      { field, message: `must be ${today} or earlier` },
    ])
}
