import { randomUUID } from 'node:crypto'
import { conflict, invalid, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import { folioInvoiced, folioReopened } from '../../../config/events/folios.ts'
import { businessDay, postingEventOf, raisePosting, raisePostings } from '../../financial/index.ts'
import type { DayPosting } from '../../financial/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, emitAll } from '../../lib/events.ts'
import { settleRefusedCaptures } from '../../payment/index.ts'
import type { FolioRow } from '../../rows.ts'
import { addLines, announceBalances, tellBalances } from './lines.ts'
import { lockFoliosById } from './lock.ts'
import { factOf } from './open.ts'
import { refuseClosed } from './status.ts'

/** A locked folio, and the business day that its lines are dated by. */
export type FolioToBill = FolioRow & { businessDate: string }

export type BillTerms = {
  /** First day on which the bill is due; the days of the customer's terms unless said. */
  dueOn?: string | undefined
  note?: string | undefined
  /** Bills beyond the limit of the customer. The caller has judged that they may. */
  override?: { reason: string } | null | undefined
}
/** Makes the documents of customers for locked folios, and calls `billFolios`. It follows all locks of a stay. */
export type BillStays = (trx: Trx, folios: readonly FolioToBill[], terms: BillTerms) => Promise<void>

let billStays: BillStays | null = null

/** The module of receivables says how folios are billed: it imports this one. Registered where a process starts. */
export const registerBilling = (bill: BillStays): void => {
  billStays = bill
}

/** Locks folios by id with their business days, which come before all else. 422 `reference_not_found` for one that there is not. */
export const lockFoliosToBill = async (trx: Trx, ids: readonly string[]): Promise<FolioToBill[]> => {
  const places = await sql<{ id: string; propertyId: string }>(
    trx,
    `select id, property_id from folio where tenant_id = ? and id = any(?::uuid[])`,
    [contextOf(trx).tenantId, ids],
  )
  const missing = ids.flatMap((id, index) =>
    places.some((one) => one.id === id) ? [] : [{ field: `folioIds.${index}`, message: 'does not exist' }],
  )
  if (missing.length > 0) throw unprocessable('reference_not_found', 'There is no such folio', missing)
  const days = new Map<string, string>()
  for (const propertyId of [...new Set(places.map((one) => one.propertyId))].toSorted())
    days.set(propertyId, await businessDay(trx, propertyId))
  const folios = await lockFoliosById(trx, ids)
  return folios.map((one) => ({ ...one, businessDate: days.get(one.propertyId) ?? '' }))
}

/** Refuses folios that cannot be billed now: 409 `folio_already_billed`, `payment_in_progress`; 422 `folio_closed`, `folio_zero`. */
export const refuseUnbillable = async (trx: Trx, folios: readonly FolioRow[]): Promise<void> => {
  for (const folio of folios) {
    if (folio.receivableId !== null)
      throw conflict('folio_already_billed', `Folio ${folio.number} is billed already`, [
        { field: 'folioId', message: `is billed by receivable ${folio.receivableId}` },
      ])
    refuseClosed(folio, 'folioId')
    if (folio.balance <= 0)
      throw unprocessable('folio_not_billable', `Folio ${folio.number} owes nothing`, [
        { field: 'balance', message: String(folio.balance) },
      ])
  }
  const paying = await sqlOne<{ id: string }>(
    trx,
    `select f.id from folio f left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id and f.is_primary
     join payment p on p.tenant_id = f.tenant_id and p.status in ('unknown', 'processing') and ((p.target_type = 'folio' and p.target_id = f.id)
       or (p.target_type = 'reservation' and p.target_id = r.id) or (p.target_type = 'booking' and p.target_id = r.booking_id))
     where f.tenant_id = ? and f.id = any(?::uuid[]) limit 1`,
    [contextOf(trx).tenantId, folios.map(({ id }) => id)],
  )
  if (paying) throw conflict('payment_in_progress', 'A payment is being processed; wait for its end')
}

/** Bills locked folios to the customers that pay them (R41). */
export const invoiceFolios = async (trx: Trx, folios: readonly FolioToBill[], terms: BillTerms): Promise<void> => {
  if (!billStays) throw new Error('registerModules() has not been called in this process')
  await billStays(trx, folios, terms)
}

/** Turns the balance of a folio into a receivable of the customer who pays it (F4). A folio that is billed already stays as it is. 404. */
export const invoiceFolio = async (
  trx: Trx,
  folioId: string,
  terms: BillTerms,
  expected: number | null = null,
): Promise<void> => {
  const [folio] = await lockFoliosToBill(trx, [folioId]).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'reference_not_found') throw notFound()
    throw error
  })
  if (!folio) throw notFound()
  if (expected !== null && expected !== folio.version) throw versionConflict(folio.version)
  if (folio.receivableId !== null) return
  await invoiceFolios(trx, [folio], terms)
}

/** The folios of `wanted` among those of a stay. 400 for one that is none of them. */
export const amongFolios = (folios: readonly FolioRow[], wanted: readonly string[]): FolioRow[] => {
  const errors = wanted.flatMap((id, index) =>
    folios.some((one) => one.id === id) ? [] : [{ field: `invoice.${index}`, message: 'is no folio of the stay' }],
  )
  if (errors.length > 0) throw invalid(errors)
  return folios.filter((one) => wanted.includes(one.id))
}

type Billed = { folio: FolioToBill; receivableId: string; customer: { id: string; kind: string } }

/** Brings locked folios to zero by what a customer owes instead, and closes them (F4). The receivables stand already; postings are its last step. */
export const billFolios = async (trx: Trx, billed: readonly Billed[]): Promise<void> => {
  const made = billed.map((one) => ({ ...one, lineId: randomUUID() }))
  const lines = made.map(({ folio, receivableId, lineId }) => ({
    id: lineId,
    folioId: folio.id,
    kind: 'receivable' as const,
    category: null,
    description: 'Billed to the customer',
    amount: -folio.balance,
    businessDate: folio.businessDate,
    source: { type: 'receivable', id: receivableId, key: folio.id },
  }))
  await addLines(trx, lines)
  const closed = await sql<FolioRow>(
    trx,
    `update folio f set status = 'closed', receivable_id = b.receivable_id, version = f.version + 1
     from unnest(?::uuid[], ?::uuid[]) as b (id, receivable_id) where f.tenant_id = ? and f.id = b.id returning f.*`,
    [made.map(({ folio }) => folio.id), made.map(({ receivableId }) => receivableId), contextOf(trx).tenantId],
  )
  // The balance changed before the close, which raised the version by one.
  await tellBalances(
    trx,
    closed.map((one) => ({ ...one, version: one.version - 1 })),
    lines,
  )
  await emitAll(
    trx,
    folioInvoiced,
    closed.map((one) => {
      const fact = factOf(one)
      return { ...fact, data: { ...fact.data, receivableId: one.receivableId ?? '' } }
    }),
  )
  await settleRefusedCaptures(
    trx,
    null,
    closed.map(({ id }) => ({ targetType: 'folio', targetId: id })),
  )
  for (const propertyId of [...new Set(made.map(({ folio }) => folio.propertyId))].toSorted())
    await raisePostings(
      trx,
      propertyId,
      made
        .filter(({ folio }) => folio.propertyId === propertyId)
        .map(({ folio, lineId, receivableId, customer }): DayPosting => ({
          event: 'reservations.folio_invoiced',
          source: { id: lineId },
          payload: {
            amounts: { amount: folio.balance },
            documents: { folio: folio.id, receivable: receivableId },
            context: { folioStage: folio.stage, customerKind: customer.kind },
            parties: {
              receivable: { type: 'customer', id: customer.id },
              ...(folio.payerGuestId === null ? {} : { folio: { type: 'guest', id: folio.payerGuestId } }),
            },
          },
        })),
    )
}

/** The folios that receivables bill are open again, each with the line that turns its bill (F5). They are locked by `lockFoliosToBill`. */
export const returnReceivable = async (trx: Trx, folios: readonly FolioToBill[]): Promise<void> => {
  if (folios.length === 0) return
  const { tenantId } = contextOf(trx)
  const ids = folios.map(({ id }) => id)
  const billed = await sql<{ id: string; folioId: string; amount: number; receivableId: string }>(
    trx,
    `select l.id, l.folio_id, l.amount, f.receivable_id from folio f join folio_line l on l.tenant_id = f.tenant_id and l.folio_id = f.id
       and l.kind = 'receivable' and l.amount < 0
     where f.tenant_id = ? and f.id = any(?::uuid[])
       and not exists (select from folio_line r where r.tenant_id = l.tenant_id and r.folio_id = l.folio_id and r.original_line_id = l.id and r.kind = 'receivable')
     order by l.folio_id`,
    [tenantId, ids],
  )
  const opened = await sql<FolioRow>(
    trx,
    `update folio set status = 'open', receivable_id = null, version = version + 1 where tenant_id = ? and id = any(?::uuid[]) returning *`,
    [tenantId, ids],
  )
  const lines = billed.map((one) => ({
    id: randomUUID(),
    folioId: one.folioId,
    kind: 'receivable' as const,
    category: null,
    description: 'Bill taken back',
    amount: -one.amount,
    businessDate: folios.find(({ id }) => id === one.folioId)?.businessDate ?? '',
    source: { type: 'receivable_return', id: one.receivableId, key: one.id },
    originalLineId: one.id,
  }))
  await addLines(trx, lines)
  await announceBalances(trx, ids, lines)
  for (const one of opened) await emit(trx, folioReopened, factOf(one))
  for (const line of lines) {
    const folio = opened.find(({ id }) => id === line.folioId)
    const turned = await postingEventOf(trx, 'reservations.folio_invoiced', { id: line.originalLineId })
    if (!folio || turned === null) throw new Error('the bill of a folio was never posted')
    await raisePosting(trx, {
      event: 'reservations.folio_invoice_reversed',
      source: { id: line.id },
      propertyId: folio.propertyId,
      postingDate: line.businessDate,
      reversesEventId: turned,
    })
  }
}
