import type { MovementKind } from '../../config/cash.ts'
import { postingEventOf, raiseDocumentPostings, raisePosting, raisePostings } from '../financial/index.ts'
import type { PostingPayload } from '../financial/index.ts'
import { cut } from '../../config/cut.ts'
import type { Trx } from '../lib/connection.ts'
import type { AccountFacts } from './facts.ts'
import type { MovementRecord } from './models.ts'

/** Movements that are posted here, and their events (R5). */
export const posted = {
  opening: 'cash.opening_recorded',
  manual: 'cash.movement_recorded',
  bank_line: 'cash.movement_recorded',
  difference: 'cash.difference_recorded',
  payout: 'cash.payout_received',
} as const satisfies Partial<Record<MovementKind, string>>

const isPosted = (kind: MovementKind): kind is keyof typeof posted => Object.hasOwn(posted, kind)

/** The place of an event: its book, and a property where there is one. */
export const placeOf = ({ bookId, propertyId }: { bookId: string; propertyId: string | null }) => ({
  bookId,
  ...(propertyId === null ? {} : { propertyId }),
})

type Posted = Pick<
  MovementRecord,
  'id' | 'kind' | 'amount' | 'accountId' | 'sourceId' | 'counterBookId' | 'costCenterId' | 'description' | 'bookedOn'
>

const payloadOf = (row: Posted, account: AccountFacts, named: string): PostingPayload => ({
  amounts: { amount: row.amount },
  accounts: { money: account.ledgerAccountId, ...(row.accountId === null ? {} : { account: row.accountId }) },
  documents: { movement: named, ...(row.kind === 'payout' ? { payout: row.sourceId } : {}) },
  ...(row.counterBookId === null ? {} : { parties: { account: { type: 'book', id: row.counterBookId } } }),
  ...(row.costCenterId === null ? {} : { costCenterId: row.costCenterId }),
  memo: cut(row.description, 200),
})

/** The part of a movement that its posting is made of. */
export type PostedMovement = Posted & Pick<MovementRecord, 'bookId' | 'propertyId'>

/** Raises the posting of a movement of this module, whose lines name it or the movement that it turns; of any other kind nothing. */
export const postMovement = async (
  trx: Trx,
  row: PostedMovement,
  account: AccountFacts,
  named = row.id,
): Promise<void> => {
  if (!isPosted(row.kind)) return
  await raisePosting(trx, {
    event: posted[row.kind],
    source: { id: row.id },
    ...placeOf(row),
    ...(row.kind === 'difference' ? {} : { postingDate: row.bookedOn }),
    payload: payloadOf(row, account, named),
  })
}

/** Raises the postings of lines of one bank statement, which are of the property of its account. */
export const postBankLines = async (trx: Trx, rows: readonly Posted[], account: AccountFacts): Promise<void> => {
  const postings = rows.map((row) => ({
    event: posted.bank_line,
    source: { id: row.id },
    payload: payloadOf(row, account, row.id),
    date: row.bookedOn,
  }))
  if (account.propertyId === null) await raiseDocumentPostings(trx, account.bookId, postings)
  else await raisePostings(trx, account.propertyId, postings)
}

/** Turns the posting of a movement that was posted here; the caller turns that of any other. Where an event has no mirror, it is raised with the other sign. */
export const postReversal = async (
  trx: Trx,
  original: MovementRecord,
  row: MovementRecord,
  account: AccountFacts,
): Promise<void> => {
  if (!isPosted(original.kind)) return
  if (posted[original.kind] !== 'cash.movement_recorded')
    return postMovement(trx, { ...row, kind: original.kind, sourceId: original.sourceId }, account, original.id)
  const reversesEventId = await postingEventOf(trx, posted[original.kind], { id: original.id })
  if (reversesEventId === null) throw new Error(`movement ${original.id} was never posted`)
  await raisePosting(trx, {
    event: 'cash.movement_reversed',
    source: { id: row.id },
    ...placeOf(row),
    postingDate: row.bookedOn,
    reversesEventId,
  })
}
