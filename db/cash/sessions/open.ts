import { randomUUID } from 'node:crypto'
import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { cashSessionOpened } from '../../../config/events/cash.ts'
import { assertOpen, businessDay } from '../../financial/index.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRow } from '../../lib/records.ts'
import { busyAsCash, namedAccount } from '../facts.ts'
import { CashCount } from '../models.ts'
import { bookMovement } from '../movements.ts'
import { largestBooking } from '../../../config/cash.ts'
import { totalOf } from '../rules/counting.ts'
import type { Count } from '../rules/counting.ts'
import { sessionById, tellSession } from './tell.ts'

/** The sum of a count; 400 where it is more than can be booked. */
export const countedTotal = (count: Count): number => {
  const total = totalOf(count)
  if (total > largestBooking) throw invalid([{ field: 'count', message: `must come to at most ${largestBooking}` }])
  return total
}

/** The open session of the register or the cashier, after a close of it that is under way. */
const standing = (trx: Trx, registerId: string, cashierId: string) =>
  busyAsCash(
    sqlOne<{ id: string; registerId: string }>(
      trx,
      `select id, register_id from cash_session where tenant_id = ? and status = 'open' and (register_id = ? or cashier_id = ?) order by id for share`,
      [contextOf(trx).tenantId, registerId, cashierId],
    ),
  )

const alreadyOpen = (found: { id: string; registerId: string } | null, registerId: string) =>
  conflict(
    'session_open',
    found && found.registerId !== registerId ? 'The cashier has an open session' : 'The register has an open session',
    [{ field: 'cashSessionId', message: found?.id ?? '' }],
  )

/**
 * Opens a register for the caller with its counted float (R7). What the drawer has more or less than its balance is booked as a difference of this session.
 * Answers its id. 409 `session_open` with the session that is open, 422 `reference_not_found`, `account_archived`, errors of dates.
 */
export const openSession = async (
  trx: Trx,
  registerId: string,
  count: Count,
  judge: (session: { propertyId: string; cashierId: string }) => void = () => {},
): Promise<string> => {
  const account = await namedAccount(trx, registerId, 'registerId')
  if (account.kind !== 'register' || account.propertyId === null)
    throw unprocessable('reference_not_found', 'Sessions are of registers', [
      { field: 'registerId', message: 'is no register' },
    ])
  const cashierId = await authorOf(trx)
  judge({ propertyId: account.propertyId, cashierId })
  const day = await businessDay(trx, account.propertyId)
  await assertOpen(trx, account.bookId, day)
  const total = countedTotal(count)
  const open = await standing(trx, registerId, cashierId)
  if (open) throw alreadyOpen(open, registerId)
  const made = await busyAsCash(
    sqlOne<{ id: string; openingDifference: number }>(
      trx,
      `insert into cash_session (id, register_id, property_id, currency, cashier_id, business_date, opening) values (?, ?, ?, ?, ?, ?, ?)
       on conflict do nothing returning id, opening_difference`,
      [randomUUID(), registerId, account.propertyId, account.currency, cashierId, day, total],
    ),
  )
  if (!made) throw alreadyOpen(await standing(trx, registerId, cashierId), registerId)
  await insertRow(trx, CashCount, {
    sessionId: made.id,
    moment: 'opening',
    denominations: { ...count },
    total,
    countedBy: cashierId,
  })
  await tellSession(trx, cashSessionOpened, await sessionById(trx, made.id))
  if (made.openingDifference !== 0)
    await bookMovement(
      trx,
      { ...account, sessionId: made.id },
      {
        cashAccountId: registerId,
        amount: made.openingDifference,
        kind: 'difference',
        source: { type: 'cash_session', id: made.id },
        description: 'Difference of the float at opening',
      },
      day,
    )
  return made.id
}
