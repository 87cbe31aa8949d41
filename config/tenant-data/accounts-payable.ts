import { rows, sealed } from './table.ts'

export const accountsPayableData = [
  sealed('supplier', { sealed: { purpose: 'contacts' } }),
  sealed('supplier_bank_details', { sealed: { purpose: 'bank_details' } }),
  ...rows(
    'approval_policy',
    'purchase_order',
    'purchase_order_line',
    'purchase_receipt',
    'payable',
    'payable_line',
    'payable_withholding',
    'payable_approval',
    'payable_installment',
    'payable_fact',
    'payable_history',
    'payable_payment',
    'payable_payment_item',
    'supplier_credit',
    'supplier_credit_fact',
    'recurring_payable',
  ),
]
