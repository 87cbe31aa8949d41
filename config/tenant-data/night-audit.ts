import { inner, rows } from './table.ts'

export const nightAuditData = [
  ...rows('night_audit', 'night_fact', 'property_day', 'property_day_count', 'on_the_books_change'),
  ...inner('how far a close has come', 'night_audit_checkpoint'),
  ...inner(
    'follows from the facts that it sums up',
    'night_sum',
    'stay_sum',
    'extra_sum',
    'price_tax_sum',
    'stay_sum_day',
    'stay_sum_change',
    'on_the_books_sum',
    'on_the_books_waiting',
  ),
]
