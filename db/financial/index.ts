/** The ledger's front door: what other modules may call, each with the open transaction. */
export { accountFor, defaultBook, provisionBook } from './book.ts'
export { assertOpen, businessDay, lockDayForRoll, openBusinessDay, rollBusinessDay } from './days.ts'
export { postingEventOf, raisePosting } from './raise.ts'
export { raisePostings } from './raise-many.ts'
export type { DayPosting } from './raise-many.ts'
export type { Posting, PostingContext, PostingItem, PostingPayload } from './payload.ts'
