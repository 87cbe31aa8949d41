import { conflict, unprocessable } from '../../../config/errors.ts'
import { folioClosed, folioReopened } from '../../../config/events/folios.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { paymentState } from '../../payment/index.ts'
import type { FolioRow } from '../../rows.ts'
import { isRunning } from '../rules/deposits.ts'
import { tellClosed } from './closed.ts'
import { lockFolio } from './lock.ts'
import { factOf } from './open.ts'

/** The moves of a folio that a person asks for by name (F2, F3). */
const folioLifecycle = lifecycle<FolioRow['status']>('A folio')({
  closed: { from: ['open'], to: 'closed' },
  reopened: { from: ['closed'], to: 'open' },
})

/** 422 `folio_closed` for a folio that takes no lines. */
export const refuseClosed = (folio: Pick<FolioRow, 'status' | 'number'>, field?: string) => {
  if (folio.status === 'closed')
    throw unprocessable(
      'folio_closed',
      `Folio ${folio.number} is closed; reopen it first`,
      field ? [{ field, message: 'is closed' }] : undefined,
    )
}

/** Payments whose money may still come to a folio. */
const isPaying = async (trx: Trx, { id, reservationId, isPrimary }: FolioRow): Promise<boolean> => {
  const of = (type: 'booking' | 'reservation' | 'folio', target: string) => paymentState(trx, type, target)
  if (isRunning(await of('folio', id))) return true
  if (!isPrimary || reservationId === null) return false
  const stay = await sqlOne<{ bookingId: string }>(trx, `select booking_id from reservation where id = ?`, [
    reservationId,
  ])
  return isRunning(await of('reservation', reservationId)) || isRunning(await of('booking', stay?.bookingId ?? ''))
}

const put = async (trx: Trx, id: string, status: FolioRow['status']) => {
  const moved = await sqlOne<FolioRow>(
    trx,
    `update folio set status = ?, version = version + 1 where id = ? returning *`,
    [status, id],
  )
  if (moved) await emit(trx, status === 'closed' ? folioClosed : folioReopened, factOf(moved))
  if (status === 'closed') await tellClosed(trx, [id])
}

/** Closes a folio without a balance (F2). 422 `folio_not_zero`; 409 `payment_in_progress`. */
export const closeFolio = async (trx: Trx, id: string, expected: number | null = null): Promise<void> => {
  const { folio } = await lockFolio(trx, id, expected)
  if (!folioLifecycle.isDue('closed', folio.status)) return
  if (folio.balance !== 0)
    throw unprocessable('folio_not_zero', `The balance is ${folio.balance}; a folio is closed at zero`, [
      { field: 'balance', message: String(folio.balance) },
    ])
  if (await isPaying(trx, folio))
    throw conflict('payment_in_progress', 'A payment is being processed; wait for its end')
  await put(trx, id, 'closed')
}

/** Opens a closed folio again (F3). 422 `folio_invoiced`. */
export const reopenFolio = async (trx: Trx, id: string, expected: number | null = null): Promise<void> => {
  const { folio } = await lockFolio(trx, id, expected)
  if (folio.receivableId !== null)
    throw unprocessable('folio_invoiced', `Folio ${folio.number} is billed; void its receivable first`, [
      { field: 'receivableId', message: folio.receivableId },
    ])
  if (folioLifecycle.isDue('reopened', folio.status)) await put(trx, id, 'open')
}
