import { rows, sealed } from './table.ts'

export const accountsReceivableData = [
  sealed('customer', { sealed: { purpose: 'contacts' }, identity: { purpose: 'identity' } }),
  sealed('receivable', { sent_to: { purpose: 'sent_to' } }),
  sealed('receipt', { payer: { purpose: 'payer' } }),
  ...rows(
    'receivable_line',
    'receivable_installment',
    'receivable_fact',
    'receivable_history',
    'write_off',
    'receipt_allocation',
    'receipt_refund',
    'credit_note',
    'credit_note_line',
    'dunning_run',
    'dunning_notice',
    'fiscal_exchange',
  ),
  sealed('receivable_settings', { fiscal_credentials: { purpose: 'credentials' } }),
  sealed('receivable_sending', { sealed: { purpose: 'sending' } }),
  sealed('fiscal_document', { snapshot: { purpose: 'snapshot' }, xml_blob_id: { purpose: 'xml', file: true } }),
]
