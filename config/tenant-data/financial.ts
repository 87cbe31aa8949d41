import { inner, rows, sealed } from './table.ts'

export const financialData = [
  sealed('book', { sealed: { purpose: 'document' } }),
  ...rows(
    'journal', 'account', 'fiscal_year', 'fiscal_period', 'business_day', 'cost_center', 'tax_code', 'tax_rate',
    'journal_entry', 'journal_line', 'posting_event', 'posting_rule', 'entry_draft', 'exchange_rate', 'accrual_schedule', 'budget', 'budget_line', 'entry_template', 'tax_assessment',
  ), // oxfmt-ignore
  ...inner(
    'follows from the entries',
    'account_balance', 'cash_counterpart', 'journal_text', 'journal_seal', 'integrity_run', 'book_tick',
  ), // oxfmt-ignore
]
