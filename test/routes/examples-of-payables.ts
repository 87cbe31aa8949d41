import fc from 'fast-check'
import type { House } from '../support/factories.ts'
import { makePayables } from '../support/payables.ts'
import type { Payables } from '../support/payables.ts'
import type { Known } from './inputs.ts'

/** Bills, suppliers and payments in the states that commands start from. */
export const ofPayables = async (
  house: House,
  given?: Payables,
): Promise<{ known: Known; examples: Record<string, unknown[]>; records: Record<string, string> }> => {
  const p = given ?? (await makePayables(house))
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const bill = {
    bookId: house.bookId,
    payeeName: 'Padaria Pão Doce',
    kind: 'bill',
    issuedOn: house.today,
    lines: [{ description: 'Bread', accountId: p.accountId, amount: 1_200 }],
  }
  return {
    records: {
      supplierId: p.supplierId,
      payableId: p.draft,
      payablePaymentId: p.payablePaymentId,
      supplierCreditId: p.supplierCreditId,
      recurringPayableId: p.recurringPayableId,
      purchaseOrderId: p.orderId,
    },
    known: {
      supplierId: one(p.supplierId),
      payableId: one(p.draft),
      payablePaymentId: one(p.payablePaymentId),
      supplierCreditId: one(p.supplierCreditId),
      recurringPayableId: one(p.recurringPayableId),
      purchaseOrderId: one(p.orderId),
      installmentId: one(p.installmentId),
      cashAccountId: one(p.cashAccountId),
      attachmentId: one(p.attachmentId),
      entityType: one('payable'),
      entityId: one(p.draft),
      bookId: one(house.bookId),
      propertyId: one(house.propertyId),
      'suppliers.archive supplierId': one(p.spare),
      'suppliers.restore supplierId': one(p.spare),
      'payables.submit payableId': one(p.toSubmit),
      'payables.approve payableId': one(p.awaiting),
      'payables.reject payableId': one(p.toReject),
      'payables.void payableId': one(p.toVoid),
      'payablePayments.void payablePaymentId': one(p.toReverse),
      'supplierCredits.void supplierCreditId': one(p.toEnd),
      'purchaseOrders.close purchaseOrderId': one(p.toClose),
      'payableAttachments.delete attachmentId': one(p.removed),
    },
    examples: {
      'payables.list': [{}, { awaitingMe: true }, { status: 'draft', sort: '-gross' }],
      'payableInstallments.list': [{}, { overdue: false }, { open: true, inPayment: false }],
      'payables.ageing': [{ bookId: house.bookId }, { bookId: house.bookId, by: 'costCenter' }],
      'payables.create': [bill],
      'payablePayments.create': [
        { method: 'manual', cashAccountId: p.cashAccountId, items: [{ installmentId: p.installmentId, principal: 1 }] },
      ],
      'supplierCredits.create': [
        { supplierId: p.supplierId, payableId: p.approved, number: 'C9', issuedOn: house.today, amount: 10 },
      ],
      'supplierCredits.refund': [{ amount: 10, cashAccountId: p.cashAccountId, receivedOn: house.today }],
      'purchaseOrders.create': [
        {
          supplierId: p.supplierId,
          propertyId: house.propertyId,
          lines: [{ description: 'Candles', accountId: p.accountId, quantity: '2', unitPrice: 100 }],
        },
      ],
      'payableAttachments.create': [
        {
          entityType: 'payable',
          entityId: p.draft,
          fileName: 'bill.csv',
          mediaType: 'text/csv',
          content: Buffer.from('line,amount\n').toString('base64'),
        },
      ],
      'suppliers.statement': [{ from: house.day(-30), to: house.day(0) }],
    },
  }
}
