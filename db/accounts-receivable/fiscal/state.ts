import type { Event } from '../../../config/events/event.ts'
import { notFound, versionConflict } from '../../../config/errors.ts'
import type { FiscalOperation, FiscalOutcome, FiscalStatus } from '../../../config/fiscal.ts'
import { cancelFiscal, readFiscal, sendFiscal } from '../../../jobs/fiscal.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { emit } from '../../lib/events.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { insertLater } from '../../lib/records.ts'
import { seal, unseal } from '../../lib/sealing/index.ts'
import { FiscalExchange } from './models.ts'
import type { FiscalRecord, FiscalSnapshot } from './models.ts'

export const fiscalMoves = lifecycle<FiscalStatus>('A fiscal document')({
  retried: { from: ['rejected'], to: 'queued' },
  cancelled: { from: ['authorised', 'rejected'], to: 'cancelled' },
})

/** A call whose worker never came back is followed by a reading after this while. */
export const lostAfterMs = 3_600_000

/** Locks a document, and compares the version that its reader saw. 404, 409 `version_conflict`. */
export const lockFiscal = async (trx: Trx, id: string, expected: number | null = null): Promise<FiscalRecord> => {
  const row = await sqlOne<FiscalRecord>(
    trx,
    `select * from fiscal_document where tenant_id = ? and id = ? for no key update`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw notFound()
  if (expected !== null && row.version !== expected) throw versionConflict(row.version)
  return row
}

const snapshotPlace = (rowId: string) => ({ table: 'fiscal_document', rowId, purpose: 'snapshot' })
export const xmlPlace = (rowId: string) => ({ table: 'fiscal_document', rowId, purpose: 'xml' })

export const sealSnapshot = (trx: Trx, id: string, snapshot: FiscalSnapshot): Promise<Buffer> =>
  seal(trx, 'tenant', snapshotPlace(id), snapshot)

export const openSnapshot = (trx: Trx, { id, snapshot }: Pick<FiscalRecord, 'id' | 'snapshot'>) =>
  unseal<FiscalSnapshot>(trx, 'tenant', snapshotPlace(id), snapshot)

/** Adds a line to the log of a document, with the next statement. */
export const noteExchange = (
  trx: Trx,
  fiscalDocumentId: string,
  operation: FiscalOperation,
  outcome: FiscalOutcome,
  code: string | null = null,
): void => {
  insertLater(trx, FiscalExchange, { fiscalDocumentId, operation, outcome, code: code?.slice(0, 100) ?? null })
}

/** A code of an authority as events may carry it. */
const plainCode = (code: string | null): string | null => code?.replace(/[^\w.-]/g, '_').slice(0, 100) || null

export const tellFiscal = (trx: Trx, event: Event, row: FiscalRecord, code: string | null = null): Promise<unknown> =>
  emit(trx, event, {
    propertyId: row.propertyId,
    id: row.id,
    version: row.version,
    data: {
      fiscalDocumentId: row.id,
      receivableId: row.receivableId,
      kind: row.kind,
      number: row.rpsNumber,
      code: plainCode(code),
    },
  })

/** The account at the authority: its gate closes while it refuses our credentials. */
const gateOf = ({ adapter, bookId }: Pick<FiscalRecord, 'adapter' | 'bookId'>) => `fiscal-${adapter}:${bookId}`

const jobs = { send: sendFiscal, read: readFiscal, cancel: cancelFiscal }

/** Asks for a call about a document, once for each round of it. */
export const requestCall = async (trx: Trx, operation: FiscalOperation, row: FiscalRecord): Promise<void> => {
  await enqueue(
    trx,
    jobs[operation],
    { tenantId: contextOf(trx).tenantId ?? '', fiscalDocumentId: row.id },
    { uniqueKey: `${row.id}-${row.attempts}-${row.reads}`, gate: gateOf(row) },
  )
}
