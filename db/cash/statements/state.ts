import type { statementLineMatched, bankStatementImported } from '../../../config/events/cash-statements.ts'
import { conflict, notFound, versionConflict } from '../../../config/errors.ts'
import type { ApiError } from '../../../config/errors.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, emitAll } from '../../lib/events.ts'
import { findRow } from '../../lib/records.ts'
import { BankStatement, BankStatementLine } from '../models.ts'
import type { LineRecord, StatementRecord } from '../models.ts'

/** Seed of the advisory lock in which imports and proofs of one account take turns. */
const turn = 36

/** Takes the turn of an account: what is imported or proven of it comes one after the other. */
export const takeTurn = (trx: Trx, cashAccountId: string) =>
  sqlOne(trx, `select pg_advisory_xact_lock(hashtextextended(?, ${turn}))`, [cashAccountId])

/** A statement; 404. */
export const statementById = async (trx: Trx, id: string): Promise<StatementRecord> => {
  const row = await findRow(trx, BankStatement, id)
  if (!row) throw notFound('No such statement')
  return row
}

/** A statement that is to change, locked after the turn of its account. 404, 409 `version_conflict`. */
export const lockStatement = async (trx: Trx, id: string, expected: number | null): Promise<StatementRecord> => {
  const seen = await statementById(trx, id)
  await takeTurn(trx, seen.cashAccountId)
  await sql(trx, `select id from bank_statement where tenant_id = ? and id = ? for no key update`, [
    contextOf(trx).tenantId,
    id,
  ])
  const statement = await statementById(trx, id)
  if (expected !== null && statement.version !== expected) throw versionConflict(statement.version)
  return statement
}

export const frozen = (): ApiError =>
  conflict('movement_reconciled', 'A statement that counts the line is reconciled; reopen it first')

/**
 * A line that is to change, and its statement: locked so that no proof of it comes in between, while other lines of it may change. 404, 409
 * `version_conflict`, `movement_reconciled`.
 */
export const lockLine = async (
  trx: Trx,
  id: string,
  expected: number | null,
): Promise<{ line: LineRecord; statement: StatementRecord }> => {
  const seen = await findRow(trx, BankStatementLine, id)
  if (!seen) throw notFound('No such line')
  const { tenantId } = contextOf(trx)
  await sql(trx, `select id from bank_statement where tenant_id = ? and id = ? for share`, [
    tenantId,
    seen.bankStatementId,
  ])
  await sql(trx, `select id from bank_statement_line where tenant_id = ? and id = ? for no key update`, [tenantId, id])
  const [line, statement] = [
    await findRow(trx, BankStatementLine, id),
    await findRow(trx, BankStatement, seen.bankStatementId),
  ]
  if (!line || !statement) throw notFound('No such line')
  if (expected !== null && line.version !== expected) throw versionConflict(line.version)
  if (statement.status === 'reconciled') throw frozen()
  return { line, statement }
}

/**
 * Refuses to open a line that a proof has counted, and holds the proofs that may yet count it: another statement than its own may cover its day. 409
 * `movement_reconciled`.
 */
export const refuseProven = async (trx: Trx, { id }: Pick<LineRecord, 'id'>): Promise<void> => {
  const covering = await sql<{ proven: boolean }>(
    trx,
    `select s.status = 'reconciled' and s.reconciled_at >= l.created_at as proven from bank_statement_line l
     join bank_statement s on s.tenant_id = l.tenant_id and s.cash_account_id = l.cash_account_id and s.last_on >= l.booked_on
     where l.tenant_id = ? and l.id = ? and s.status in ('imported', 'reconciled') order by s.id for share of s`,
    [contextOf(trx).tenantId, id],
  )
  if (covering.some(({ proven }) => proven)) throw frozen()
}

/** Says what has become of a statement. */
export const tellStatement = async (trx: Trx, event: typeof bankStatementImported, id: string): Promise<void> => {
  const { cashAccountId, propertyId, firstOn, lastOn, linesAdded, version } = await statementById(trx, id)
  await emit(trx, event, {
    propertyId,
    id,
    version,
    data: { bankStatementId: id, cashAccountId, from: firstOn, to: lastOn, lineCount: linesAdded },
  })
}

type Told = { line: Pick<LineRecord, 'id' | 'bankStatementId' | 'amount'>; version: number; movementId?: string | null }

/** Says that lines of one account were matched, or are open again. */
export const tellLines = async (
  trx: Trx,
  event: typeof statementLineMatched,
  told: readonly Told[],
  { propertyId, currency }: { propertyId: string | null; currency: string },
): Promise<void> => {
  await emitAll(
    trx,
    event,
    told.map(({ line, version, movementId = null }) => ({
      propertyId,
      id: line.id,
      version,
      data: {
        statementLineId: line.id,
        bankStatementId: line.bankStatementId,
        amount: line.amount,
        currency,
        targetType: movementId === null ? null : ('cash_movement' as const),
        targetId: movementId,
      },
    })),
  )
}

/** Says that a line was matched, or is open again. */
export const tellLine = (
  trx: Trx,
  event: typeof statementLineMatched,
  line: Told['line'],
  { propertyId, currency, ...told }: { propertyId: string | null; currency: string } & Omit<Told, 'line'>,
) => tellLines(trx, event, [{ line, ...told }], { propertyId, currency })
