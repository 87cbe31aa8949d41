import type { pixReceived } from '../../../config/events/pix.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { PixReceiptRecord } from '../models.ts'

/** A Pix as the bank tells of it. Amounts in minor units. */
export type HeardPix = {
  endToEndId: string
  txid: string | null
  amount: number
  at: Date
  payerName: string | null
  payerDocument: string | null
  /** The text that the payer wrote. */
  text: string | null
  returns: HeardReturn[]
}
export type HeardReturn = { code: string; amount: number; status: 'pending' | 'done' | 'failed'; byBank: boolean }

/** Says what has become of money by Pix. */
export const tellPix = (
  trx: Trx,
  event: typeof pixReceived,
  { id, endToEndId, pixChargeId, cashAccountId, currency, version }: PixReceiptRecord,
  { propertyId, amount }: { propertyId: string | null; amount: number },
) => emit(trx, event, { propertyId, id, version, data: { endToEndId, pixChargeId, cashAccountId, amount, currency } })
