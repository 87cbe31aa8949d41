import { unprocessable } from '../../../config/errors.ts'
import { prepared, preparedOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { adjustCharge } from './adjust.ts'
import { linesLeft } from './lines-left.ts'
import { lockFolio } from './lock.ts'

/** The document of another module that lines of folios stand for. */
export type Source = { type: string; id: string }

type Adjusting = {
  folioId: string
  /** The charge to be lowered; the room charges, latest first, unless one is named. */
  lineId?: string | null
  /** Minor units without taxes on top. */
  amount: number
  /** Stands on the folio: no names. */
  description: string
  source: Source
}

const roomCharges = async (trx: Trx, folioId: string): Promise<string[]> =>
  (
    await prepared<{ id: string }>(
      trx,
      `select id from folio_line where folio_id = ? and kind in ('charge', 'transfer_in') and category in ('room', 'rooms') and payment_id is null and receipt_id is null
       order by business_date desc, seq desc`,
      [folioId],
    )
  ).map((row) => row.id)

/** Parts of charges of a folio that make up an amount, never more than is left of each. 422 `adjustment_exceeds_charge`. */
export const adjustableParts = async (
  trx: Trx,
  { folioId, lineId = null, amount }: Pick<Adjusting, 'folioId' | 'lineId' | 'amount'>,
): Promise<{ lineId: string; amount: number }[]> => {
  const charges = await linesLeft(trx, folioId, lineId === null ? await roomCharges(trx, folioId) : [lineId])
  const parts: { lineId: string; amount: number }[] = []
  let open = amount
  for (const { row, left } of charges) {
    const part = Math.min(open, left)
    if (part > 0) parts.push({ lineId: row.id, amount: part })
    open -= Math.max(0, part)
  }
  if (open > 0)
    throw unprocessable('adjustment_exceeds_charge', `Only ${amount - open} is left of the charges`, [
      { field: 'amount', message: `must be at most ${amount - open}` },
    ])
  return parts
}

/**
 * Lowers charges of a folio for a document of another module (R37). Answers the ids of the new lines. A repeated call changes nothing, and answers those that
 * stand. 404; 409 `folio_busy`; 422 `folio_closed`, `adjustment_exceeds_charge`, `reference_not_found`.
 */
export const adjustFolio = async (trx: Trx, given: Adjusting): Promise<string[]> => {
  const { folioId, description, source } = given
  await lockFolio(trx, folioId)
  const standing = await prepared<{ id: string }>(
    trx,
    `select id from folio_line where source_type = ? and source_id = ? and kind = 'adjustment' order by seq`,
    [source.type, source.id],
  )
  if (standing.length > 0) return standing.map((line) => line.id)
  const lineIds: string[] = []
  for (const part of await adjustableParts(trx, given))
    lineIds.push(
      ...(await adjustCharge(trx, folioId, { ...part, reason: description, source }, { limited: false })).lineIds,
    )
  return lineIds
}

/** The amount that a folio owes its payer, in minor units; 0 where the payer owes. */
export const folioCredit = async (trx: Trx, folioId: string): Promise<number> => {
  const folio = await preparedOne<{ balance: number }>(trx, `select balance from folio where id = ?`, [folioId])
  return Math.max(0, -(folio?.balance ?? 0))
}
