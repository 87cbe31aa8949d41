import { receiptRecorded } from '../../../config/events/receipts.ts'
import type { ReceiptMethod, ReceiptSource } from '../../../config/receipts.ts'
import { conflict, unprocessable } from '../../../config/errors.ts'
import type { BookedMovement } from '../../cash/index.ts'
import { requestNumber } from '../../documents/index.ts'
import { raisePosting } from '../../financial/index.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { findRow, insertRow } from '../../lib/records.ts'
import { plainText, seal } from '../../lib/sealing/index.ts'
import { Customer } from '../models.ts'
import { Receipt } from './models.ts'
import type { Payer, ReceiptRecord } from './models.ts'
import { partyOf, payerPlace, placeOf, tellReceipt } from './state.ts'

export type NewReceipt = {
  id: string
  bookId: string
  propertyId: string | null
  customerId: string | null
  sourceType: ReceiptSource
  sourceId: string
  method: ReceiptMethod
  currency: string
  /** Minor units, more than 0. */
  amount: number
  receivedOn: string
  /** The money; null of a receipt whose money another document brings. */
  movement: BookedMovement | null
  reference?: string | undefined
  payer?: Payer | undefined
}

const searchOf = (reference: string, { name, document }: Payer): string =>
  `${plainText(`${reference} ${name ?? ''}`)} ${document?.toLowerCase() ?? ''}`.trim()

/** The customer of money in a currency. 422 `reference_not_found`, `currency_mismatch`; 409 `customer_archived`. */
export const expectCustomer = async (trx: Trx, customerId: string, currency: string, field = 'customerId') => {
  const customer = await findRow(trx, Customer, customerId, ['id', 'kind', 'status', 'currency'])
  if (!customer)
    throw unprocessable('reference_not_found', 'There is no such customer', [{ field, message: 'is no customer' }])
  if (customer.status !== 'active')
    throw conflict('customer_archived', 'The customer is archived', [{ field, message: 'is archived' }])
  if (customer.currency !== currency)
    throw unprocessable('currency_mismatch', `The customer is billed in ${customer.currency}`, [
      { field, message: `is billed in ${customer.currency}` },
    ])
  return customer
}

/** Writes a receipt, tells of it and asks for its number (R8). Its posting is `postRecorded`. */
export const insertReceipt = async (
  trx: Trx,
  { movement, reference = '', payer = { name: null, document: null }, ...given }: NewReceipt,
): Promise<ReceiptRecord> => {
  const isNamed = payer.name !== null || payer.document !== null
  const receipt = await insertRow(trx, Receipt, {
    ...given,
    cashAccountId: movement?.cashAccountId ?? null,
    cashSessionId: movement?.sessionId ?? null,
    cashMovementId: movement?.movementId ?? null,
    reference,
    payer: isNamed ? await seal(trx, 'tenant', payerPlace(given.id), payer) : null,
    search: searchOf(reference, payer),
    createdBy: contextOf(trx).actor.id === null ? null : await authorOf(trx),
  })
  await requestNumber(trx, 'receipt', receipt.id)
  await tellReceipt(trx, receiptRecorded, receipt, { amount: receipt.amount })
  return receipt
}

/** Raises the money of a receipt: it lies in unallocated receipts until it is allocated. */
export const postRecorded = (trx: Trx, receipt: ReceiptRecord, { ledgerAccountId }: BookedMovement) =>
  raisePosting(trx, {
    event: 'accounts-receivable.receipt_recorded',
    source: { id: receipt.id },
    ...placeOf(receipt),
    postingDate: receipt.receivedOn,
    payload: {
      amounts: { amount: receipt.amount },
      accounts: { money: ledgerAccountId },
      documents: { receipt: receipt.id },
      ...partyOf(receipt.customerId),
    },
  })
