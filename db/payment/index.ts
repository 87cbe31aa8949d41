/** Money through gateways, as other modules see it. */
export { paymentErasureBlockers } from './erasure.ts'
export { askNow } from './ask-now.ts'
export { addSandboxAccount } from './accounts.ts'
export { lockedTarget, lockTargets, moveAllocations, moveBetweenFolios } from './allocations.ts'
export type { LockedTargets } from './allocations.ts'
export {
  applyTransactions,
  endImport,
  importCall,
  importUnheard,
  keepImport,
  requestImport,
  takeImport,
} from './balance/import.ts'
export type { BalanceEntry, ImportCall } from './balance/import.ts'
export { applyPayout, provePayout } from './balance/payouts.ts'
export type { PayoutEntry } from './balance/payouts.ts'
export { listPayouts, listReconciliations, listTransactions, readPayout, readReconciliation } from './balance/lists.ts'
export { reconcile, requestReconciliation } from './balance/reconcile.ts'
export { registerPlatformCallback, resolveCallback, storeCallback } from './callbacks.ts'
export {
  accountCall,
  applyUnknown,
  beginSubmit,
  disputeCall,
  gatewayOfAccount,
  methodCall,
  nothingKnown,
  paymentCall,
  refundCall,
  takeReads,
} from './calls.ts'
export type { AccountCall, DisputeCall, MethodCall, PaymentCall, RefundCall } from './calls.ts'
export { answerDispute, listDisputes, readDispute } from './disputes/commands.ts'
export { applyDisputeSnapshot } from './disputes/snapshot.ts'
export type { DisputeSnapshot } from './disputes/snapshot.ts'
export { tellUnallocated } from './exceptions.ts'
export { registerOverReturns, stillOnItsWay, tellOverReturned } from './over-returns.ts'
export type { OverReturnable } from './over-returns.ts'
export {
  changeAccount,
  disconnectAccount,
  listAccounts,
  openGatewayAccount,
  readAccount,
  requestOnboarding,
} from './gateway-accounts/commands.ts'
export { accountUnheard, applyAccountSnapshot, applyOnboardingLink, failAccount } from './gateway-accounts/snapshot.ts'
export type { AccountSnapshot, OnboardingLink } from './gateway-accounts/snapshot.ts'
export {
  accountKey,
  cancelKey,
  captureKey,
  methodKey,
  refundKey,
  settleNotFound,
  settlePaymentById,
  settleRefundById,
  submitKey,
} from './journal.ts'
export { forgetMethod, giveMethods, listMethods, readMethod, setUpMethod } from './methods/commands.ts'
export { applyMethodSnapshot, methodUnheard } from './methods/save.ts'
export type { MethodSnapshot } from './methods/save.ts'
export { nearEnds } from './near-ends.ts'
export { setAllocations } from './payments/allocate.ts'
export { cancelPaymentById, cancelPaymentsOf } from './payments/cancel.ts'
export { requestCapture } from './payments/capture.ts'
export { captureRefused, settleRefusedCaptures } from './payments/refused-capture.ts'
export { chargeSaved, sendLinkFor } from './payments/collect.ts'
export { createPayment } from './payments/create.ts'
export type { NewPayment, Payer } from './payments/create.ts'
export type { Cause } from './payments/history.ts'
export { lockPaymentsOf, paymentState, paymentsOf } from './payments/read.ts'
export type { PaymentShown, PaymentState } from './payments/read.ts'
export { actionPlace, applySnapshot } from './payments/snapshot.ts'
export type { Action, Failure, FailureCode, PaymentSnapshot } from './payments/snapshot.ts'
export { sendLink } from './payments/send-link.ts'
export { readPaymentDetail } from './payments/detail.ts'
export { listPayments } from './payments/list.ts'
export { createLink, createStaffPayment } from './payments/staff.ts'
export { readingOf, requestReading } from './payments/sync.ts'
export { listRefunds, readRefundRecord } from './refunds/list.ts'
export { placeOfMoney } from './payments/place.ts'
export type { Place } from './payments/place.ts'
export { recordPayment } from './payments/record.ts'
export type { RecordedMethod, RecordedPayment } from './payments/record.ts'
export { refundByPix, returnUnwanted } from './refunds/pix-return.ts'
export { releaseMoney, takeOffTarget } from './refunds/release.ts'
export { sessionMoney, payoutForecast } from './cash-facts.ts'
export { pixMoney } from './pix-money.ts'
export { payoutTarget } from './statement-payouts.ts'
export { freeMoneyOn, requestRefund } from './refunds/request.ts'
export { applyRefundSnapshot } from './refunds/snapshot.ts'
export type { RefundSnapshot } from './refunds/snapshot.ts'
export { liveMoney } from './live-money.ts'
export { listExceptions, readException, resolveException } from './resolve.ts'
export { expiryOf, isLive, mostDeclines, notFoundAfterMs, repeatForMs, shownStatus } from './rules/states.ts'
export type { Method, Shown } from './rules/states.ts'
export { signSandbox, verifyCallback } from './signatures.ts'
export type { Payable, PaymentTarget, TargetAllocation, TargetRef } from './targets.ts'
export { registerTargets, targetOf } from './targets.ts'
export { gatewayDaysText, paymentChecklist, paymentControls } from './controls.ts'
