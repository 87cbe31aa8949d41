import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { blobs } from '../../lib/sealing/index.ts'
import type { PrivacyRequestRow } from '../../rows.ts'
import { prepareErasing } from './doors.ts'
import { complete } from './requests.ts'
import type { Certificate } from './certificate.ts'
import { erasable, erasedRows, planOf } from './plan.ts'

/** Rows that one transaction takes. */
const atOnce = 500

type Running = Omit<PrivacyRequestRow, 'certificate'> & { certificate: Certificate | null }

/** The profile itself was erased with the approval, and what is kept is kept. */
const steps = erasable.filter((one) => one.table !== 'guest' && erasedRows(one) !== null)
export const erasureSteps: readonly string[] = steps.map(({ table }) => table)

const running = async (trx: Trx, id: string): Promise<Running | null> =>
  sqlOne<Running>(
    trx,
    `select * from privacy_request where id = ? and status = 'running' and kind = 'erasure' for no key update`,
    [id],
  )

const erase = async (trx: Trx, step: (typeof steps)[number], ids: readonly string[]): Promise<number> => {
  const { table, erasure, set, columns } = step
  const condition = erasedRows(step) ?? 'false'
  const keys = `select t.id from ${table} t where ${condition} order by t.id limit ${atOnce}`
  if (table === 'guest_document_file') {
    const files = await sql<{ blobId: string }>(trx, `delete from ${table} where id in (${keys}) returning blob_id`, {
      ids,
    })
    await blobs.remove(
      trx,
      files.map((file) => file.blobId),
    )
    return files.length
  }
  if (erasure === 'delete row')
    return (await sql(trx, `delete from ${table} where id in (${keys}) returning id`, { ids })).length
  const changes = Object.entries(set ?? Object.fromEntries(Object.keys(columns).map((column) => [column, 'null'])))
  return (
    await sql(
      trx,
      `update ${table} t set ${changes.map(([column, value]) => `${column} = ${value}`).join(', ')} where t.id in (${keys}) returning t.id`,
      { ids },
    )
  ).length
}

/**
 * Erases up to 500 rows of one table, and notes how many. Answers whether the table is done. Killed and begun again, it goes on where the last commit
 * left it: the counts of the certificate are the same.
 */
export const eraseStep = async (trx: Trx, requestId: string, table: string): Promise<boolean> => {
  const request = await running(trx, requestId)
  const step = steps.find((one) => one.table === table)
  if (!request || !step) return true
  await sql(trx, `insert into privacy_checkpoint (request_id, table_name) values (?, ?) on conflict do nothing`, [
    requestId,
    table,
  ])
  const before = await sqlOne<{ done: boolean }>(
    trx,
    `select done from privacy_checkpoint where request_id = ? and table_name = ? for update`,
    [requestId, table],
  )
  if (before?.done) return true
  await prepareErasing(trx, table, request.guestIds)
  const count = await erase(trx, step, request.guestIds)
  const done = count < atOnce
  await sql(
    trx,
    `update privacy_checkpoint set row_count = row_count + ?, done = ? where request_id = ? and table_name = ?`,
    [count, done, requestId, table],
  )
  return done
}

/** Ends an erasure whose tables are all done, with its certificate. */
export const completeErasure = async (trx: Trx, requestId: string): Promise<void> => {
  const request = await running(trx, requestId)
  if (!request) return
  const done = await sql<{ tableName: string; rowCount: number }>(
    trx,
    `select table_name, row_count from privacy_checkpoint where request_id = ? and done`,
    [requestId],
  )
  if (done.length < steps.length) throw new Error('tables of the erasure are not done')
  const plan = await planOf(trx, request.guestIds)
  const erased = [
    { table: 'guest', rows: request.guestIds.length },
    ...steps.map(({ table }) => ({ table, rows: done.find((one) => one.tableName === table)?.rowCount ?? 0 })),
  ]
  const kept = plan.items.flatMap(({ table, keep, basis, until }) => (keep > 0 ? [{ table, keep, basis, until }] : []))
  await complete(trx, request, {}, erased, kept)
}
