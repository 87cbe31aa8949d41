import { Count, Currency, Day, Nullable, Obj, OneOf, SignedAmount, Uuid } from '../schema.ts'
import { event } from './event.ts'
import type { Event } from './event.ts'

const statement = {
  entity: 'bank_statement',
  subject: 'BankStatement',
  data: Obj({
    bankStatementId: Uuid,
    cashAccountId: Uuid,
    from: Nullable(Day),
    to: Nullable(Day),
    /** Lines that it has brought. */
    lineCount: Count,
  }),
} as const
export const bankStatementImported = event({
  type: 'bank_statement.imported',
  ...statement,
  listeners: ['issues ended'],
})
export const bankStatementRejected = event({ type: 'bank_statement.rejected', ...statement, listeners: ['issues'] })
export const bankStatementReconciled = event({ type: 'bank_statement.reconciled', ...statement })
export const bankStatementReopened = event({ type: 'bank_statement.reopened', ...statement })

const line = {
  entity: 'bank_statement_line',
  subject: 'BankStatement',
  data: Obj({
    statementLineId: Uuid,
    bankStatementId: Uuid,
    amount: SignedAmount,
    currency: Currency,
    /** The type of its record, where that is one movement. */
    targetType: Nullable(OneOf(['cash_movement'])),
    targetId: Nullable(Uuid),
  }),
} as const
export const statementLineMatched = event({ type: 'statement_line.matched', ...line })
export const statementLineUnmatched = event({ type: 'statement_line.unmatched', ...line })

export const cashStatementEvents: Event[] = [
  bankStatementImported,
  bankStatementRejected,
  bankStatementReconciled,
  bankStatementReopened,
  statementLineMatched,
  statementLineUnmatched,
]
