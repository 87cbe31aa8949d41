import fc from 'fast-check'
import type { House } from '../support/factories.ts'
import { makeReceipts } from '../support/receipts.ts'
import type { Receipts } from '../support/receipts.ts'
import type { Known } from './inputs.ts'

/** Receipts and credit notes in the states that commands start from. */
export const ofReceipts = async (
  house: House,
  given?: Receipts,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const r = given ?? (await makeReceipts(house))
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const money = {
    cashAccountId: r.bankAccountId,
    method: 'bank',
    amount: 500,
    receivedOn: house.today,
  }
  return {
    records: {
      receiptId: r.receiptId,
      receiptAllocationId: r.receiptAllocationId,
      creditNoteId: r.creditNoteId,
    },
    known: {
      customerId: one(r.customerId),
      receivableId: one(r.receivableId),
      receiptId: one(r.receiptId),
      receiptAllocationId: one(r.receiptAllocationId),
      creditNoteId: one(r.creditNoteId),
      cashAccountId: one(r.bankAccountId),
      receivedOn: one(house.today),
      method: one('bank', 'pix', 'cash'),
      bookId: one(house.bookId),
      via: one('manual', 'manual', 'pix_return'),
      payee: one(undefined),
      'receipts.undoAllocation receiptId': one(r.allocatedId),
      'receipts.refund receiptId': one(r.toRefund),
      'receipts.reverse receiptId': one(r.toReverse),
    },
    examples: {
      'receipts.list': [{}, { unidentified: true }, { available: true, from: house.day(-10) }],
      'receipts.create': [money, { ...money, customerId: r.customerId, auto: true }],
      'receipts.allocate': [
        { allocations: [{ installmentId: r.receivableInstallmentId, principal: 10 }] },
        { customerId: r.customerId },
      ],
      'receipts.refund': [{ amount: 10, via: 'manual', reason: 'Paid twice' }],
      'receipts.reverse': [{ reason: 'The cheque bounced' }],
      'creditNotes.create': [{ receivableId: r.receivableId, amount: 10, reason: 'Too dear' }],
    },
  }
}
