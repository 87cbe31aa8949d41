import { rows, sealed } from './table.ts'

export const cashData = [
  sealed('cash_account', { holder: { purpose: 'holder' } }),
  ...rows('cash_session', 'cash_count'),
  sealed('cash_transfer', { payee: { purpose: 'payee' } }),
  sealed('cash_movement', { counterparty: { purpose: 'counterparty' } }),
]
