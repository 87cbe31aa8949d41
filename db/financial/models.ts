import type { AccountClass, Control, JournalKind, Side } from '../../config/financial.ts'
import { model } from '../lib/models.ts'
import type { DraftLine } from './line-check.ts'
import type { Schedule } from './rules/schedule.ts'
import type { TemplateLine, TemplateVariable } from './rules/template-lines.ts'

export const Book = model('book')
export const Journal = model<'journal', { kind: JournalKind }>('journal')
export const Account = model<
  'account',
  { class: AccountClass; side: Side; control: Control | null; status: 'active' | 'archived' }
>('account')
export const CostCenter = model<'cost_center', { kind: 'department' | 'project' | 'other' }>('cost_center')
export const TaxCode = model<'tax_code', { kind: TaxCodeKind }>('tax_code')
export const TaxRate = model('tax_rate')
export const PostingRule = model<'posting_rule', { match: Record<string, string> }>('posting_rule')
export const ExchangeRate = model('exchange_rate')
export const EntryDraft = model<
  'entry_draft',
  { lines: DraftLine[]; kind: 'standard' | 'opening'; status: 'draft' | 'submitted' | 'posted' }
>('entry_draft')
export const TaxAssessment = model('tax_assessment')
export const Budget = model<'budget', { status: 'draft' | 'approved' | 'superseded' }>('budget')
export const AccrualSchedule = model<
  'accrual_schedule',
  { kind: 'prepaid' | 'deferred' | 'depreciation'; status: 'running' | 'completed' | 'cancelled' }
>('accrual_schedule')
export const EntryTemplate = model<
  'entry_template',
  {
    variables: TemplateVariable[]
    lines: TemplateLine[]
    schedule: Schedule | null
    status: 'active' | 'paused' | 'removed'
  }
>('entry_template')
export const PostingEvent = model<
  'posting_event',
  { status: PostingStatus; dated: 'day' | 'document'; payload: Record<string, unknown> }
>('posting_event')
export const FiscalYear = model<'fiscal_year', { status: 'open' | 'closing' | 'closed' }>('fiscal_year')
export const FiscalPeriod = model<'fiscal_period', { status: PeriodStatus; kind: 'regular' | 'closing' }>(
  'fiscal_period',
)
export const BusinessDay = model<'business_day', { status: 'open' | 'closed'; totals: Record<string, unknown> | null }>(
  'business_day',
)

export const taxCodeKinds = ['period', 'document', 'withheld_from_suppliers', 'withheld_by_customers'] as const
export type TaxCodeKind = (typeof taxCodeKinds)[number]
export const postingStatuses = ['pending', 'posted', 'failed', 'parked', 'dismissed'] as const
export type PostingStatus = (typeof postingStatuses)[number]
export const periodStatuses = ['open', 'soft_closed', 'closed'] as const
export type PeriodStatus = (typeof periodStatuses)[number]
