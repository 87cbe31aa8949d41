import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import { supplierCreditRefunded } from '../../../config/events/accounts-payable.ts'
import { accountFacts, recordMovement } from '../../cash/index.ts'
import type { AccountFacts } from '../../cash/index.ts'
import { bookOf } from '../../documents/index.ts'
import { assertOpen, businessDay, raisePosting } from '../../financial/index.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { claimMovement } from '../claim.ts'
import type { CreditRecord } from '../models.ts'
import { partyOf } from '../payee.ts'
import { creditMoves, lockCredit, refundOf, tellCredit } from './state.ts'

/** Money that a supplier gave back: booked on an account, or a movement that stands. */
export type Refund = {
  amount: number
  cashAccountId?: string | undefined
  cashMovementId?: string | undefined
  receivedOn: string
  note?: string | undefined
}

type Came = { movementId: string; bookedOn: string; ledgerAccountId: string }

const bookRefund = async (
  trx: Trx,
  credit: CreditRecord,
  account: AccountFacts | null,
  { amount, cashMovementId, receivedOn, seq }: Refund & { seq: number },
): Promise<Came> => {
  if (account)
    return recordMovement(trx, {
      cashAccountId: account.id,
      amount,
      kind: 'supplier_refund',
      source: { type: 'supplier_credit', id: credit.id, seq },
      description: 'Given back by a supplier',
      bookedOn: receivedOn,
      currency: credit.currency,
      propertyId: credit.propertyId,
    })
  const { bookId, currency } = credit
  const field = 'cashMovementId'
  const claimed = await claimMovement(trx, { movementId: cashMovementId ?? '', bookId, currency, amount, field })
  if (claimed.bookedOn !== receivedOn)
    throw unprocessable('date_out_of_range', 'The money came on another day', [
      { field: 'receivedOn', message: `must be ${claimed.bookedOn}` },
    ])
  return claimed
}

/** Records money that a supplier gave back for a credit note or an advance. 422 `credit_exceeded`, `date_out_of_range`, and the errors of cash. */
export const refundCredit = async (trx: Trx, id: string, refund: Refund, expected: number | null): Promise<void> => {
  if ((refund.cashAccountId === undefined) === (refund.cashMovementId === undefined))
    throw invalid([{ field: 'cashAccountId', message: 'exactly one of cashAccountId and cashMovementId is given' }])
  const account = refund.cashAccountId === undefined ? null : await accountFacts(trx, refund.cashAccountId)
  if (account?.kind === 'register' && account.propertyId !== null) await businessDay(trx, account.propertyId)
  const credit = await lockCredit(trx, id, expected)
  creditMoves.allow('refunded', credit.status)
  if (refund.amount > credit.available)
    throw unprocessable('credit_exceeded', `${credit.available} of the credit is available`, [
      { field: 'amount', message: `must be at most ${credit.available}` },
    ])
  const book = await bookOf(trx, { bookId: credit.bookId })
  if (account && account.bookId !== book.id)
    throw unprocessable('reference_not_found', 'The cash account is of another book', [
      { field: 'cashAccountId', message: 'is of another book' },
    ])
  if (refund.receivedOn < credit.issuedOn)
    throw unprocessable('date_out_of_range', 'Money does not come back before the credit', [
      { field: 'receivedOn', message: `must be ${credit.issuedOn} or later` },
    ])
  const counted = await sqlOne<{ count: number }>(
    trx,
    `select count(*) as count from supplier_credit_fact where tenant_id = ? and supplier_credit_id = ? and type = 'refunded'`,
    [contextOf(trx).tenantId, id],
  )
  const seq = counted?.count ?? 0
  const refundId = randomUUID()
  const booked = await bookRefund(trx, credit, account, { ...refund, seq })
  if (!account) await assertOpen(trx, book.id, booked.bookedOn)
  await refundOf(trx, credit, { sourceId: refundId, on: booked.bookedOn, amount: refund.amount }, booked.movementId)
  await tellCredit(trx, { ...credit, version: credit.version + 1 }, supplierCreditRefunded)
  await raisePosting(trx, {
    event: 'accounts-payable.credit_refunded',
    source: { id, seq },
    bookId: book.id,
    ...(credit.propertyId === null ? {} : { propertyId: credit.propertyId }),
    postingDate: booked.bookedOn,
    payload: {
      amounts: { amount: refund.amount },
      accounts: { money: booked.ledgerAccountId },
      documents: { credit: id },
      context: { credit: credit.kind },
      ...partyOf(credit),
    },
  })
}
