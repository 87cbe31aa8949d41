import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { conflict, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import type { TenantTable } from '../../../config/tenant-data/index.ts'
import { exportTenant } from '../../../jobs/admin.ts'
import { audit } from '../../lib/audit.ts'
import { contextOf, enterTenant, inTenant, sql, sqlOne } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { blobs, KeyDestroyed, unseal, unsealBytes } from '../../lib/sealing/index.ts'
import type { SealingKey } from '../../lib/sealing/index.ts'
import { tellOwners } from '../notices.ts'
import { lockOperated } from '../tenant/operate.ts'
import { tenantTables } from './tables.ts'

export type TenantExport = {
  id: string
  tenantId: string
  status: 'queued' | 'running' | 'ready' | 'failed' | 'expired'
  reason: string
  parts: number
  bytes: number
  records: number
  sha256: string | null
  /** The progress: tables written, of how many. */
  tablesDone: number
  tables: number
  error: string | null
  requestedBy: string | null
  createdAt: Date
  readyAt: Date | null
  expiresAt: Date | null
}

const columns = `e.id, e.tenant_id, e.status, e.reason, e.parts, e.bytes, e.records, e.sha256, e.tables_done, e.tables, e.error, e.requested_by, e.created_at,
  e.ready_at, e.expires_at`

/** Asks for an export of all data of a tenant. One that is under way is answered. */
export const requestExport = async (trx: PlatformTrx, tenantId: string, reason: string): Promise<TenantExport> => {
  const tenant = await lockOperated(trx, tenantId)
  if (tenant.status === 'deleted') throw conflict('invalid_transition', 'The data of the tenant are deleted')
  const open = await sqlOne<TenantExport>(
    trx,
    `select ${columns} from tenant_export e where e.tenant_id = ? and e.status in ('queued', 'running')`,
    [tenantId],
  )
  if (open) return open
  const made = await sqlOne<TenantExport>(
    trx,
    `insert into tenant_export as e (tenant_id, reason, requested_by) values (?, ?, ?) returning ${columns}`,
    [tenantId, reason, contextOf(trx).actor.id],
  )
  if (!made) throw new Error('an export was not made')
  await audit(trx, {
    tenantId,
    action: 'tenant.export',
    subjectType: 'Tenant',
    subjectId: tenantId,
    reason,
    changes: [{ field: 'tenantExportId', after: made.id }],
  })
  const inside = await enterTenant(trx, tenantId)
  await enqueue(inside, exportTenant, { tenantId, tenantExportId: made.id })
  await tellOwners(inside, 'tenant_export', made.id, {})
  return made
}

/** The latest export of a tenant. 404 where there is none. */
export const readExport = async (trx: PlatformTrx, tenantId: string): Promise<TenantExport> => {
  const row = await sqlOne<TenantExport>(
    trx,
    `select ${columns} from tenant_export e where e.tenant_id = ? order by e.created_at desc, e.id limit 1`,
    [tenantId],
  )
  if (!row) throw notFound('There is no export of this tenant')
  return row
}

/** One part of the latest export, from 1. 422 `export_expired` after seven days; 409 while it is not ready. */
export const readExportPart = async (trx: PlatformTrx, tenantId: string, number: number): Promise<Buffer> => {
  const latest = await readExport(trx, tenantId)
  if (latest.status === 'expired' || (latest.expiresAt && latest.expiresAt.getTime() <= Date.now()))
    throw unprocessable('export_expired', 'The export was kept for 7 days')
  if (latest.status !== 'ready') throw conflict('invalid_transition', `The export is ${latest.status}`)
  if (number > latest.parts) throw invalid([{ field: 'part', message: `must be 1 to ${latest.parts}` }])
  const row = await sqlOne<{ bytes: Buffer }>(
    trx,
    `select bytes from tenant_export_part where tenant_id = ? and export_id = ? and number = ?`,
    [tenantId, latest.id, number],
  )
  if (!row) throw notFound()
  await audit(trx, {
    tenantId,
    action: 'tenant.download_export',
    subjectType: 'Tenant',
    subjectId: tenantId,
    changes: [{ field: 'part', after: number }],
  })
  return row.bytes
}

/** Text of a part before it is packed: 8 MiB at most, also where nothing can be made smaller. */
const partBytes = 8 * 1_048_576 - 65_536
const rowsAtOnce = 500

type Sink = { write: (line: string) => Promise<void>; end: () => Promise<void> }
type PartWriter = (number: number, packed: Buffer) => Promise<void>

/** Cuts lines into parts, each a gzip file of its own; together they are one gzip file too. */
const cutting = (writePart: PartWriter): Sink => {
  let number = 0
  let waiting: Buffer[] = []
  let size = 0
  const flush = async () => {
    if (size === 0) return
    const packed = gzipSync(Buffer.concat(waiting))
    waiting = []
    size = 0
    number += 1
    await writePart(number, packed)
  }
  const put = async (bytes: Buffer): Promise<void> => {
    let rest = bytes
    while (rest.length > 0) {
      const taken = rest.subarray(0, partBytes - size)
      waiting.push(taken)
      size += taken.length
      rest = rest.subarray(taken.length)
      if (size >= partBytes) await flush()
    }
  }
  return { write: (line) => put(Buffer.from(`${line}\n`)), end: flush }
}

type Row = Record<string, unknown>

const keyOf = (row: Row, guest: { column: string; key: 'profile' | 'retention' } | undefined): SealingKey =>
  guest ? { guestId: String(row[guest.column]), purpose: guest.key } : 'tenant'

/** Opens what is sealed of a row. What has lost its key stays shut, and is null. */
const opened = async (trx: Trx, { table, open = {} }: TenantTable, row: Row): Promise<Row> => {
  const shown = { ...row }
  for (const [column, { purpose, guest, row: bound = 'id', file }] of Object.entries(open)) {
    const value = row[column]
    if (typeof value !== 'string') continue
    const place = { table, rowId: String(row[bound]), purpose }
    try {
      if (file) {
        const bytes = await blobs.get(trx, value)
        shown.content = bytes ? (await unsealBytes(trx, keyOf(row, guest), place, bytes)).toString('base64') : null
      } else shown[column] = await unseal(trx, keyOf(row, guest), place, Buffer.from(value.slice(2), 'hex'))
    } catch (error) {
      if (!(error instanceof KeyDestroyed)) throw error
      shown[file ? 'content' : column] = null
    }
  }
  return shown
}

const bytesColumns = async (trx: Trx, table: string): Promise<string[]> =>
  (
    await sql<{ name: string }>(
      trx,
      `select attname as name from pg_attribute where attrelid = ?::regclass and atttypid = 'bytea'::regtype and attnum > 0 and not attisdropped`,
      [table],
    )
  ).map(({ name }) => name)

const tableRows = async (
  trx: Trx,
  entry: TenantTable,
  tenantId: string,
  write: (row: Row) => Promise<void>,
): Promise<number> => {
  const { table, open = {} } = entry
  // Hashes, keys and secrets are bytes as well: only what the registry opens is exported.
  const hidden = (await bytesColumns(trx, table)).filter((column) => !Object.hasOwn(open, column))
  const column = table === 'tenant' ? 'id' : 'tenant_id'
  await sql(
    trx,
    `declare export_rows no scroll cursor for select to_jsonb(t) - ?::text[] as "row" from ${table} t where t.${column} = ?`,
    [hidden, tenantId],
  )
  let count = 0
  for (;;) {
    const found = await trx.raw<{ rows: { row: Row }[] }>(`fetch ${rowsAtOnce} from export_rows`)
    for (const { row } of found.rows) await write(await opened(trx, entry, row))
    count += found.rows.length
    if (found.rows.length < rowsAtOnce) break
  }
  await sql(trx, `close export_rows`)
  return count
}

export type Progress = { table: string; tablesDone: number; tables: number; records: number }
type Writing = {
  part: PartWriter
  progress: (progress: Progress) => Promise<void>
  signal: AbortSignal
}

/**
 * Reads all data of a tenant in one snapshot, and hands on their parts: JSON Lines `{table, row}`, what is sealed opened. Answers what a reader
 * checks the whole with.
 */
export const exportParts = (
  tenantId: string,
  { part, progress, signal }: Writing,
): Promise<{ parts: number; bytes: number; records: number; sha256: string }> =>
  inTenant(
    tenantId,
    async (trx) => {
      const hash = createHash('sha256')
      let parts = 0
      let bytes = 0
      const sink = cutting(async (number, packed) => {
        hash.update(packed)
        parts = number
        bytes += packed.length
        await part(number, packed)
      })
      const known = await tenantTables(trx)
      const exported: TenantTable[] = [{ table: 'tenant' }, ...known.filter(({ leave }) => leave === undefined)]
      let records = 0
      await sink.write(JSON.stringify({ format: 1, tenantId, at: new Date().toISOString(), tables: exported.length }))
      const members = await sql<Row>(
        trx,
        `select u.id, u.email, u.name, u.locale from membership m join app_user u on u.id = m.user_id order by u.id`,
      )
      for (const row of members) await sink.write(JSON.stringify({ table: 'app_user', row }))
      records += members.length
      for (const [index, entry] of exported.entries()) {
        if (signal.aborted) throw new Error('the export was interrupted')
        records += await tableRows(trx, entry, tenantId, (row) =>
          sink.write(JSON.stringify({ table: entry.table, row })),
        )
        await progress({ table: entry.table, tablesDone: index + 1, tables: exported.length, records })
      }
      await sink.end()
      return { parts, bytes, records, sha256: hash.digest('hex') }
    },
    {},
    { isolation: 'repeatable read', readOnly: true, repeats: 0, local: { statement_timeout: '600s' } },
  )

/** Begins an export anew: parts of a start that was lost are gone. False where it has ended. */
export const beginExport = async (trx: Trx, id: string): Promise<boolean> => {
  const row = await sqlOne(
    trx,
    `update tenant_export set status = 'running', parts = 0, bytes = 0, tables_done = 0, records = 0 where id = ? and status in ('queued', 'running') returning id`,
    [id],
  )
  await sql(trx, `delete from tenant_export_part where export_id = ? and ?`, [id, row !== null])
  return row !== null
}

export const putExportPart = (trx: Trx, id: string, number: number, bytes: Buffer) =>
  sql(
    trx,
    `with part as (insert into tenant_export_part (tenant_id, export_id, number, bytes)
       values (nullif(current_setting('app.tenant_id', true), '')::uuid, :id::uuid, :number::int, :bytes::bytea) returning export_id, number, octet_length(bytes) as size)
     update tenant_export e set parts = part.number, bytes = e.bytes + part.size from part where e.id = part.export_id`,
    { id, number, bytes },
  )

export const noteExport = (trx: Trx, id: string, { table, tablesDone, tables, records }: Progress) =>
  sql(
    trx,
    `update tenant_export set table_name = ?, tables_done = ?, tables = ?, records = ? where id = ? and status = 'running'`,
    [table, tablesDone, tables, records, id],
  )

export const endExport = async (
  trx: Trx,
  id: string,
  { parts, bytes, records, sha256 }: { parts: number; bytes: number; records: number; sha256: string },
): Promise<void> => {
  await sql(
    trx,
    `update tenant_export set status = 'ready', parts = ?, bytes = ?, records = ?, sha256 = ?, ready_at = now(), expires_at = now() + interval '7 days'
     where id = ? and status = 'running'`,
    [parts, bytes, records, sha256, id],
  )
}

export const failExport = (trx: Trx, id: string, error: string) =>
  sql(trx, `update tenant_export set status = 'failed', error = ? where id = ? and status in ('queued', 'running')`, [
    error.slice(0, 300),
    id,
  ])

/** Deletes the parts of exports whose seven days are over. */
export const expireOldExports = async (trx: PlatformTrx): Promise<void> => {
  const over = await sql<{ id: string; tenantId: string }>(
    trx,
    `update tenant_export set status = 'expired' where status = 'ready' and expires_at <= now() returning id, tenant_id`,
  )
  for (const { id, tenantId } of over)
    await sql(trx, `delete from tenant_export_part where tenant_id = ? and export_id = ?`, [tenantId, id])
}
