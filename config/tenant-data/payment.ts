import { inner, rows, sealed, staying } from './table.ts'

export const paymentData = [
  ...rows(
    'payment_history', 'payment_allocation', 'refund', 'payout', 'balance_transaction', 'reconciliation',
    'payment_exception',
  ), // oxfmt-ignore
  ...inner('follows from the transactions that it sums', 'gateway_balance_day'),
  sealed('gateway_account', { onboarding_url: { purpose: 'onboarding_url' } }),
  sealed('payment_method', { action: { purpose: 'action' } }),
  sealed('payment', { payer: { purpose: 'payer' }, action: { purpose: 'action' } }),
  sealed('dispute', { evidence: { purpose: 'evidence' } }),
  ...staying(
    'sealed by the installation that heard it; the records say what came of it',
    inner('what a gateway sent; the records say what came of it', 'gateway_callback'),
  ),
]
