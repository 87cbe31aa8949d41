import { randomUUID } from 'node:crypto'
import type { MovementKind } from '../../config/cash.ts'
import { cut } from '../../config/cut.ts'
import { conflict, notFound, unprocessable } from '../../config/errors.ts'
import { cashMovementRecorded, cashMovementReversed } from '../../config/events/cash.ts'
import { todayIn } from '../../config/time.ts'
import { assertOpen, businessDay, firstOpenDay } from '../financial/index.ts'
import { contextOf } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, emitAll } from '../lib/events.ts'
import { findRow, insertLater, insertRow, insertRows } from '../lib/records.ts'
import { seal } from '../lib/sealing/index.ts'
import { accountArchived, accountFacts, busyAsCash, refusedByCash } from './facts.ts'
import type { AccountFacts } from './facts.ts'
import { CashMovement } from './models.ts'
import type { MovementRecord } from './models.ts'
import { postBankLines, postMovement, postReversal } from './postings.ts'
import type { PostedMovement } from './postings.ts'

/** The other party of money, as the bank or the cashier names it. Personal data. */
export type Counterparty = { name: string | null; document: string | null }

export type NewMovement = {
  cashAccountId: string
  /** Minor units of the account's currency: more than 0 comes in, less than 0 goes out. */
  amount: number
  /** `reversal` is made by `reverseMovement` alone. */
  kind: Exclude<MovementKind, 'reversal'>
  /** The record that the money moves for, unique with `seq` (0 unless said): the same source cannot be booked twice (409 `duplicate`). */
  source: { type: string; id: string; seq?: number }
  /** For people to read; no names of persons. */
  description: string
  /** Today in the zone of the book unless said. A register is booked on the open business day, and takes none. */
  bookedOn?: string
  /** The date came from a bank: where the books do not take it, the first open day stands for it. */
  fromOutside?: boolean
  /** The moment of the movement; now unless said. */
  occurredAt?: Date
  /** Of a register: its session, the open one unless said. */
  sessionId?: string | null
  /** Refused with 422 `currency_mismatch` where it is not the account's. */
  currency?: string
  /** The other side in the ledger; of kinds that post here (`manual`, `bank_line`) it is required. */
  accountId?: string | null
  costCenterId?: string | null
  /** The account's property unless said. */
  propertyId?: string | null
  counterBookId?: string | null
  voucher?: string
  counterparty?: Counterparty | null
  endToEndId?: string | null
  txid?: string | null
  transferId?: string | null
}

/** A booked movement with what a posting of the caller needs: `accounts: { money: ledgerAccountId }`, and the date. */
export type BookedMovement = {
  movementId: string
  cashAccountId: string
  bookId: string
  propertyId: string | null
  sessionId: string | null
  /** The day on which the movement lies in the books. */
  bookedOn: string
  amount: number
  currency: string
  ledgerAccountId: string
}

export const counterpartyPlace = (rowId: string) => ({ table: 'cash_movement', rowId, purpose: 'counterparty' })

/** The day of a booking, open in the book until the transaction ends. 422 `date_out_of_range`, `period_closed`, `date_locked`, `period_missing`. */
export const dayOfBooking = async (
  trx: Trx,
  account: Pick<AccountFacts, 'kind' | 'propertyId' | 'bookId' | 'timeZone'>,
  { bookedOn, fromOutside = false }: { bookedOn?: string | undefined; fromOutside?: boolean | undefined },
): Promise<string> => {
  const { bookId, timeZone } = account
  const today = todayIn(timeZone)
  if (account.kind === 'register' && account.propertyId !== null) {
    const day = await businessDay(trx, account.propertyId)
    await assertOpen(trx, bookId, day)
    return day
  }
  // A bank's clock may be ahead of the house's; its money is booked today, since refused it would never be booked.
  const wanted = fromOutside && bookedOn !== undefined && bookedOn > today ? today : (bookedOn ?? today)
  if (wanted > today)
    throw unprocessable('date_out_of_range', 'Money is not booked ahead of its day', [
      { field: 'bookedOn', message: `must be ${today} or earlier` },
    ])
  const day = fromOutside ? await firstOpenDay(trx, { bookId }, wanted) : wanted
  await assertOpen(trx, bookId, day)
  return day
}

const sessionOf = (account: AccountFacts, { kind, sessionId }: NewMovement): string | null => {
  if (account.kind !== 'register') return null
  const session = sessionId ?? account.sessionId
  if (session === null && kind !== 'opening')
    throw unprocessable('session_required', 'The register has no open session', [
      { field: 'cashAccountId', message: 'open a session of the register first' },
    ])
  return session
}

/** The part of a movement that is known before it is stored. */
type Known = PostedMovement & Pick<MovementRecord, 'cashAccountId' | 'sessionId' | 'currency'>

const answered = (row: Known, account: AccountFacts): BookedMovement => ({
  movementId: row.id,
  cashAccountId: account.id,
  bookId: account.bookId,
  propertyId: row.propertyId,
  sessionId: row.sessionId,
  bookedOn: row.bookedOn,
  amount: row.amount,
  currency: row.currency,
  ledgerAccountId: account.ledgerAccountId,
})

type Told = Pick<MovementRecord, 'id' | 'cashAccountId' | 'kind' | 'amount' | 'currency' | 'propertyId'>

const toldOf = (row: Told, account: AccountFacts) => ({
  propertyId: row.propertyId ?? account.propertyId,
  id: row.id,
  version: null,
  data: {
    cashMovementId: row.id,
    cashAccountId: row.cashAccountId,
    kind: row.kind,
    amount: row.amount,
    currency: row.currency,
  },
})

const tell = (trx: Trx, event: typeof cashMovementRecorded, row: Told, account: AccountFacts) =>
  emit(trx, event, toldOf(row, account))

/**
 * Books a movement of an account whose facts and day are known, and posts what this module posts. It goes with the next statement of the transaction and locks
 * session, then account: other movements wait for these until the commit, so that the command should have read before all that it needs.
 */
export const bookMovement = async (
  trx: Trx,
  account: AccountFacts,
  given: NewMovement,
  bookedOn: string,
): Promise<BookedMovement> => {
  const { source, counterparty, fromOutside: _, currency: __, ...rest } = given
  const id = randomUUID()
  const row = {
    ...rest,
    id,
    bookedOn,
    currency: account.currency,
    bookId: account.bookId,
    propertyId: given.propertyId === undefined ? account.propertyId : given.propertyId,
    sessionId: sessionOf(account, given),
    accountId: given.accountId ?? null,
    costCenterId: given.costCenterId ?? null,
    counterBookId: given.counterBookId ?? null,
    sourceType: source.type,
    sourceId: source.id,
    sourceSeq: source.seq ?? 0,
    counterparty: counterparty ? await seal(trx, 'tenant', counterpartyPlace(id), counterparty) : null,
    createdBy: contextOf(trx).actor,
  }
  insertLater(trx, CashMovement, row, refusedByCash)
  await tell(trx, cashMovementRecorded, row, account)
  await postMovement(trx, row, account)
  return answered(row, account)
}

/** `bookMovement` for lines of a bank's statement, all of one account, in few statements. Answers their ids in the order given. */
export const bookBankLines = async (
  trx: Trx,
  account: AccountFacts,
  given: readonly (Required<Pick<NewMovement, 'occurredAt' | 'endToEndId' | 'costCenterId' | 'propertyId'>> &
    Pick<NewMovement, 'amount' | 'source' | 'description'> & { accountId: string; bookedOn: string })[],
): Promise<string[]> => {
  const rows = given.map(({ source, amount, description, bookedOn, ...rest }) => ({
    id: randomUUID(),
    cashAccountId: account.id,
    kind: 'bank_line' as const,
    amount,
    description,
    bookedOn,
    occurredAt: rest.occurredAt,
    accountId: rest.accountId,
    costCenterId: rest.costCenterId,
    propertyId: rest.propertyId,
    endToEndId: rest.endToEndId,
    counterBookId: null,
    currency: account.currency,
    bookId: account.bookId,
    sourceType: source.type,
    sourceId: source.id,
    createdBy: contextOf(trx).actor,
  }))
  await busyAsCash(insertRows(trx, CashMovement, rows))
  await emitAll(
    trx,
    cashMovementRecorded,
    rows.map((row) => toldOf(row, account)),
  )
  await postBankLines(trx, rows, account)
  return rows.map(({ id }) => id)
}

/**
 * Books money in or out of an account, as the last but the postings of a command: it locks the session of a register, then the account. A command that may
 * touch a register locks `businessDay` of its property first of all.
 *
 * Kinds `opening`, `manual`, `bank_line`, `difference` and `payout` are posted here; the module that asks for any other kind posts its own document, with
 * `ledgerAccountId` of the reply as its money (R5). `known` are the facts of the account, where the command has read them.
 *
 * Throws 404; 422 `account_archived`, `currency_mismatch`, `session_required`, `session_closed`, `cash_short`, `date_out_of_range`, `period_closed`,
 * `date_locked`, `period_missing`; 409 `cash_busy`, `duplicate`.
 */
export const recordMovement = async (
  trx: Trx,
  movement: NewMovement,
  known?: AccountFacts,
): Promise<BookedMovement> => {
  const account = known ?? (await accountFacts(trx, movement.cashAccountId))
  if (account.status !== 'active') throw accountArchived()
  if (movement.currency !== undefined && movement.currency !== account.currency)
    throw unprocessable('currency_mismatch', `The cash account holds ${account.currency}`, [
      { field: 'currency', message: `must be ${account.currency}` },
    ])
  return bookMovement(trx, account, movement, await dayOfBooking(trx, account, movement))
}

/** A movement, named by its id or by what it was booked for. */
export type MovementKey = { movementId: string } | { source: { type: string; id: string; seq?: number } }

const find = (trx: Trx, key: MovementKey) =>
  'movementId' in key
    ? findRow(trx, CashMovement, key.movementId)
    : findRow(trx, CashMovement, {
        sourceType: key.source.type,
        sourceId: key.source.id,
        sourceSeq: key.source.seq ?? 0,
      })

/**
 * Books the other way round of a movement, today unless said; of a register on the open business day, in the session of the movement. `day` is one that the
 * caller holds open, as that of the register on the other side of a transfer. The module whose document it was turns its own posting.
 *
 * Throws 404; 409 `already_reversed`, `cash_busy`; 422 `in_use` for a movement that is matched with the bank, `session_closed` once the session of the
 * register is counted, `cash_short`, and the errors of dates.
 */
export const reverseMovement = async (
  trx: Trx,
  { description, bookedOn, day: given, ...key }: MovementKey & { description: string; bookedOn?: string; day?: string },
): Promise<BookedMovement> => {
  const found = await find(trx, key)
  if (!found) throw notFound('No such movement')
  if (found.kind === 'reversal') throw conflict('already_reversed', 'A reversal is not reversed')
  const account = await accountFacts(trx, found.cashAccountId)
  const day = given ?? (await dayOfBooking(trx, account, { bookedOn }))
  const id = randomUUID()
  const row = await busyAsCash(
    insertRow(trx, CashMovement, {
      id,
      cashAccountId: found.cashAccountId,
      sessionId: found.sessionId,
      amount: -found.amount,
      currency: found.currency,
      bookId: found.bookId,
      bookedOn: day,
      kind: 'reversal',
      sourceType: 'reversal',
      sourceId: id,
      reversesId: found.id,
      accountId: found.accountId,
      costCenterId: found.costCenterId,
      propertyId: found.propertyId,
      counterBookId: found.counterBookId,
      transferId: found.transferId,
      description: cut(description, 300),
      voucher: found.voucher,
      createdBy: contextOf(trx).actor,
    }),
  )
  await tell(trx, cashMovementReversed, row, account)
  await postReversal(trx, found, row, account)
  return answered(row, account)
}
