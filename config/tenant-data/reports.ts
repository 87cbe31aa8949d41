import { inner, rows } from './table.ts'

export const reportsData = [
  ...rows('report_schedule', 'report_run', 'report_drift'),
  ...inner('made from what is exported, and gone within days', 'report_file'),
  ...inner('the words of a mail that was sent', 'report_notice'),
]
