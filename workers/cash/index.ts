import { eraseStatementFiles, importStatement, statementFile } from '../../db/cash/index.ts'
import { sql } from '../../db/lib/connection.ts'
import * as jobs from '../../jobs/cash.ts'
import { erasing } from '../lib/erasing.ts'
import { onDatabase } from '../lib/processor.ts'
import type { Processor } from '../lib/processor.ts'
import { pixProcessors } from './pix.ts'
import { readStatementFile } from './statements/index.ts'

const atOnce = 100

export const processors: readonly Processor[] = [
  onDatabase(jobs.importStatementJob, async (trx, { bankStatementId }) => {
    const file = await statementFile(trx, bankStatementId)
    if (file) await importStatement(trx, bankStatementId, readStatementFile(file))
  }),
  erasing(
    jobs.eraseStatementFilesJob,
    (trx) => sql(trx, `select tenant_id, id from statement_files_due(?)`, [atOnce]),
    eraseStatementFiles,
  ),
  ...pixProcessors,
]
