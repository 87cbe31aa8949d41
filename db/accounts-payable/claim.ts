import { unprocessable } from '../../config/errors.ts'
import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'

/** Money in that stands already, and the account that it was booked against: what a claim moves it to. */
export type ClaimedMovement = { movementId: string; bookedOn: string; ledgerAccountId: string }

type Wanted = { movementId: string; bookId: string; currency: string; amount: number; field: string }

/**
 * Claims money that was booked by hand, or from a line of the bank, as what a payee has given back: its other side in the ledger is then the debt. Locks the
 * movement, which is claimed once and reversed no more. 422 `reference_not_found`, `in_use`.
 */
export const claimMovement = async (
  trx: Trx,
  { movementId, bookId, currency, amount, field }: Wanted,
): Promise<ClaimedMovement> => {
  const { tenantId } = contextOf(trx)
  const found = await sqlOne<ClaimedMovement>(
    trx,
    `select id as movement_id, booked_on, account_id as ledger_account_id from cash_movement
     where tenant_id = ? and id = ? and book_id = ? and currency = ? and amount = ? and kind in ('manual', 'bank_line') and counter_book_id is null
     for no key update`,
    [tenantId, movementId, bookId, currency, amount],
  )
  if (!found)
    throw unprocessable('reference_not_found', 'There is no such money in of the book', [
      { field, message: `must be money in of ${amount}, booked by hand or from a line of the bank` },
    ])
  const used = await sqlOne<{ id: string }>(
    trx,
    `select id from cash_movement where tenant_id = :tenantId and reverses_id = :movementId
     union all select id from payable_payment_item where tenant_id = :tenantId and refund_movement_id = :movementId
     union all select id from supplier_credit_fact where tenant_id = :tenantId and cash_movement_id = :movementId limit 1`,
    { tenantId, movementId },
  )
  if (used)
    throw unprocessable('in_use', 'The movement was reversed, or is claimed already', [{ field, message: 'is in use' }])
  return found
}
