/** The debts of the house: suppliers, orders, bills, payments and credits. Other modules and the edges import this file alone. */
export { creditSumsText, payableSumsText } from './checks.ts'
export { payableChecklist, payableControls } from './controls.ts'
export { createCredit, listCredits, readCredit, voidCredit } from './credits/credits.ts'
export { refundCredit } from './credits/refund.ts'
export { tellDue } from './due.ts'
export { listInstallments, readAgeing, readStatement } from './figures.ts'
export { refuseTakenReceipts } from './orders/billing.ts'
export { listOrders, readOrder } from './orders/read.ts'
export { approveOrder, changeOrder, closeOrder, createOrder } from './orders/orders.ts'
export { lockOrder } from './orders/state.ts'
export { openOrderQuantities, receiveOrderLines, takeBackReceipts } from './orders/receive.ts'
export { changePayable } from './payables/change.ts'
export { createPayable } from './payables/create.ts'

export { listPayables, payableSorts } from './payables/list.ts'
export { approvePayable, rejectPayable, submitPayable, voidPayable } from './payables/moves.ts'
export { readPayable } from './payables/read.ts'
export type { PayableShown } from './payables/read.ts'
export { createPayment, tryPayment } from './payments/create.ts'
export { listPayments, readPayment, statusOfPayment } from './payments/read.ts'
export { voidPayment } from './payments/reverse.ts'
export { approvePayment, failUnsent, itemsToSend, paymentsToStart, sendItem, transferEnded } from './payments/send.ts'
export { payableTarget } from './payments/statement.ts'
export { policyOf, setPolicy } from './policy.ts'
export { changeRecurring, createRecurring, dueRecurring, listRecurring, occur, readRecurring } from './recurring.ts'
export { billFilesToErase, eraseBillFiles } from './retention.ts'
export { lockPayable } from './state.ts'
export { payableForecast, recurringForecast } from './forecast.ts'
export { registerStock } from './stock.ts'
export type { Stock } from './stock.ts'
export { decideBankDetails, proposeBankDetails } from './suppliers/bank-details.ts'
export { listSuppliers, readSupplier } from './suppliers/read.ts'
export type { SupplierShown } from './suppliers/read.ts'
export {
  archiveSupplier,
  changeSupplier,
  createSupplier,
  lockSupplier,
  restoreSupplier,
} from './suppliers/suppliers.ts'
export { collectWithholdings, draftTaxes } from './withholdings.ts'
