import { ledgerCollectWithholdings, ledgerGenerateRecurring, ledgerNoticePayables } from '../jobs/accounts-payable.ts'
import { ledgerTickReceivables } from '../jobs/accounts-receivable.ts'
import {
  creditSumsText,
  payableChecklist,
  payableControls,
  payableForecast,
  payableSumsText,
  payableTarget,
  recurringForecast,
  registerStock,
  transferEnded,
  draftTaxes,
} from './accounts-payable/index.ts'
import {
  billStays,
  creditNoteNumbers,
  chargesOfReceivables,
  dunningMessages,
  exposureText,
  invoiceMessages,
  numberedReceivables,
  receiptChecklist,
  receiptControls,
  receiptNumbers,
  receiptOfPix,
  receiptRefundByPix,
  receiptSumsText,
  receiptTakenBack,
  receivableStatementTarget,
  registerPixCharges,
  receivableChecklist,
  receivableControls,
  receivableForecast,
  receivableSumsText,
  receivableErasureBlockers,
  sealErasedCustomers,
  receivableTarget,
  overReturnedReceipt,
  refundTransferEnded,
  requestFiscal,
  rpsNumbers,
} from './accounts-receivable/index.ts'
import { resolvePlatformCallback } from './admin/index.ts'
import {
  askPixReturn,
  cashBalancesText,
  cashChecklist,
  cashControls,
  chargeForecast,
  connectedSender,
  matchesText,
  registerForecast,
  registerPixModules,
  registerPixReturns,
  registerPixSender,
  registerSessionMoney,
  registerStatementTarget,
  registerTransferAnswers,
  sessionsText,
  zNumbersText,
} from './cash/index.ts'
import { gapsText, registerNumbered } from './documents/index.ts'
import {
  registerCheck,
  registerChecklist,
  registerControl,
  registerDaily,
  registerTaxDrafts,
} from './financial/index.ts'
import {
  beforeErasing,
  erasureBlockersWith,
  exportGuestsWith,
  registerCompanyUses,
  registerEmailChange,
} from './guests/index.ts'
import {
  inventoryChecklist,
  inventoryControls,
  openOrders,
  orderTargets,
  stockForPayables,
  stockSumsText,
} from './inventory/index.ts'
import { hearGuest, removeFilesOf } from './issues/index.ts'
import { messagesForGuests, registerInbound, registerMessageOwner } from './ocp/index.ts'
import {
  gatewayDaysText,
  paymentChecklist,
  paymentControls,
  paymentErasureBlockers,
  payoutForecast,
  payoutTarget,
  pixMoney,
  refundByPix,
  registerOverReturns,
  registerPlatformCallback,
  registerTargets,
  returnUnwanted,
  sessionMoney,
} from './payment/index.ts'
import {
  companyUses,
  erasureBlockers,
  followEmail,
  openChecksWith,
  paymentTargets,
  reapHolds,
  registerBilling,
  registerFolioClosed,
  reservationControls,
} from './reservations/index.ts'
import { registerReaper } from './units/index.ts'

/**
 * Gives lower modules what they call in higher ones, which they may not import. Each process calls it once, at its start; commands that
 * need a registration fail without it.
 */
export const registerModules = () => {
  registerReaper(reapHolds)
  registerInbound(hearGuest)
  for (const owner of [invoiceMessages, dunningMessages]) registerMessageOwner(owner)
  registerTargets(paymentTargets)
  registerTargets({ receivable: receivableTarget })
  registerOverReturns(overReturnedReceipt)
  registerNumbered('receipt', receiptNumbers)
  registerNumbered('credit_note', creditNoteNumbers)
  registerTargets(orderTargets)
  openChecksWith(openOrders)
  registerStock(stockForPayables)
  registerPlatformCallback((trx, callback) => resolvePlatformCallback(trx as never, callback))
  erasureBlockersWith(erasureBlockers)
  registerCompanyUses(companyUses)
  registerEmailChange(followEmail)
  erasureBlockersWith(paymentErasureBlockers)
  erasureBlockersWith(receivableErasureBlockers)
  exportGuestsWith('messages', messagesForGuests)
  beforeErasing('customer', sealErasedCustomers)
  for (const table of ['issue', 'lost_item'] as const) beforeErasing(table, removeFilesOf(table))
  for (const control of [
    ...cashControls,
    ...payableControls,
    ...receivableControls,
    ...paymentControls,
    ...receiptControls,
    ...reservationControls,
    ...inventoryControls,
  ])
    registerControl(control)
  registerChecklist(paymentChecklist)
  registerCheck('series_without_gap', gapsText)
  for (const item of [
    ...cashChecklist,
    ...payableChecklist,
    ...receivableChecklist,
    ...receiptChecklist,
    inventoryChecklist,
  ])
    registerChecklist(item)
  registerNumbered('receivable', numberedReceivables)
  for (const [check, text] of Object.entries({
    exposure_equals_open: exposureText,
    cash_sums: cashBalancesText,
    session_sums: sessionsText,
    z_numbers_without_gap: zNumbersText,
    match_sums: matchesText,
    payable_sums: payableSumsText,
    supplier_credit_sums: creditSumsText,
    receivable_sums: receivableSumsText,
    receipt_sums: receiptSumsText,
    gateway_days: gatewayDaysText,
    stock_sums: stockSumsText,
  }))
    registerCheck(check, text)
  registerBilling(billStays)
  for (const daily of [ledgerGenerateRecurring, ledgerCollectWithholdings]) registerDaily(daily, 'today')
  for (const daily of [ledgerNoticePayables, ledgerTickReceivables]) registerDaily(daily, 'each')
  registerNumbered('fiscal_document', rpsNumbers)
  registerFolioClosed((trx, folioIds) => requestFiscal(trx, 'folio', folioIds))
  registerTaxDrafts(draftTaxes)
  registerTransferAnswers({ payable_payment_item: transferEnded, receipt_refund: refundTransferEnded })
  registerSessionMoney(sessionMoney)
  registerPixSender(connectedSender)
  registerPixReturns(askPixReturn)
  registerPixModules({
    targetOf: pixMoney.targetOf,
    payment: pixMoney.payment,
    receipt: receiptOfPix,
    takenBack: { payment: pixMoney.takenBack, receipt: receiptTakenBack },
    unwanted: returnUnwanted,
    answers: { receipt_refund: receiptRefundByPix, refund: refundByPix },
  })
  registerPixCharges(chargesOfReceivables)
  registerForecast('charges', chargeForecast)
  registerStatementTarget('payout', payoutTarget)
  registerStatementTarget('payable', payableTarget)
  registerStatementTarget('receivable', receivableStatementTarget)
  registerForecast('payouts', payoutForecast)
  registerForecast('receivables', receivableForecast)
  registerForecast('payables', payableForecast)
  registerForecast('recurring', recurringForecast)
}
