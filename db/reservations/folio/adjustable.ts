import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { linesLeft } from './lines-left.ts'

/** A charge, and how much of it can still be taken off, without taxes on top. */
export type AdjustableCharge = { lineId: string; left: number }

/** The named line of a folio with what is left of it; without a name its room charges, latest first. 422 `reference_not_found` for a foreign line. */
export const adjustableCharges = async (
  trx: Trx,
  folioId: string,
  lineId: string | null,
): Promise<AdjustableCharge[]> => {
  const ids =
    lineId === null
      ? (
          await sql<{ id: string }>(
            trx,
            `select id from folio_line where folio_id = ? and kind in ('charge', 'transfer_in') and category in ('room', 'rooms') and payment_id is null
             order by business_date desc, seq desc`,
            [folioId],
          )
        ).map((row) => row.id)
      : [lineId]
  return (await linesLeft(trx, folioId, ids)).map(({ row, left }) => ({ lineId: row.id, left: Math.max(0, left) }))
}

/** What a folio owes its payer; 0 where it does not. */
export const folioCredit = async (trx: Trx, folioId: string): Promise<number> => {
  const folio = await sqlOne<{ balance: number }>(trx, `select balance from folio where id = ?`, [folioId])
  return Math.max(0, -(folio?.balance ?? 0))
}
