import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import { cashTransferCompleted, cashTransferSent } from '../../../config/events/cash.ts'
import { authorOf } from '../../lib/authors.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow } from '../../lib/records.ts'
import { namedAccount } from '../facts.ts'
import type { AccountFacts } from '../facts.ts'
import { CashTransfer } from '../models.ts'
import { bookLegs } from './legs.ts'
import type { LegName } from './legs.ts'
import { tellTransfer } from './tell.ts'

type Recorded = {
  from: AccountFacts
  toAccountId: string
  /** The field that names it, for errors. */
  toField: string
  amount: number
  /** The fee that the source loses on top. */
  fee: number
  purpose: string
  sentOn: string
  /** Null while it is on its way. */
  receivedOn: string | null
  /** The day of each side, where it is not that of the transfer: of registers on different business days. */
  bookedOn?: Record<LegName, string> | undefined
  /** The session whose closing drops the money. */
  closingSessionId?: string | undefined
}

/** The account that money goes to: another one of the same book and currency. 422 `reference_not_found`, `currency_mismatch`. */
export const goalOf = async (trx: Trx, from: AccountFacts, id: string, field: string): Promise<AccountFacts> => {
  if (id === from.id) throw invalid([{ field, message: 'must be another account' }])
  const to = await namedAccount(trx, id, field)
  if (to.bookId !== from.bookId)
    throw unprocessable('reference_not_found', 'Money between books is two movements, each with its counterBookId', [
      { field, message: 'must be an account of the same book' },
    ])
  return to
}

/** Records money that the house moves itself, with its legs. Sessions of registers are locked, and the days are open. Answers its id. */
export const insertTransfer = async (trx: Trx, given: Recorded): Promise<string> => {
  const {
    from,
    toAccountId,
    toField,
    amount,
    fee,
    purpose,
    sentOn,
    receivedOn,
    bookedOn,
    closingSessionId = null,
  } = given
  const to = await goalOf(trx, from, toAccountId, toField)
  const row = await insertRow(trx, CashTransfer, {
    id: randomUUID(),
    bookId: from.bookId,
    propertyId: from.propertyId ?? to.propertyId,
    fromAccountId: from.id,
    toAccountId: to.id,
    method: 'manual',
    amount,
    fee,
    currency: from.currency,
    purpose,
    sentOn,
    receivedOn,
    status: receivedOn === null ? 'in_transit' : 'completed',
    requestedBy: await authorOf(trx),
    closingSessionId,
  })
  await tellTransfer(trx, receivedOn === null ? cashTransferSent : cashTransferCompleted, row)
  await bookLegs(trx, row, {
    out: { account: from, day: bookedOn?.out ?? sentOn },
    ...(receivedOn === null ? {} : { in: { account: to, day: bookedOn?.in ?? receivedOn } }),
  })
  return row.id
}
