import { conflict, unprocessable } from '../../config/errors.ts'
import type { Event } from '../../config/events/event.ts'
import { quoteUsed } from '../../config/events/quotes.ts'
import type { QuotedRoom } from '../../config/quote.ts'
import { prepared, preparedOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import type { DeskRoom } from '../properties/index.ts'
import type { QuoteRow } from '../rows.ts'

/** Booking that was made from a quote `q`. */
export const usedBy = `(select b.id from booking b where b.tenant_id = q.tenant_id and b.quote_id = q.id)`
export const quoteColumns = `q.*, ${usedBy} as booking_id, now() as now`
export type StoredQuote = Omit<QuoteRow, 'rooms'> & {
  rooms: QuotedRoom[]
  bookingId: string | null
  now: Date
}
export type QuoteStatus = 'open' | 'used' | 'expired'

export const statusOf = ({ bookingId, expiresAt, now }: StoredQuote): QuoteStatus =>
  bookingId !== null ? 'used' : expiresAt <= now ? 'expired' : 'open'

/** A quoted room as the desk takes it. */
export const asAsked = (room: QuotedRoom): DeskRoom => ({
  unitTypeId: room.unitTypeId,
  ratePlanId: room.ratePlanId,
  arrival: room.arrival,
  departure: room.departure,
  adults: room.adults,
  childrenAges: room.childrenAges,
  extras: room.extras.map(({ extraId, quantity }) => ({ extraId, quantity })),
  quoted: room,
})

export const tellQuote = (
  trx: Trx,
  event: Event<typeof quoteUsed.data>,
  quote: Omit<QuoteRow, 'rooms'>,
  bookingId: string | null,
) =>
  emit(trx, event, {
    propertyId: quote.propertyId,
    id: quote.id,
    version: null,
    data: {
      quoteId: quote.id,
      number: quote.number,
      total: quote.total,
      currency: quote.currency,
      expiresAt: quote.expiresAt.toISOString(),
      bookingId,
    },
  })

/** Rooms of an open quote of a property as a booking takes them, at their frozen price. 409 quote_used; 422 quote_expired, quote_invalid. */
export const takeQuote = async (
  trx: Trx,
  quoteId: string,
  propertyId: string,
): Promise<{ rooms: DeskRoom[]; promoCode: string | null; companyId: string | null }> => {
  const quote = await preparedOne<StoredQuote>(trx, `select ${quoteColumns} from quote q where q.id = ?`, [quoteId])
  if (quote?.propertyId !== propertyId)
    throw unprocessable('quote_invalid', 'The property has no such quote', [
      { field: 'quoteId', message: 'is no quote of the property' },
    ])
  const status = statusOf(quote)
  if (status === 'used') throw quoteTaken()
  if (status === 'expired') throw unprocessable('quote_expired', 'The quote has expired; ask for a new one')
  return { rooms: quote.rooms.map(asAsked), promoCode: quote.promoCode, companyId: quote.companyId }
}

export const quoteTaken = () => conflict('quote_used', 'This quote has been used; ask for a new one')

/** Tells that a stored quote became a booking. */
export const tellQuoteUsed = async (trx: Trx, quoteId: string, bookingId: string): Promise<void> => {
  const [quote] = await prepared<QuoteRow>(trx, `select * from quote where id = ?`, [quoteId])
  if (quote) await tellQuote(trx, quoteUsed, quote, bookingId)
}
