import { removeAttachments } from '../lib/attachments.ts'
import { sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'

const atOnce = 100

/** Entries with files that were posted five years ago (R40). */
export const entryFilesToErase = (trx: PlatformTrx): Promise<{ tenantId: string; id: string }[]> =>
  sql(trx, `select tenant_id, id from entry_files_to_erase(?)`, [atOnce])

/** Deletes the files of entries with their content, hidden ones too. */
export const eraseEntryFiles = (trx: Trx, ids: readonly string[]): Promise<void> =>
  removeAttachments(trx, 'financial', 'entry', ids)
