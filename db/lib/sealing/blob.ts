import type { Trx } from '../connection.ts'
import { sql, sqlOne } from '../connection.ts'

/** Files, already sealed by the caller. They commit, are backed up and are erased together with the rows that name them. */
export type BlobStore = {
  put: (trx: Trx, bytes: Buffer) => Promise<string>
  get: (trx: Trx, id: string) => Promise<Buffer | null>
  remove: (trx: Trx, ids: readonly string[]) => Promise<void>
}

export const blobs: BlobStore = {
  put: async (trx, bytes) => {
    const [row] = await sql<{ id: string }>(trx, `insert into blob (bytes) values (?) returning id`, [bytes])
    if (!row) throw new Error('the blob was not stored')
    return row.id
  },
  get: async (trx, id) =>
    (await sqlOne<{ bytes: Buffer }>(trx, `select bytes from blob where id = ?`, [id]))?.bytes ?? null,
  remove: async (trx, ids) => {
    await sql(trx, `delete from blob where id = any(?)`, [ids])
  },
}
