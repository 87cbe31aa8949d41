import { rows, sealed } from './table.ts'

export const cashData = [
  sealed('cash_account', { holder: { purpose: 'holder' } }),
  ...rows('cash_session', 'cash_count'),
  sealed('cash_transfer', { payee: { purpose: 'payee' } }),
  sealed('cash_movement', { counterparty: { purpose: 'counterparty' } }),
  sealed('bank_statement', { blob_id: { purpose: 'file', file: true } }),
  sealed('bank_statement_line', { counterparty: { purpose: 'counterparty' } }),
  ...rows('statement_match'),
  sealed('pix_connection', { hook: { purpose: 'hook' }, credentials: { purpose: 'credentials' } }),
  ...rows('pix_key'),
  sealed('pix_charge', { payer: { purpose: 'payer' } }),
  sealed('pix_receipt', { payer: { purpose: 'payer' } }),
  ...rows('pix_return'),
]
