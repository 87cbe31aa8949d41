import { conflict } from '../../config/errors.ts'
import { sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { closeExceptions, openException } from './exceptions.ts'

/** Money that a bank has taken back beyond what was left of a record. Amounts in minor units. */
export type OverReturned = {
  id: string
  propertyId: string | null
  currency: string
  overReturned: number
}

/** A record that money has come by, and that a bank may take more of than is left. */
export type OverReturnable = {
  /** Locks the record: it comes before its exception. */
  hold: (trx: Trx, id: string) => Promise<void>
  /** Notes that the excess is written off, and answers it with its book. 409 `invalid_transition` while a refund is on its way. */
  writeOff: (trx: Trx, id: string) => Promise<{ amount: number; bookId: string }>
  event: 'payment.over_return_written_off' | 'accounts-receivable.over_return_written_off'
}

/** Answer of `writeOff` of a record while a refund of it may still fail: the excess is not known yet. */
export const stillOnItsWay = () =>
  conflict('invalid_transition', 'A refund of the money is on its way; its end decides how much was returned too much')

/** Opens or ends the exception of a record whose bank took more back than was left. The record is locked. */
export const tellOverReturned = async (
  trx: Trx,
  type: 'payment' | 'receipt',
  { id, propertyId, currency, overReturned }: OverReturned,
): Promise<void> => {
  if (overReturned === 0) return closeExceptions(trx, { type, id }, ['over_returned'])
  const isNew = await openException(trx, 'over_returned', { type, id, propertyId, currency }, overReturned, 0)
  if (isNew) return
  await sql(
    trx,
    `update payment_exception set amount = ?, version = version + 1
     where subject_type = ? and subject_id = ? and kind = 'over_returned' and status = 'open' and amount <> ?`,
    [overReturned, type, id, overReturned],
  )
}

/** The over-return of a payment, as a person writes it off. */
const ofPayment: OverReturnable = {
  event: 'payment.over_return_written_off',
  hold: async (trx, id) => void (await sql(trx, `select id from payment where id = ? for no key update`, [id])),
  writeOff: async (trx, id) => {
    const [row] = await sql<{ amount: number; propertyId: string; isMoving: boolean }>(
      trx,
      `select over_returned - over_written_off as amount, property_id, refund_reserved > refunded_amount as is_moving
       from payment where id = ? for no key update`,
      [id],
    )
    if (!row) throw new Error(`payment ${id} is gone`)
    if (row.isMoving) throw stillOnItsWay()
    await sql(trx, `update payment set over_written_off = over_returned, version = version + 1 where id = ?`, [id])
    const book = await sqlOne<{ bookId: string }>(trx, `select book_id from property where id = ?`, [row.propertyId])
    if (!book) throw new Error(`the property of payment ${id} is gone`)
    return { amount: row.amount, bookId: book.bookId }
  },
}

const records = new Map<string, OverReturnable>([['payment', ofPayment]])

/** Says how the over-returns of receipts are written off; their module imports this one. */
export const registerOverReturns = (receipt: OverReturnable): void => {
  records.set('receipt', receipt)
}

export const overReturnsOf = (type: string): OverReturnable => {
  const found = records.get(type)
  if (!found) throw new Error('registerModules() has not been called in this process')
  return found
}
