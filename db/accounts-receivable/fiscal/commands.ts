import { randomUUID } from 'node:crypto'
import { fiscalDocumentCancelled, fiscalDocumentQueued, fiscalDocumentRejected } from '../../../config/events/fiscal.ts'
import { ApiError, invalid, notFound, unprocessable } from '../../../config/errors.ts'
import { cancelWindowHours } from '../../../config/fiscal.ts'
import type { FiscalAdapter } from '../../../config/fiscal.ts'
import { requestFiscal as requestJob } from '../../../jobs/fiscal.ts'
import { contextOf, prepared, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { nextReadAt } from '../../lib/due.ts'
import { enqueue } from '../../lib/enqueue.ts'
import { changeRow, insertRow } from '../../lib/records.ts'
import { FiscalDocument } from './models.ts'
import type { FiscalRecord } from './models.ts'
import { drawSnapshot } from './snapshot.ts'
import type { FiscalSource } from './snapshot.ts'
import { fiscalMoves, lockFiscal, lostAfterMs, requestCall, sealSnapshot, tellFiscal } from './state.ts'

export type NewFiscalDocument = {
  receivableId?: string | undefined
  folioId?: string | undefined
  serviceText?: string | undefined
}

const sourceOf = ({ receivableId, folioId }: NewFiscalDocument): FiscalSource => {
  if ((receivableId === undefined) === (folioId === undefined))
    throw invalid([{ field: 'receivableId', message: 'exactly one of receivableId and folioId is named' }])
  return receivableId === undefined ? { folioId: folioId ?? '' } : { receivableId }
}

/** 422 `fiscal_document_alive` where a document of a source stands or is on its way. The caller holds the source. */
export const refuseLiveFiscal = async (trx: Trx, source: FiscalSource, but: string | null = null): Promise<void> => {
  const [column, id] =
    'receivableId' in source
      ? (['receivable_id', source.receivableId] as const)
      : (['folio_id', source.folioId] as const)
  const found = await sqlOne<{ id: string }>(
    trx,
    `select id from fiscal_document where tenant_id = ? and ${column} = ? and status not in ('rejected', 'cancelled') and id is distinct from cast(? as uuid)`,
    [contextOf(trx).tenantId, id, but],
  )
  if (found)
    throw unprocessable('fiscal_document_alive', 'A fiscal document of it stands; cancel that first', [
      { field: 'fiscalDocumentId', message: found.id },
    ])
}

const incomplete = (missing: readonly string[]) =>
  unprocessable(
    'taker_incomplete',
    'The city asks for more of who takes the service',
    missing.map((field) => ({ field, message: 'is missing' })),
  )

type Making = { source: FiscalSource; serviceText: string; createdBy: string | null }

const make = async (trx: Trx, { source, serviceText, createdBy }: Making, isAutomatic: boolean): Promise<string> => {
  const { facts, adapter, snapshot, missing } = await drawSnapshot(trx, source, serviceText)
  await refuseLiveFiscal(trx, source)
  if (missing.length > 0 && !isAutomatic) throw incomplete(missing)
  const id = randomUUID()
  const { receivableId, folioId, bookId, propertyId, total, currency } = facts
  // What nobody asked for is not lost for what is missing: it waits as rejected, to be retried once it is there.
  const rejection = missing.length > 0 ? { code: 'taker_incomplete', message: missing.join(', ') } : null
  const row = await insertRow(trx, FiscalDocument, {
    id,
    adapter,
    bookId,
    propertyId,
    receivableId,
    folioId,
    total,
    currency,
    serviceText,
    createdBy,
    rejection,
    status: rejection ? 'rejected' : 'queued',
    snapshot: await sealSnapshot(trx, id, snapshot),
  })
  await tellFiscal(trx, rejection ? fiscalDocumentRejected : fiscalDocumentQueued, row, rejection?.code ?? null)
  if (!rejection) await requestCall(trx, 'send', row)
  return id
}

/**
 * Requests the service invoice of a receivable or folio (R17). 400 unless exactly one is named; 409 `invalid_transition`; 422 `reference_not_found`, `fiscal_not_configured`,
 * `taker_incomplete`, `fiscal_document_alive`.
 */
export const createFiscalDocument = (trx: Trx, given: NewFiscalDocument): Promise<string> => {
  const { actor } = contextOf(trx)
  const createdBy = actor.type === 'user' ? actor.id : null
  return make(trx, { source: sourceOf(given), serviceText: given.serviceText ?? '', createdBy }, false)
}

/** The obstacles that keep an automatic request from ever being made. */
const nothingToDo = new Set([
  'reference_not_found',
  'invalid_transition',
  'fiscal_document_alive',
  'fiscal_not_configured',
])

/** Makes the document that a book requests by itself. Where its source has none any more, or has one, nothing is done: the code says why. */
export const makeRequested = async (trx: Trx, source: FiscalSource): Promise<string | null> => {
  try {
    await make(trx, { source, serviceText: '', createdBy: null }, true)
    return null
  } catch (error) {
    if (error instanceof ApiError && nothingToDo.has(error.code)) return error.code
    throw error
  }
}

/** Asks for documents of receivables that were issued, or folios that were closed, whose books request them by themselves. */
export const requestFiscal = async (
  trx: Trx,
  source: 'receivable' | 'folio',
  ids: readonly string[],
): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const found = await prepared<{ id: string }>(
    trx,
    source === 'receivable'
      ? `select r.id from receivable r join receivable_settings s on s.tenant_id = r.tenant_id and s.book_id = r.book_id and s.fiscal_automatic and s.fiscal_adapter <> 'none'
         where r.tenant_id = ? and r.id = any(?::uuid[]) and r.kind <> 'opening' order by r.id`
      : `select f.id from folio f join property p on p.tenant_id = f.tenant_id and p.id = f.property_id
         join receivable_settings s on s.tenant_id = p.tenant_id and s.book_id = p.book_id and s.fiscal_automatic and s.fiscal_adapter <> 'none'
         where f.tenant_id = ? and f.id = any(?::uuid[]) and f.status = 'closed' and f.charges > 0 and f.receivable_id is null order by f.id`,
    [tenantId, ids],
  )
  for (const { id } of found)
    await enqueue(trx, requestJob, { tenantId: tenantId ?? '', source, id }, { uniqueKey: `${source}.${id}` })
}

const sourceOfRow = ({ receivableId, folioId }: Pick<FiscalRecord, 'receivableId' | 'folioId'>): FiscalSource =>
  receivableId === null ? { folioId: folioId ?? '' } : { receivableId }

const findSource = async (trx: Trx, id: string): Promise<FiscalSource> => {
  const row = await sqlOne<Pick<FiscalRecord, 'receivableId' | 'folioId'>>(
    trx,
    `select receivable_id, folio_id from fiscal_document where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, id],
  )
  if (!row) throw notFound()
  return sourceOfRow(row)
}

/** Queues a rejected document again under its number, with what its source says now. Errors as of `createFiscalDocument`. */
export const retryFiscal = async (trx: Trx, id: string, expectedVersion: number | null): Promise<void> => {
  const source = await findSource(trx, id)
  const seen = await sqlOne<Pick<FiscalRecord, 'status' | 'serviceText'>>(
    trx,
    `select status, service_text from fiscal_document where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, id],
  )
  // The source comes first in the order of locks.
  const drawn = seen?.status === 'rejected' ? await drawSnapshot(trx, source, seen.serviceText) : null
  const row = await lockFiscal(trx, id, expectedVersion)
  if (!fiscalMoves.isDue('retried', row.status) || !drawn) return
  await refuseLiveFiscal(trx, source, id)
  if (drawn.missing.length > 0) throw incomplete(drawn.missing)
  const change = {
    status: 'queued' as const,
    rejection: null,
    adapter: drawn.adapter,
    total: drawn.facts.total,
    snapshot: await sealSnapshot(trx, id, drawn.snapshot),
    nextReadAt: null,
    reads: 0,
  }
  const version = await changeRow(trx, FiscalDocument, id, change)
  const queued = { ...row, ...change, version }
  await tellFiscal(trx, fiscalDocumentQueued, queued)
  await requestCall(trx, 'send', queued)
}

const hourMs = 3_600_000

/**
 * Cancels a rejected document, whose number stays used, or asks the authority to cancel an authorised one. 409 `invalid_transition`; 422
 * `cancel_window_passed` where the authority cancels it no more.
 */
export const cancelFiscal = async (
  trx: Trx,
  id: string,
  reason: string,
  expectedVersion: number | null,
  now = new Date(),
): Promise<void> => {
  const row = await lockFiscal(trx, id, expectedVersion)
  if (row.status === 'cancel_requested' || !fiscalMoves.isDue('cancelled', row.status)) return
  if (row.status === 'rejected') {
    const version = await changeRow(trx, FiscalDocument, id, { status: 'cancelled', cancelReason: reason })
    await tellFiscal(trx, fiscalDocumentCancelled, { ...row, version })
    return
  }
  const hours = cancelWindowHours[row.adapter as Exclude<FiscalAdapter, 'none'>]
  if (row.authorisedAt === null || row.authorisedAt.getTime() + hours * hourMs <= now.getTime())
    throw unprocessable('cancel_window_passed', `The authority cancels within ${hours} hours`, [
      { field: 'authorisedAt', message: `is ${row.authorisedAt?.toISOString() ?? 'unknown'}` },
    ])
  const change = {
    status: 'cancel_requested' as const,
    cancelReason: reason,
    attempts: row.attempts + 1,
    reads: 0,
    nextReadAt: nextReadAt(lostAfterMs),
  }
  const version = await changeRow(trx, FiscalDocument, id, change)
  await requestCall(trx, 'cancel', { ...row, ...change, version })
}
