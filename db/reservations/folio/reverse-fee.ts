import { randomUUID } from 'node:crypto'
import { overtaken, unprocessable } from '../../../config/errors.ts'
import type { DayPosting } from '../../financial/index.ts'
import type { Trx } from '../../lib/connection.ts'
import type { FolioRow, ReservationRow } from '../../rows.ts'
import { reopenClosed } from './close.ts'
import { addLines, announceBalances } from './lines.ts'
import { lockFolios } from './lock.ts'
import { feesLeft } from './rests.ts'
import type { Rest } from './rests.ts'
import { partyOf } from './write.ts'

type Reversal = {
  stay: Pick<ReservationRow, 'id' | 'primaryGuestId'>
  /** The fees that are taken back. */
  isDue: (fee: Rest) => boolean
  businessDate: string
}

const postingOf = (
  { id, fee, folio }: { id: string; fee: Rest; folio: FolioRow },
  { id: stayId, primaryGuestId }: Reversal['stay'],
): DayPosting => ({
  event: 'reservations.fee_reversed',
  source: { id },
  payload: {
    amounts: { amount: fee.amount },
    documents: { folio: folio.id },
    context: { folioStage: folio.stage, ...(fee.category ? { category: fee.category } : {}) },
    ...partyOf(folio, folio.reservationId === stayId ? primaryGuestId : null),
  },
})

/**
 * Opens the folios of a stay again and takes fees back: a line that lowers each, on the folio that has it now. The stay is locked. Answers the postings,
 * which are for the end of the transaction.
 */
export const reopenWithoutFees = async (trx: Trx, { stay, isDue, businessDate }: Reversal): Promise<DayPosting[]> => {
  const find = async () => (await feesLeft(trx, [stay.id])).filter(isDue)
  const folios = await lockFolios(trx, stay.id, { also: (await find()).map((fee) => fee.folioId) })
  const fees = await find()
  const ids = fees.map((fee) => fee.folioId)
  // A transfer may have moved a fee before its folio was locked.
  if (ids.some((id) => folios.every((one) => one.id !== id))) throw overtaken()
  const open = await reopenClosed(
    trx,
    folios.filter((one) => one.reservationId === stay.id || ids.includes(one.id)),
  )
  if (fees.length === 0) return []
  const billed = open.find((one) => one.receivableId !== null && ids.includes(one.id))
  if (billed)
    throw unprocessable('folio_invoiced', `Folio ${billed.number} is billed; void its receivable first`, [
      { field: 'receivableId', message: billed.receivableId ?? '' },
    ])
  const made = fees.map((fee) => ({ fee, id: randomUUID(), folio: open.find((one) => one.id === fee.folioId)! }))
  const lines = made.map(({ fee, id }) => ({
    id,
    folioId: fee.folioId,
    kind: 'adjustment' as const,
    category: fee.category,
    description: `${fee.description}, taken back`,
    amount: -fee.amount,
    businessDate,
    source: { type: 'fee_reversal', id },
    originalLineId: fee.id,
  }))
  await addLines(trx, lines)
  await announceBalances(trx, ids, lines)
  return made.map((one) => postingOf(one, stay))
}
