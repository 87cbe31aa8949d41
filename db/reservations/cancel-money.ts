import { raisePosting } from '../financial/index.ts'
import type { Trx } from '../lib/connection.ts'
import { freeMoneyOn, requestRefund } from '../payment/index.ts'
import type { FolioRow, ReservationRow } from '../rows.ts'
import { addLines } from './folio/lines.ts'
import { leaveDepositStage } from './folio/stage.ts'

/** Writes the fee of a stay onto its folio. Answers its line, and the postings, which are for the end of the transaction. */
export const chargeFee = async (
  trx: Trx,
  folio: FolioRow,
  reservation: ReservationRow,
  fee: number,
  businessDate: string,
) => {
  if (fee === 0) return { posts: [], lines: [] }
  const moved =
    folio.charges + fee > folio.credits ? await leaveDepositStage(trx, folio) : { folio, post: () => Promise.resolve() }
  const [line] = await addLines(trx, [
    {
      folioId: folio.id,
      kind: 'fee',
      category: 'cancellation',
      description: 'Cancellation fee',
      amount: fee,
      businessDate,
      source: { type: 'cancellation_fee', id: reservation.id, key: String(reservation.version) },
    },
  ])
  if (!line) throw new Error(`the fee of ${reservation.id} was not written`)
  const post = () =>
    raisePosting(trx, {
      event: 'reservations.cancellation_fee_charged',
      source: { id: line.id },
      propertyId: folio.propertyId,
      payload: {
        amounts: { amount: fee },
        documents: { folio: folio.id },
        context: { folioStage: moved.folio.stage, category: 'cancellation', marketSegment: reservation.marketSegment },
        ...(reservation.primaryGuestId
          ? { parties: { folio: { type: 'guest', id: reservation.primaryGuestId } } }
          : {}),
      },
    })
  return { posts: [moved.post, post], lines: [line] }
}

/** Money of gateways goes back by itself; recorded money, and what is disputed, stays on the folio for the desk (R29). */
export const refundExcess = async (trx: Trx, folio: FolioRow): Promise<void> => {
  const amount = Math.min(-folio.balance, await freeMoneyOn(trx, 'folio', folio.id))
  if (amount > 0) await requestRefund(trx, { targetType: 'folio', targetId: folio.id, amount, reason: 'cancellation' })
}
