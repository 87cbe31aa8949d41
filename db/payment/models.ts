import type { Actor } from '../lib/connection.ts'
import { model } from '../lib/models.ts'

export const Payment = model('payment')
export const PaymentHistory = model('payment_history')
export const PaymentMethod = model('payment_method')
export const Refund = model<'refund', { requestedBy: Actor }>('refund')
export const GatewayAccount = model('gateway_account')
export const GatewayCallback = model('gateway_callback', 'id')
export const Dispute = model('dispute')
export const Payout = model('payout')
export const BalanceTransaction = model('balance_transaction')
export const Reconciliation = model('reconciliation')
export const PaymentException = model<'payment_exception', { resolvedBy: Actor | null }>('payment_exception')
