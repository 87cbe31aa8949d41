import { unprocessable } from '../../config/errors.ts'
import type { Trx } from '../lib/connection.ts'

/** A part of a received Pix that goes back to its payer, for a refund of the module that claims the money. */
export type PixReturnRequest = {
  /** The Pix that was received. */
  pixReceiptId: string
  /** Minor units, more than 0. */
  amount: number
  source: { type: 'receipt_refund' | 'refund'; id: string }
  /** For people to read. */
  reason: string
}

type Request = (trx: Trx, request: PixReturnRequest) => Promise<{ pixReturnId: string }>

let registered: Request | null = null

/** Says who asks the bank to return a Pix. The outcome reaches the module of the refund in the transaction in which it is known. */
export const registerPixReturns = (request: Request | null): void => {
  registered = request
}

/** Asks that a received Pix go back, in part or whole. 422 `not_refundable` where no connection returns a Pix. */
export const requestPixReturn: Request = (trx, request) => {
  if (!registered)
    return Promise.reject(
      unprocessable('not_refundable', 'No connection of the house returns a Pix', [
        { field: 'via', message: 'must be transfer or manual' },
      ]),
    )
  return registered(trx, request)
}
