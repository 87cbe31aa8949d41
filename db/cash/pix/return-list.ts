import { attemptsByKey } from '../../lib/attempts.ts'
import type { AttemptRecord } from '../../lib/attempts.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'

/** A part of a received Pix that goes or went back, with the calls to the bank about it. */
export type PixReturnShown = {
  id: string
  amount: number
  /** `bank`: the bank has returned it by itself. */
  origin: 'request' | 'bank'
  status: 'requested' | 'sending' | 'succeeded' | 'failed'
  failure: { code: string; message: string } | null
  cashMovementId: string | null
  createdAt: Date
  attempts: AttemptRecord[]
}

type Row = Omit<PixReturnShown, 'attempts'> & { pixReceiptId: string; returnCode: string }

/** Returns of these receipts, oldest first. A receipt without any is not in it. */
export const pixReturnsOf = async (trx: Trx, receiptIds: readonly string[]): Promise<Map<string, PixReturnShown[]>> => {
  const found = new Map<string, PixReturnShown[]>()
  if (receiptIds.length === 0) return found
  const rows = await sql<Row>(
    trx,
    `select id, pix_receipt_id, return_code, amount, origin, status, failure, movement_id as cash_movement_id, created_at from pix_return
     where tenant_id = ? and pix_receipt_id = any(?::uuid[]) order by created_at, id limit 1000`,
    [contextOf(trx).tenantId, receiptIds],
  )
  const attempts = await attemptsByKey(
    trx,
    rows.filter(({ origin }) => origin === 'request').map(({ returnCode }) => returnCode),
  )
  for (const { pixReceiptId, returnCode, ...row } of rows)
    found.set(pixReceiptId, [...(found.get(pixReceiptId) ?? []), { ...row, attempts: attempts.get(returnCode) ?? [] }])
  return found
}
