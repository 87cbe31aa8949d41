import { removeAttachments } from '../lib/attachments.ts'
import { sql } from '../lib/connection.ts'
import type { PlatformTrx, Trx } from '../lib/connection.ts'

const atOnce = 100

/** Bills with files that were settled or voided five years ago. */
export const billFilesToErase = (trx: PlatformTrx): Promise<{ tenantId: string; id: string }[]> =>
  sql(trx, `select tenant_id, id from bill_files_to_erase(?)`, [atOnce])

/** Deletes the files of bills with their content, hidden ones too. */
export const eraseBillFiles = (trx: Trx, ids: readonly string[]): Promise<void> =>
  removeAttachments(trx, 'accounts-payable', 'payable', ids)
