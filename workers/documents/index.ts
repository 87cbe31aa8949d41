import { assignNumber } from '../../db/documents/index.ts'
import { ledgerAssignNumber } from '../../jobs/documents.ts'
import { onDatabase } from '../lib/processor.ts'

export const processors = [onDatabase(ledgerAssignNumber, (trx, { entity, id }) => assignNumber(trx, entity, id))]
