import type { MovementKind, TransferStatus } from '../../config/cash.ts'
import type { CsvMapping, LineStatus, StatementFormat, StatementStatus } from '../../config/cash-statements.ts'
import type {
  PixChargeKind,
  PixChargeStatus,
  PixKeyType,
  PixTargetType,
  pixConnectionStatuses,
} from '../../config/pix.ts'
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

export const PixConnection = model<'pix_connection', { status: (typeof pixConnectionStatuses)[number] }>(
  'pix_connection',
)
export const PixKey = model<'pix_key', { type: PixKeyType }>('pix_key')
export const PixCharge = model<
  'pix_charge',
  {
    kind: PixChargeKind
    status: PixChargeStatus
    targetType: PixTargetType | null
    discounts: { until: string; amount: number }[]
    failure: TransferFailure | null
  }
>('pix_charge')
export const PixReceipt = model<'pix_receipt', { claimedByType: 'payment' | 'receipt' }>('pix_receipt')
export const PixReturn = model<
  'pix_return',
  { status: 'requested' | 'sending' | 'succeeded' | 'failed'; failure: TransferFailure | null }
>('pix_return')

export type ConnectionRecord = NonNullable<(typeof PixConnection)['row']>
export type ChargeRecord = NonNullable<(typeof PixCharge)['row']>
export type PixReceiptRecord = NonNullable<(typeof PixReceipt)['row']>
export type PixReturnRecord = NonNullable<(typeof PixReturn)['row']>
export type StatementRecord = NonNullable<(typeof BankStatement)['row']>
export type LineRecord = NonNullable<(typeof BankStatementLine)['row']>
