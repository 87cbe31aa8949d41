import { cut } from '../../../config/cut.ts'
import {
  fiscalDocumentAuthorised,
  fiscalDocumentCancelled,
  fiscalDocumentCancelRefused,
  fiscalDocumentOutcomeUnknown,
  fiscalDocumentRejected,
} from '../../../config/events/fiscal.ts'
import type { FiscalAdapter, FiscalOperation } from '../../../config/fiscal.ts'
import { takeNumber } from '../../documents/index.ts'
import { settleCalls } from '../../jobs/index.ts'
import { sql } from '../../lib/connection.ts'
import type { PlatformTrx, Trx } from '../../lib/connection.ts'
import { nextReadAt } from '../../lib/due.ts'
import { changeRow } from '../../lib/records.ts'
import { blobs, sealBytes } from '../../lib/sealing/index.ts'
import { fiscalCredentials } from '../settings/settings.ts'
import { FiscalDocument } from './models.ts'
import type { FiscalRecord, FiscalSnapshot } from './models.ts'
import { lockFiscal, lostAfterMs, noteExchange, openSnapshot, requestCall, tellFiscal, xmlPlace } from './state.ts'

/** The question to an adapter. `key` is that of this round: a repetition within it is told by it. */
export type FiscalCall = {
  id: string
  adapter: FiscalAdapter
  bookId: string
  credentials: string | null
  rps: { series: string; number: number }
  snapshot: FiscalSnapshot
  reason: string
  key: string
}

/** An authority's word on a document. */
export type AuthorityWord =
  | {
      state: 'authorised'
      authorityNumber: string
      verificationCode: string | null
      accessKey: string | null
      authorisedAt: Date
      documentUrl: string | null
      xml: string | null
    }
  | { state: 'rejected'; code: string; message: string }
  | { state: 'processing'; afterMs: number }
  | { state: 'cancelled' }
  /** It has never heard of the number. */
  | { state: 'not_found' }
  /** It does not cancel. */
  | { state: 'refused'; code: string; message: string }
export type CallAnswer =
  | { kind: 'known'; word: AuthorityWord }
  | { kind: 'unknown'; code: string }
  | { kind: 'not_sent'; code: string }

const minuteMs = 60_000
/** Waits before an authority is asked again what became of a document (R18). */
const waits = [minuteMs, 5 * minuteMs, 60 * minuteMs]
const waitOf = (reads: number) => waits[Math.min(reads, waits.length - 1)] ?? minuteMs
const callOf = async (trx: Trx, row: FiscalRecord): Promise<FiscalCall | null> =>
  row.rpsNumber === null
    ? null
    : {
        id: row.id,
        adapter: row.adapter as FiscalAdapter,
        bookId: row.bookId,
        credentials: await fiscalCredentials(trx, row.bookId),
        rps: { series: row.series, number: row.rpsNumber },
        snapshot: await openSnapshot(trx, row),
        reason: row.cancelReason ?? '',
        key: `${row.id}-${row.attempts}`,
      }

/**
 * Begins to send a document: gives it its number, once, as the last thing of the transaction. One that was begun already keeps number and key, so that the
 * journal of calls tells whether the authority may have heard of it. Null where nothing is to be sent.
 */
export const beginSend = async (trx: Trx, id: string): Promise<FiscalCall | null> => {
  const row = await lockFiscal(trx, id)
  if (row.status === 'sending') return callOf(trx, row)
  if (row.status !== 'queued') return null
  const change = {
    status: 'sending' as const,
    attempts: row.attempts + 1,
    reads: 0,
    nextReadAt: nextReadAt(lostAfterMs),
  }
  if (row.rpsNumber !== null) {
    await changeRow(trx, FiscalDocument, id, change)
    return callOf(trx, { ...row, ...change })
  }
  const call = await callOf(trx, { ...row, ...change, rpsNumber: 0 })
  const { number } = await takeNumber(trx, { bookId: row.bookId, kind: 'rps' })
  await changeRow(trx, FiscalDocument, id, { ...change, rpsNumber: number })
  return call && { ...call, rps: { series: row.series, number } }
}

/** A document whose cancellation is asked for; null where it is not any more. */
export const beginCancel = async (trx: Trx, id: string): Promise<FiscalCall | null> => {
  const row = await lockFiscal(trx, id)
  return row.status === 'cancel_requested' ? callOf(trx, row) : null
}

/** A document whose outcome is not known; null where it is. */
export const beginRead = async (trx: Trx, id: string): Promise<FiscalCall | null> => {
  const row = await lockFiscal(trx, id)
  return ['sending', 'unknown', 'cancel_requested'].includes(row.status) ? callOf(trx, row) : null
}

type Known = { row: FiscalRecord; operation: FiscalOperation }

const authorise = async (
  trx: Trx,
  { row, operation }: Known,
  word: AuthorityWord & { state: 'authorised' },
): Promise<void> => {
  noteExchange(trx, row.id, operation, 'authorised')
  const { state: _, xml, ...facts } = word
  const xmlBlobId =
    xml === null ? null : await blobs.put(trx, await sealBytes(trx, 'tenant', xmlPlace(row.id), Buffer.from(xml)))
  const change = { ...facts, status: 'authorised' as const, rejection: null, xmlBlobId, nextReadAt: null }
  const version = await changeRow(trx, FiscalDocument, row.id, change)
  await tellFiscal(trx, fiscalDocumentAuthorised, { ...row, ...change, version })
}

const reject = async (trx: Trx, { row, operation }: Known, { code, message }: { code: string; message: string }) => {
  noteExchange(trx, row.id, operation, 'rejected', code)
  const rejection = { code: code.slice(0, 60), message: cut(message, 500) }
  const version = await changeRow(trx, FiscalDocument, row.id, { status: 'rejected', rejection, nextReadAt: null })
  await tellFiscal(trx, fiscalDocumentRejected, { ...row, version }, code)
}

const again = async (trx: Trx, row: FiscalRecord, waitMs: number): Promise<void> => {
  await changeRow(trx, FiscalDocument, row.id, { reads: row.reads + 1, nextReadAt: nextReadAt(waitMs) })
}

/** Moves a document that is being sent by the authority's word on it. */
const settleSending = async (trx: Trx, known: Known, word: AuthorityWord): Promise<void> => {
  const { row, operation } = known
  switch (word.state) {
    case 'authorised':
      return authorise(trx, known, word)
    case 'rejected':
    case 'refused':
      return reject(trx, known, word)
    case 'processing':
      noteExchange(trx, row.id, operation, 'processing')
      return again(trx, row, word.afterMs)
    case 'not_found': {
      // It never got there: only now it may be sent again.
      noteExchange(trx, row.id, operation, 'not_found')
      const change = { status: 'queued' as const, nextReadAt: null, reads: 0 }
      await changeRow(trx, FiscalDocument, row.id, change)
      return requestCall(trx, 'send', { ...row, ...change })
    }
    case 'cancelled': {
      noteExchange(trx, row.id, operation, 'cancelled')
      const reason = 'cancelled at the authority'
      const change = { status: 'cancelled' as const, cancelReason: reason, nextReadAt: null }
      const version = await changeRow(trx, FiscalDocument, row.id, change)
      await tellFiscal(trx, fiscalDocumentCancelled, { ...row, version })
    }
  }
}

/** Moves a cancellation by the authority's word on it. */
const settleCancel = async (trx: Trx, { row, operation }: Known, word: AuthorityWord): Promise<void> => {
  if (word.state === 'cancelled') {
    noteExchange(trx, row.id, operation, 'cancelled')
    const version = await changeRow(trx, FiscalDocument, row.id, { status: 'cancelled', nextReadAt: null })
    await tellFiscal(trx, fiscalDocumentCancelled, { ...row, version })
    return
  }
  if (word.state === 'authorised' && operation === 'read') {
    // It has not heard of the wish.
    noteExchange(trx, row.id, operation, 'authorised')
    const change = { attempts: row.attempts + 1, reads: 0, nextReadAt: nextReadAt(lostAfterMs) }
    await changeRow(trx, FiscalDocument, row.id, change)
    await requestCall(trx, 'cancel', { ...row, ...change })
    return
  }
  if (word.state === 'processing') {
    noteExchange(trx, row.id, operation, 'processing')
    await again(trx, row, word.afterMs)
    return
  }
  const code = 'code' in word ? word.code : word.state
  noteExchange(trx, row.id, operation, 'refused', code)
  const change = { status: 'authorised' as const, cancelReason: null, nextReadAt: null }
  const version = await changeRow(trx, FiscalDocument, row.id, change)
  await tellFiscal(trx, fiscalDocumentCancelRefused, { ...row, version }, code)
}

/** Writes what came of a call. A call of a round that is over changes nothing. */
export const answerFiscal = async (
  trx: Trx,
  operation: FiscalOperation,
  { id, key }: Pick<FiscalCall, 'id' | 'key'>,
  answer: CallAnswer,
): Promise<void> => {
  const row = await lockFiscal(trx, id)
  if (`${row.id}-${row.attempts}` !== key) return
  if (operation === 'read' && answer.kind === 'known')
    await settleCalls(trx, [key], { state: answer.word.state === 'not_found' ? 'failed' : 'succeeded' })
  const isCancelling = row.status === 'cancel_requested'
  if (!isCancelling && row.status !== 'sending' && row.status !== 'unknown') return
  if (answer.kind === 'known')
    return isCancelling
      ? settleCancel(trx, { row, operation }, answer.word)
      : settleSending(trx, { row, operation }, answer.word)
  noteExchange(trx, id, operation, answer.kind, answer.code)
  const wait = nextReadAt(waitOf(operation === 'read' ? row.reads + 1 : 0))
  const reads = operation === 'read' ? row.reads + 1 : 0
  const status = row.status === 'sending' && operation === 'send' ? ('unknown' as const) : row.status
  const version = await changeRow(trx, FiscalDocument, id, { status, reads, nextReadAt: wait })
  if (operation !== 'read') await tellFiscal(trx, fiscalDocumentOutcomeUnknown, { ...row, version }, answer.code)
}

/** Notes a call that certainly did not reach the authority; it is made again. */
export const noteNotSent = (trx: Trx, operation: FiscalOperation, id: string, code: string): void =>
  noteExchange(trx, id, operation, 'not_sent', code)

/** Documents that are due to be read, of all tenants. */
export const fiscalDue = (trx: PlatformTrx, most: number): Promise<{ tenantId: string; id: string }[]> =>
  sql<{ tenantId: string; id: string }>(trx, `select tenant_id, id from fiscal_documents_due(?)`, [most])

/** Takes documents off the schedule for a while and asks for their reading. Another sweep passes them over. */
export const requestReads = async (trx: Trx, ids: readonly string[]): Promise<void> => {
  const taken = await sql<FiscalRecord>(
    trx,
    `update fiscal_document set next_read_at = now() + interval '10 minutes'
     where id in (select id from fiscal_document where id = any(?::uuid[]) and next_read_at <= now() order by id for update skip locked) returning *`,
    [ids],
  )
  for (const row of taken.toSorted((a, b) => (a.id < b.id ? -1 : 1))) await requestCall(trx, 'read', row)
}
