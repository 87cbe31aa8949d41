import { notFound } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf, prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { allOf, inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'
import type { StatementRecord } from '../models.ts'
import { readProof } from './reconcile.ts'

export type StatementFilter = Paging & {
  cashAccountId?: string | undefined
  status?: string | undefined
  scope: Condition
}

const columns = 's.*'
const source = 'bank_statement s'

const shown = (row: StatementRecord) => ({
  id: row.id,
  cashAccountId: row.cashAccountId,
  propertyId: row.propertyId,
  currency: row.currency,
  format: row.format,
  fileName: row.fileName,
  status: row.status,
  from: row.firstOn,
  to: row.lastOn,
  openingBalance: row.openingBalance,
  closingBalance: row.closingBalance ?? row.givenBalance,
  counts: {
    read: row.linesRead,
    added: row.linesAdded,
    known: row.linesKnown,
    sameId: row.linesSameId,
    leftOut: row.linesLeftOut,
  },
  error: row.error,
  importedAt: row.importedAt,
  reconciledBy: row.reconciledBy,
  reconciledAt: row.reconciledAt,
  reopenReason: row.reopenReason,
  version: row.version,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})
export type StatementShown = ReturnType<typeof shown>

/** Statements, latest days first. */
export const listStatements = async (
  trx: Trx,
  { cashAccountId, status, scope, ...paging }: StatementFilter,
): Promise<Page<StatementShown>> => {
  const { total, rows } = await readPage<StatementRecord>(
    trx,
    {
      columns,
      from: source,
      conditions: [
        ...where('s.tenant_id = ?', contextOf(trx).tenantId),
        ...inScope(scope, 's.property_id'),
        ...where('s.cash_account_id = ?', cashAccountId),
        ...where('s.status = ?', status),
      ],
      order: 's.last_on desc nulls first, s.seq desc, s.id',
    },
    paging,
  )
  return { total, rows: rows.map(shown) }
}

/** A statement with its proof; 404. */
export const readStatement = async (trx: Trx, id: string) => {
  const conditions = allOf([...where('s.tenant_id = ?', contextOf(trx).tenantId), ...where('s.id = ?', id)])
  const [row] = await prepared<StatementRecord>(
    trx,
    `select ${columns} from ${source} where ${conditions.text}`,
    conditions.values,
  )
  if (!row) throw notFound('No such statement')
  return { ...shown(row), reconciliation: await readProof(trx, row) }
}
