import { Amount, Currency, Instant, Nullable, Obj, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const quote = {
  entity: 'quote',
  subject: 'Quote',
  data: Obj({
    quoteId: Uuid,
    number: Code,
    total: Amount,
    currency: Currency,
    expiresAt: Instant,
    bookingId: Nullable(Uuid),
  }),
} as const
export const quoteCreated = event({ type: 'quote.created', ...quote })
export const quoteUsed = event({ type: 'quote.used', ...quote })

export const quotesEvents: Event[] = [quoteCreated, quoteUsed]
