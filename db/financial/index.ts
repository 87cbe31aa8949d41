export { accountFor, defaultBook, provisionBook } from './book.ts'
export type { NewBook } from './book.ts'
export { assertOpen, businessDay, openBusinessDay } from './days.ts'
export { postingEventOf, raisePosting } from './raise.ts'
export type {
  Posting,
  PostingContext,
  PostingItem,
  PostingParty,
  PostingPayload,
  PostingSource,
  RaisedPosting,
} from './payload.ts'
