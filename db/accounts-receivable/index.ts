/** The claims of the house: customers and their bills. Other modules and the edges import this file alone. */
export { dunningMessages } from './dunning/messages.ts'
export { listNotices, listRuns, readRun } from './dunning/read.ts'
export { beginRun, booksToDun, endRun, previewDunning, startDue, startDunning, writeNotices } from './dunning/runs.ts'
export {
  answerFiscal,
  beginCancel,
  beginRead,
  beginSend,
  fiscalDue,
  noteNotSent,
  requestReads,
} from './fiscal/calls.ts'
export type { AuthorityWord, CallAnswer, FiscalCall } from './fiscal/calls.ts'
export { cancelFiscal, createFiscalDocument, makeRequested, requestFiscal, retryFiscal } from './fiscal/commands.ts'
export { customersToForget, eraseFiscal, fiscalToErase, forgetCustomers } from './fiscal/retention.ts'
export { fiscalSorts, listFiscal, readFiscalDocument, rpsNumbers, statusOfFiscal } from './fiscal/read.ts'
export type { FiscalShown } from './fiscal/read.ts'
export { readSettings, setSettings } from './settings/settings.ts'
export { chargesOfReceivables } from './sending/charges.ts'
export { invoiceMessages } from './sending/messages.ts'
export { registerPixCharges } from './sending/pix.ts'
export { createCreditNote } from './credit-notes/create.ts'
export { creditNoteNumbers } from './credit-notes/issue.ts'
export { listCreditNotes, readCreditNote } from './credit-notes/read.ts'
export { allocateReceipt, tryAllocation } from './receipts/allocate.ts'
export { bankReturned } from './receipts/bank-returned.ts'

export { receiptChecklist, receiptControls } from './receipts/controls.ts'
export { createReceipt, tryReceipt } from './receipts/create.ts'
export { receiptOfPix, receiptTakenBack } from './receipts/pix.ts'
export { recordReceipt } from './receipts/heard.ts'

export { receiptNumbers } from './receipts/numbered.ts'
export { receivableTarget } from './receipts/payment-target.ts'
export { listReceipts, readReceipt } from './receipts/read.ts'
export type { ReceiptSight } from './receipts/read.ts'
export { refundReceipt } from './receipts/refund.ts'
export { receiptRefundByPix, refundTransferEnded } from './receipts/refund-outcome.ts'
export { reverseReceipt } from './receipts/reverse.ts'
export { receivableStatementTarget } from './receipts/statement.ts'
export { undoAllocation } from './receipts/undo.ts'
export { receiptSumsText, receivableSumsText } from './checks.ts'
export { exposureText, receivableChecklist, receivableControls } from './controls.ts'
export {
  archiveCustomer,
  changeCustomer,
  createCustomer,
  lockCustomer,
  restoreCustomer,
} from './customers/customers.ts'
export { receivableErasureBlockers, sealErasedCustomers, sealForgottenCustomers } from './customers/erasure.ts'
export { listCustomers, readCustomer } from './customers/read.ts'
export type { CustomerShown } from './customers/read.ts'
export { listInstallments, readAgeing, readStatement } from './figures.ts'
export { billMonth, requestMonthly, tellOverdue } from './monthly.ts'
export { billStays } from './receivables/bill.ts'
export { billFromFolios } from './receivables/from-folios.ts'
export { changeReceivable } from './receivables/change.ts'
export { createReceivable } from './receivables/create.ts'
export { issueReceivable, numberedReceivables } from './receivables/issue.ts'
export { listReceivables, receivableSorts } from './receivables/list.ts'
export { readReceivable, statusOfReceivable } from './receivables/read.ts'
export { voidReceivable } from './receivables/void.ts'
export { reinstateReceivable, writeOffReceivable } from './receivables/write-off.ts'
export { handOver, readSending, sendReceivable } from './sending/send.ts'
