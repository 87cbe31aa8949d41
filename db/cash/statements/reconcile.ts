import { bankStatementReconciled, bankStatementReopened } from '../../../config/events/cash-statements.ts'
import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import type { ApiError } from '../../../config/errors.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { changeRow, expression } from '../../lib/records.ts'
import { BankStatement } from '../models.ts'
import type { StatementRecord } from '../models.ts'
import { removeFile } from './receive.ts'
import { lockStatement, tellStatement } from './state.ts'

const moves = lifecycle<StatementRecord['status']>('A statement')({
  reconciled: { from: ['imported'], to: 'reconciled' },
  reopened: { from: ['reconciled'], to: 'imported' },
  deleted: { from: ['received', 'imported', 'rejected'] },
})

/** The proof of a statement. Amounts in minor units of the account. */
export type Proof = {
  /** The balance proven before its first day: the opening of the account, and matched lines. */
  opening: number
  /** Matched lines from its first to its last day. */
  cleared: number
  /** The bank's balance; null where none is stated. */
  closing: number | null
  /** `closing` less what is proven. */
  difference: number | null
  unmatchedLines: number
  /** The sum of ignored lines. */
  ignored: number
  /** Movements up to its last day that no statement has proven. */
  unmatchedMovements: { count: number; amount: number }
}

type Sums = {
  opened: number
  before: number
  cleared: number
  unmatched: number
  ignored: number
  count: number
  amount: number
}

/** The proof of a statement; lines of other statements up to its last day count with it (R21). */
export const proofOf = async (
  trx: Trx,
  { cashAccountId, firstOn, lastOn }: Pick<StatementRecord, 'cashAccountId' | 'firstOn' | 'lastOn'>,
  closing: number | null,
): Promise<Proof> => {
  const sums = await sqlOne<Sums>(
    trx,
    `select coalesce((select m.amount from cash_movement m where m.tenant_id = :tenantId and m.cash_account_id = :accountId and m.kind = 'opening'
         and m.booked_on <= cast(:to as date)), 0) as opened,
       l.before, l.cleared, l.unmatched, l.ignored, m.count, m.amount
     from (select coalesce(sum(amount) filter (where status = 'matched' and booked_on < cast(:from as date)), 0)::bigint as before,
         coalesce(sum(amount) filter (where status = 'matched' and booked_on >= cast(:from as date)), 0)::bigint as cleared,
         count(*) filter (where status = 'unmatched') as unmatched, coalesce(sum(amount) filter (where status = 'ignored'), 0)::bigint as ignored
       from bank_statement_line where tenant_id = :tenantId and cash_account_id = :accountId and booked_on <= cast(:to as date)) l,
       (select count(*) as count, coalesce(sum(m.amount - sign(m.amount) * m.matched), 0)::bigint as amount from cash_movement m
        where m.tenant_id = :tenantId and m.cash_account_id = :accountId and m.matched < abs(m.amount) and m.booked_on <= cast(:to as date)
          and m.kind not in ('opening', 'reversal')
          and not exists (select from cash_movement r where r.tenant_id = m.tenant_id and r.reverses_id = m.id)) m`,
    { tenantId: contextOf(trx).tenantId, accountId: cashAccountId, from: firstOn, to: lastOn },
  )
  const { opened = 0, before = 0, cleared = 0, unmatched = 0, ignored = 0, count = 0, amount = 0 } = sums ?? {}
  const opening = opened + before
  return {
    opening,
    cleared,
    closing,
    difference: closing === null ? null : closing - opening - cleared,
    unmatchedLines: unmatched,
    ignored,
    unmatchedMovements: { count, amount },
  }
}

/** The proof of a statement as it stands; null before it is imported. */
export const readProof = (trx: Trx, statement: StatementRecord): Promise<Proof | null> =>
  statement.firstOn === null
    ? Promise.resolve(null)
    : proofOf(trx, statement, statement.closingBalance ?? statement.givenBalance)

const closingOf = ({ closingBalance }: StatementRecord, given: number | undefined): number => {
  if (closingBalance !== null) {
    if (given !== undefined && given !== closingBalance)
      throw invalid([{ field: 'closingBalance', message: `is ${closingBalance} in the file` }])
    return closingBalance
  }
  if (given === undefined) throw invalid([{ field: 'closingBalance', message: 'is required: the file has none' }])
  return given
}

const notReconciled = ({ difference, unmatchedLines, ignored, unmatchedMovements }: Proof): ApiError =>
  unprocessable('not_reconciled', `The statement differs from what is matched by ${difference ?? 0}`, [
    { field: 'difference', message: String(difference ?? 0) },
    { field: 'unmatchedLines', message: String(unmatchedLines) },
    { field: 'ignored', message: String(ignored) },
    { field: 'unmatchedMovements', message: String(unmatchedMovements.count) },
  ])

/**
 * Proves the closing balance of a statement and freezes its lines (R21). Repeated it changes nothing. 400 without a balance; 422 `earlier_statement_open` with
 * the one that is to come first, `not_reconciled` with the difference.
 */
export const reconcileStatement = async (
  trx: Trx,
  id: string,
  { closingBalance, expected }: { closingBalance: number | undefined; expected: number | null },
): Promise<void> => {
  const statement = await lockStatement(trx, id, expected)
  if (!moves.isDue('reconciled', statement.status)) return
  const closing = closingOf(statement, closingBalance)
  // Compared in the database: days and the order of the files, never instants, which lose their microseconds on the way.
  const earlier = await sqlOne<{ id: string }>(
    trx,
    `select e.id from bank_statement e join bank_statement s on s.tenant_id = e.tenant_id and s.cash_account_id = e.cash_account_id
     where s.tenant_id = ? and s.id = ? and e.status = 'imported' and (e.last_on, e.seq) < (s.last_on, s.seq) order by e.last_on, e.seq limit 1`,
    [contextOf(trx).tenantId, id],
  )
  if (earlier)
    throw unprocessable('earlier_statement_open', 'An earlier statement of the account is to be reconciled first', [
      { field: 'bankStatementId', message: earlier.id },
    ])
  const proof = await proofOf(trx, statement, closing)
  if (proof.difference !== 0 || proof.unmatchedLines > 0 || proof.ignored !== 0) throw notReconciled(proof)
  await changeRow(trx, BankStatement, id, {
    status: 'reconciled',
    givenBalance: statement.closingBalance === null ? closing : null,
    reconciledBy: await authorOf(trx),
    reconciledAt: expression('now()'),
    reopenReason: null,
  })
  await tellStatement(trx, bankStatementReconciled, id)
}

/** Opens the latest reconciled statement of an account again. Repeated it changes nothing. 409 `invalid_transition` where a later one is reconciled. */
export const reopenStatement = async (
  trx: Trx,
  id: string,
  { reason, expected }: { reason: string; expected: number | null },
): Promise<void> => {
  const statement = await lockStatement(trx, id, expected)
  if (!moves.isDue('reopened', statement.status)) return
  const later = await sqlOne<{ id: string }>(
    trx,
    `select l.id from bank_statement l join bank_statement s on s.tenant_id = l.tenant_id and s.cash_account_id = l.cash_account_id
     where s.tenant_id = ? and s.id = ? and l.status = 'reconciled' and (l.last_on, l.seq) > (s.last_on, s.seq) order by l.last_on desc, l.seq desc limit 1`,
    [contextOf(trx).tenantId, id],
  )
  if (later)
    throw conflict('invalid_transition', 'A later statement of the account is reconciled; reopen that first', [
      { field: 'bankStatementId', message: later.id },
    ])
  await changeRow(trx, BankStatement, id, {
    status: 'imported',
    givenBalance: null,
    reconciledBy: null,
    reconciledAt: null,
    reopenReason: reason,
  })
  await tellStatement(trx, bankStatementReopened, id)
}

/**
 * The latest statement that came after another one and left out lines of it: known ones, or, in another format, those of days that were covered. Without the
 * first it would lack them. Null where there is none.
 */
const heirOf = async (trx: Trx, id: string): Promise<string | null> => {
  const found = await sqlOne<{ id: string }>(
    trx,
    `select k.id from bank_statement s join bank_statement k on k.tenant_id = s.tenant_id and k.cash_account_id = s.cash_account_id and k.id <> s.id
     where s.tenant_id = ? and s.id = ? and k.imported_at > s.imported_at and case when k.format = s.format then k.lines_known else k.lines_left_out end > 0
       and exists (select from bank_statement_line l where l.tenant_id = s.tenant_id and l.bank_statement_id = s.id and l.booked_on between k.first_on and k.last_on)
     order by k.imported_at desc limit 1`,
    [contextOf(trx).tenantId, id],
  )
  return found?.id ?? null
}

/** Deletes a statement with its lines and its file, as long as no line is matched or ignored: 422 `in_use`, 409 `invalid_transition`. */
export const deleteStatement = async (trx: Trx, id: string, expected: number | null): Promise<void> => {
  const statement = await lockStatement(trx, id, expected)
  moves.allow('deleted', statement.status)
  const { tenantId } = contextOf(trx)
  const lines = await sql<{ id: string; status: string }>(
    trx,
    `select id, status from bank_statement_line where tenant_id = ? and cash_account_id = ? and bank_statement_id = ? order by id for update`,
    [tenantId, statement.cashAccountId, id],
  )
  const used = lines.filter(({ status }) => status !== 'unmatched')
  if (used.length > 0)
    throw unprocessable('in_use', 'Lines of the statement are matched or ignored', [
      { field: 'bankStatementId', message: `${used.length} lines are in use` },
    ])
  const heir = await heirOf(trx, id)
  if (heir !== null)
    throw unprocessable(
      'in_use',
      'A statement that came later left out lines that this one brought; delete that first',
      [{ field: 'bankStatementId', message: heir }],
    )
  await sql(
    trx,
    `delete from statement_match x using bank_statement_line l where l.tenant_id = ? and l.cash_account_id = ? and l.bank_statement_id = ?
       and x.tenant_id = l.tenant_id and x.line_id = l.id`,
    [tenantId, statement.cashAccountId, id],
  )
  await sql(
    trx,
    `delete from bank_statement_line where tenant_id = ? and cash_account_id = ? and bank_statement_id = ?`,
    [tenantId, statement.cashAccountId, id],
  )
  await removeFile(trx, id)
  await sql(trx, `delete from bank_statement where tenant_id = ? and id = ?`, [tenantId, id])
}
