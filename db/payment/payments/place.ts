import { invalid, unprocessable } from '../../../config/errors.ts'
import { findAccountFacts } from '../../cash/index.ts'
import type { AccountFacts } from '../../cash/index.ts'
import { contextOf, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { bookOfProperty } from '../accounts.ts'

/** The place of recorded money. */
export type Place = { account: AccountFacts; cashSessionId: string | null }
type Asked = {
  propertyId: string
  method: string
  currency: string
  cashSessionId?: string | undefined
  cashAccountId?: string | undefined
}
type Session = { id: string; registerId: string; status: string }

const noReference = (field: string, message: string) =>
  unprocessable('reference_not_found', 'There is no such place for the money', [{ field, message }])
const required = () =>
  unprocessable('session_required', 'Cash needs an open session of a register of the property', [
    { field: 'cashSessionId', message: 'is required: open a session first' },
  ])

/** The session that was named, or the caller's own open one in the property. */
const sessionOf = (trx: Trx, { propertyId, cashSessionId }: Asked): Promise<Session | null> =>
  preparedOne<Session>(
    trx,
    cashSessionId === undefined
      ? `select id, register_id, status from cash_session where property_id = ? and cashier_id = ? and status = 'open'`
      : `select id, register_id, status from cash_session where property_id = ? and id = ?`,
    [propertyId, cashSessionId ?? contextOf(trx).actor.id],
  )

const accountOf = async (trx: Trx, given: Asked, id: string, field: string): Promise<AccountFacts> => {
  const [account, bookId] = await Promise.all([findAccountFacts(trx, id), bookOfProperty(trx, given.propertyId)])
  if (!account || account.bookId !== bookId || (account.propertyId !== null && account.propertyId !== given.propertyId))
    throw noReference(field, 'is no cash account of the property')
  if (account.currency !== given.currency)
    throw unprocessable('currency_mismatch', `The cash account holds ${account.currency}`, [
      { field: 'currency', message: `must be ${account.currency}` },
    ])
  return account
}

/**
 * Cash goes into the drawer of a session: the one named, or the caller's own. Any other money goes to an account, and counts in the caller's open session.
 * 400; 422 `session_required`, `session_closed`, `reference_not_found`, `currency_mismatch`.
 */
export const placeOfMoney = async (trx: Trx, given: Asked): Promise<Place> => {
  const named = given.method === 'cash' ? undefined : given.cashAccountId
  // Asked for with the session, and judged after it.
  const asked = named === undefined ? null : accountOf(trx, given, named, 'cashAccountId')
  asked?.catch(() => {})
  const session = await sessionOf(trx, given)
  if (given.cashSessionId !== undefined) {
    if (!session) throw noReference('cashSessionId', 'is no session of the property')
    if (session.status !== 'open') throw unprocessable('session_closed', 'The session of the register is closed')
  }
  if (given.method === 'cash') {
    if (given.cashAccountId !== undefined)
      throw invalid([{ field: 'cashAccountId', message: 'belongs to other methods: cash names its session' }])
    if (!session) throw required()
    return { account: await accountOf(trx, given, session.registerId, 'cashSessionId'), cashSessionId: session.id }
  }
  if (asked === null) throw invalid([{ field: 'cashAccountId', message: 'is required but for cash' }])
  const account = await asked
  if (account.kind === 'register') throw noReference('cashAccountId', 'is a register, which takes cash alone')
  return { account, cashSessionId: session?.id ?? null }
}
