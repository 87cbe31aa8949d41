import type { MovementKind, TransferStatus } from '../../config/cash.ts'
import type { CsvMapping, LineStatus, StatementFormat, StatementStatus } from '../../config/cash-statements.ts'
import type { Actor } from '../lib/connection.ts'
import { model } from '../lib/models.ts'
import type { MatchRule } from './rules/match-rules.ts'
import type { StatementError } from './rules/statement-text.ts'

export const CashAccount = model<
  'cash_account',
  {
    kind: 'bank' | 'acquirer' | 'safe' | 'petty_cash' | 'register'
    status: 'active' | 'archived'
    matchRules: MatchRule[]
    csvMapping: Record<string, unknown> | null
  }
>('cash_account')
export const CashMovement = model<'cash_movement', { kind: MovementKind; createdBy: Actor }>('cash_movement')
export const CashSession = model<
  'cash_session',
  { status: 'open' | 'in_review' | 'closed'; declared: Record<string, number> }
>('cash_session')
export const CashCount = model<'cash_count', { moment: 'opening' | 'closing'; denominations: Record<string, number> }>(
  'cash_count',
)
export type TransferFailure = { code: string; message: string }
export const CashTransfer = model<
  'cash_transfer',
  { method: 'manual' | 'pix'; status: TransferStatus; failure: TransferFailure | null }
>('cash_transfer')

export type AccountRecord = NonNullable<(typeof CashAccount)['row']>
export type MovementRecord = NonNullable<(typeof CashMovement)['row']>
export type SessionRecord = NonNullable<(typeof CashSession)['row']>
export type TransferRecord = NonNullable<(typeof CashTransfer)['row']>

export const BankStatement = model<
  'bank_statement',
  { format: StatementFormat; status: StatementStatus; mapping: CsvMapping | null; error: StatementError | null }
>('bank_statement')
export const BankStatementLine = model<'bank_statement_line', { status: LineStatus }>('bank_statement_line')
export const StatementMatch = model<'statement_match', object>('statement_match')

export type StatementRecord = NonNullable<(typeof BankStatement)['row']>
export type LineRecord = NonNullable<(typeof BankStatementLine)['row']>
