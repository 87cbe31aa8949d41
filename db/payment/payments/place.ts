import { invalid, unprocessable } from '../../../config/errors.ts'
import { findAccountFacts } from '../../cash/index.ts'
import type { AccountFacts } from '../../cash/index.ts'
import { contextOf, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'

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

type Open = { bookId: string; session: Session | null }

/** The book of the property, and the session that was named, or the caller's own open one in it. */
const openAt = async (trx: Trx, { propertyId, cashSessionId }: Asked): Promise<Open> => {
  const row = await preparedOne<{ bookId: string; id: string | null; registerId: string; status: string }>(
    trx,
    `select p.book_id, s.id, s.register_id, s.status from property p left join cash_session s on s.tenant_id = p.tenant_id and s.property_id = p.id
       and ${cashSessionId === undefined ? `s.cashier_id = ? and s.status = 'open'` : 's.id = ?'} where p.id = ?`,
    [cashSessionId ?? contextOf(trx).actor.id, propertyId],
  )
  if (!row) throw new Error(`property ${propertyId} is gone`)
  const { bookId, id, registerId, status } = row
  return { bookId, session: id === null ? null : { id, registerId, status } }
}

/** The account, fit to take the money. */
const judged = (account: AccountFacts | null, given: Asked, field: string, bookId: string): AccountFacts => {
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
  const [{ session, bookId }, account] = await Promise.all([
    openAt(trx, given),
    named === undefined ? null : findAccountFacts(trx, named),
  ])
  if (given.cashSessionId !== undefined) {
    if (!session) throw noReference('cashSessionId', 'is no session of the property')
    if (session.status !== 'open') throw unprocessable('session_closed', 'The session of the register is closed')
  }
  if (given.method === 'cash') {
    if (given.cashAccountId !== undefined)
      throw invalid([{ field: 'cashAccountId', message: 'belongs to other methods: cash names its session' }])
    if (!session) throw required()
    const register = await findAccountFacts(trx, session.registerId)
    return { account: judged(register, given, 'cashSessionId', bookId), cashSessionId: session.id }
  }
  if (named === undefined) throw invalid([{ field: 'cashAccountId', message: 'is required but for cash' }])
  const taker = judged(account, given, 'cashAccountId', bookId)
  if (taker.kind === 'register') throw noReference('cashAccountId', 'is a register, which takes cash alone')
  return { account: taker, cashSessionId: session?.id ?? null }
}
