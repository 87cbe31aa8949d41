import { createHash, randomUUID } from 'node:crypto'
import { mostStatementBytes } from '../../../config/cash-statements.ts'
import type { CsvMapping, StatementFormat } from '../../../config/cash-statements.ts'
import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { minorDigits } from '../../../config/minor-units.ts'
import { importStatementJob } from '../../../jobs/cash.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { findRow, insertIfNew } from '../../lib/records.ts'
import { blobs, sealBytes, unsealBytes } from '../../lib/sealing/index.ts'
import { namedAccount } from '../facts.ts'
import { BankStatement, CashAccount } from '../models.ts'

const place = (id: string) => ({ table: 'bank_statement', rowId: id, purpose: 'file' })

/** The bytes of a file sent as base64. 400 `validation_failed`, `file_too_large`. */
const bytesOf = (content: string): Buffer => {
  const bytes = Buffer.from(content, 'base64')
  // Decoding passes over what is no base64; a broken text must not become another file.
  if (bytes.toString('base64') !== content || bytes.length === 0)
    throw invalid([{ field: 'content', message: 'is no base64' }])
  if (bytes.length > mostStatementBytes)
    throw invalid(
      [{ field: 'content', message: `has ${bytes.length} bytes` }],
      'file_too_large',
      'A file has at most 10 MiB',
    )
  return bytes
}

export type NewStatement = {
  cashAccountId: string
  format: StatementFormat
  fileName: string
  /** base64 */
  content: string
  mapping?: CsvMapping | undefined
}

/** The mapping of a CSV: the one given, else that of the account's last CSV. */
const mappingOf = async (trx: Trx, { format, mapping, cashAccountId }: NewStatement): Promise<CsvMapping | null> => {
  if (format !== 'csv') {
    if (mapping !== undefined) throw invalid([{ field: 'mapping', message: 'belongs to csv' }])
    return null
  }
  const account = await findRow(trx, CashAccount, cashAccountId, ['csvMapping'])
  const known = mapping ?? (account?.csvMapping as CsvMapping | null | undefined)
  if (!known) throw invalid([{ field: 'mapping', message: 'is required: no csv of the account was imported yet' }])
  return known
}

/**
 * Keeps the file of a bank, sealed, and asks a worker to import it. Answers its id. 400 `file_too_large`; 409 `statement_exists` with the id of the statement
 * that has these bytes; 422 `reference_not_found`, `account_archived`.
 */
export const receiveStatement = async (trx: Trx, given: NewStatement): Promise<string> => {
  const bytes = bytesOf(given.content)
  const account = await namedAccount(trx, given.cashAccountId, 'cashAccountId')
  if (account.kind !== 'bank' && account.kind !== 'acquirer')
    throw unprocessable('reference_not_found', 'Statements are of banks and acquirers', [
      { field: 'cashAccountId', message: 'is no bank or acquirer' },
    ])
  const mapping = await mappingOf(trx, given)
  const id = randomUUID()
  const fileHash = createHash('sha256').update(bytes).digest()
  const blobId = await blobs.put(trx, await sealBytes(trx, 'tenant', place(id), bytes))
  const row = await insertIfNew(
    trx,
    BankStatement,
    {
      id,
      cashAccountId: account.id,
      propertyId: account.propertyId,
      currency: account.currency,
      format: given.format,
      fileName: given.fileName,
      fileHash,
      blobId,
      mapping,
      createdBy: await authorOf(trx),
    },
    ['tenantId', 'cashAccountId', 'fileHash'],
  )
  if (!row) {
    const known = await findRow(trx, BankStatement, { cashAccountId: account.id, fileHash }, ['id'])
    throw conflict('statement_exists', 'This file of the account was sent before', [
      { field: 'bankStatementId', message: known?.id ?? '' },
    ])
  }
  const tenantId = contextOf(trx).tenantId ?? ''
  await enqueue(trx, importStatementJob, { tenantId, bankStatementId: id }, { uniqueKey: id })
  return id
}

/** The facts that a worker reads of a received statement; null where it is imported already, or was deleted. */
export type StatementFile = {
  format: StatementFormat
  bytes: Buffer
  mapping: CsvMapping | null
  /** Places after the point of the account's currency. */
  digits: number
}

/** The file of a statement that waits for its import. */
export const statementFile = async (trx: Trx, id: string): Promise<StatementFile | null> => {
  const row = await findRow(trx, BankStatement, id)
  if (row?.status !== 'received' || row.blobId === null) return null
  const stored = await blobs.get(trx, row.blobId)
  if (!stored) return null
  return {
    format: row.format,
    bytes: await unsealBytes(trx, 'tenant', place(id), stored),
    mapping: row.mapping,
    digits: minorDigits(row.currency),
  }
}

/** Erases files that are 90 days old; what they said stays. Answers how many. */
export const eraseStatementFiles = async (trx: Trx, ids: readonly string[]): Promise<number> => {
  const rows = await sql<{ blobId: string }>(
    trx,
    `update bank_statement s set blob_id = null from (select id, blob_id from bank_statement where tenant_id = ? and id = any(?::uuid[]) and blob_id is not null
       and status <> 'received' order by id for update skip locked) d where s.tenant_id = ? and s.id = d.id returning d.blob_id`,
    [contextOf(trx).tenantId, ids, contextOf(trx).tenantId],
  )
  await blobs.remove(
    trx,
    rows.map(({ blobId }) => blobId),
  )
  return rows.length
}

/** Removes the file of a statement that is deleted. */
export const removeFile = async (trx: Trx, id: string): Promise<void> => {
  const row = await sqlOne<{ blobId: string | null }>(
    trx,
    `select blob_id from bank_statement where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, id],
  )
  if (!row?.blobId) return
  await sql(trx, `update bank_statement set blob_id = null where tenant_id = ? and id = ?`, [
    contextOf(trx).tenantId,
    id,
  ])
  await blobs.remove(trx, [row.blobId])
}
