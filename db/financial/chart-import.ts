import { randomUUID } from 'node:crypto'
import { invalid } from '../../config/errors.ts'
import { accountCreated } from '../../config/events/financial.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emitAll } from '../lib/events.ts'
import { insertRows } from '../lib/records.ts'
import { holdTree } from './accounts/read.ts'
import { chartFor } from './book.ts'
import { bookFor } from './chart.ts'
import { Account } from './models.ts'
import { planImport } from './rules/chart-import.ts'
import type { ChartRow, ImportPlan, Standing } from './rules/chart-import.ts'

export type ChartImport = {
  bookId?: string | undefined
  /** The rows of the default chart of the book's country, or those given. */
  rows: readonly ChartRow[] | 'hotel'
  dryRun: boolean
}

export type ImportResult = {
  created: { accountId: string | null; code: string; name: string }[]
  skipped: ImportPlan['skipped']
  errors: ImportPlan['errors']
}

const templateOf = async (trx: Trx, bookId: string): Promise<ChartRow[]> => {
  const { tenantId } = contextOf(trx)
  const found = await sqlOne<{ countryCode: string; locale: string }>(
    trx,
    `select b.country_code, t.locale from book b join tenant t on t.id = b.tenant_id where b.tenant_id = ? and b.id = ?`,
    [tenantId, bookId],
  )
  return chartFor(found?.countryCode ?? '', found?.locale ?? 'en').map((account) => ({
    ...account,
    cashFlow: account.cashFlow as ChartRow['cashFlow'],
  }))
}

/**
 * Adds the accounts that the chart of a book lacks, all or none. Rows that cannot be added are 400 `validation_failed`, one error each; a dry run tells them in its
 * answer and stores nothing. Accounts added by the template play their roles, unless another account does.
 */
export const importChart = async (trx: Trx, { bookId, rows, dryRun }: ChartImport): Promise<ImportResult> => {
  const { tenantId } = contextOf(trx)
  const book = await bookFor(trx, bookId)
  await holdTree(trx, book.id)
  const standing = await sql<Standing & { id: string }>(
    trx,
    `select id, code, class, postable, status = 'active' as is_active, role, section, cash_flow from account where tenant_id = ? and book_id = ?`,
    [tenantId, book.id],
  )
  const { accounts, skipped, errors } = planImport(standing, rows === 'hotel' ? await templateOf(trx, book.id) : rows)
  if (dryRun) return { created: accounts.map(({ code, name }) => ({ accountId: null, code, name })), skipped, errors }
  if (errors.length > 0)
    throw invalid(errors.map(({ row, field, message }) => ({ field: `rows.${row}.${field}`, message })))
  const ids = new Map(standing.map(({ id, code }) => [code, id]))
  const added = accounts.map(({ parentCode, ...account }) => {
    const id = randomUUID()
    ids.set(account.code, id)
    const parentId = parentCode === null ? null : (ids.get(parentCode) ?? null)
    return { ...account, id, bookId: book.id, currency: book.currency, parentId }
  })
  await insertRows(trx, Account, added)
  await emitAll(
    trx,
    accountCreated,
    added.map(({ id, code }) => ({
      propertyId: null,
      id,
      version: 1,
      data: { accountId: id, bookId: book.id, code },
    })),
  )
  return { created: added.map(({ id, code, name }) => ({ accountId: id, code, name })), skipped, errors }
}
