import { randomUUID } from 'node:crypto'
import type { ReceiptMethod } from '../../../config/receipts.ts'
import { receiptReversed } from '../../../config/events/receipts.ts'
import { firstOpenDay } from '../../financial/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, readRow } from '../../lib/records.ts'
import { targetOf } from '../../payment/index.ts'
import type { PaymentTarget, TargetRef } from '../../payment/index.ts'
import type { ReceivableRecord } from '../models.ts'
import { lockReceivables } from '../state.ts'
import { planned } from './heard.ts'
import { insertReceipt } from './insert.ts'
import { lockInstallments, oldestOpen } from './installments.ts'
import { Receipt } from './models.ts'
import type { ReceiptRecord } from './models.ts'
import { locking } from '../locking.ts'
import { lockReceipt, standingAllocations, tellReceipt } from './state.ts'
import { lockAllocated, takeBack } from './undo.ts'
import { writeAllocations } from './write.ts'

/** The property that a payment of a document lies in: its own, else the oldest live one of the book. Null where the book has none. */
const propertyOf = async (trx: Trx, { bookId, propertyId }: ReceivableRecord): Promise<string | null> => {
  if (propertyId !== null) return propertyId
  const found = await sqlOne<{ id: string }>(
    trx,
    `select id from property where tenant_id = ? and book_id = ? and status = 'live' order by created_at, id limit 1`,
    [contextOf(trx).tenantId, bookId],
  )
  return found?.id ?? null
}

const payersOf = async (trx: Trx, customerId: string) => {
  const found = await sqlOne<{ guestId: string | null }>(
    trx,
    `select guest_id from customer where tenant_id = ? and id = ?`,
    [contextOf(trx).tenantId, customerId],
  )
  return { bookingId: null, guestIds: found?.guestId ? [found.guestId] : [], customerId }
}

const methodOf = (method: string): ReceiptMethod => {
  if (method === 'card' || method === 'pix') return method
  return method === 'boleto' || method === 'bank_transfer' ? 'bank' : 'other'
}

/** Payments give the oldest installments their money, and take it from the newest allocations. */
const settleRest = async (trx: Trx, receipt: ReceiptRecord, receivableId: string, amount: number, day: string) => {
  const open = await oldestOpen(trx, { bookId: receipt.bookId, receivableId })
  const { installments, documents } = await lockInstallments(
    trx,
    open.map((one) => one.installmentId),
  )
  return writeAllocations(trx, receipt, documents, planned(installments, amount, day))
}

/** The day of a fact of a payment: its business day where the book takes it, else the first later one. */
const dayOf = (trx: Trx, bookId: string, businessDate: string) => firstOpenDay(trx, { bookId }, businessDate)

/** Lowers a receipt by money that went back: what its payment took is refunded there. */
const lower = async (trx: Trx, receipt: ReceiptRecord, amount: number, restId: string): Promise<ReceiptRecord> => {
  const [row] = await sql<ReceiptRecord>(
    trx,
    `update receipt set refund_reserved = refund_reserved + ?, refunded = refunded + ?, source_id = ?, version = version + 1
     where tenant_id = ? and id = ? returning *`,
    [amount, amount, restId, contextOf(trx).tenantId, receipt.id],
  )
  if (!row) throw new Error('the receipt is gone')
  return row
}

/** Receipts of documents. Payments are counted as such, and a credit note brings no money. */
const receivedSince = async (trx: Trx, ids: readonly string[], since: Date): Promise<number> => {
  const [row] = await sql<{ settled: number }>(
    trx,
    `select coalesce(sum(a.principal), 0)::bigint as settled from receipt_allocation a
     join receipt r on r.tenant_id = a.tenant_id and r.id = a.receipt_id and r.source_type not in ('payment', 'credit_note')
     where a.tenant_id = ? and a.receivable_id = any(?::uuid[]) and a.created_at >= ?`,
    [contextOf(trx).tenantId, ids, since],
  )
  return row?.settled ?? 0
}

/**
 * Money that has come since then for bills of folios that are older: a later bill counts itself. Of a bill of other folios, too, theirs is paid first, so that
 * nothing counts for two.
 */
const billsPaidSince = async (trx: Trx, folioIds: readonly string[], since: Date): Promise<number> => {
  const [row] = await sql<{ settled: number }>(
    trx,
    `with own as materialized (
       select distinct coalesce(r.consolidated_into_id, r.id) as id from folio f join receivable r on r.tenant_id = f.tenant_id and r.id = f.receivable_id
       where f.tenant_id = :tenantId and f.id = any(:folioIds::uuid[])),
     bill as (
       select own.id, coalesce(-sum(l.amount) filter (where f.id <> all(:folioIds::uuid[])), 0) as others
       from own join receivable r on r.tenant_id = :tenantId and (r.id = own.id or r.consolidated_into_id = own.id)
       join folio f on f.tenant_id = r.tenant_id and f.receivable_id = r.id
       join folio_line l on l.tenant_id = f.tenant_id and l.folio_id = f.id and l.kind = 'receivable' and l.source_id = r.id
       group by own.id having max(l.created_at) filter (where f.id = any(:folioIds::uuid[])) < :since)
     select coalesce(sum(greatest(0, least(p.lately, p.whole - bill.others))), 0)::bigint as settled from bill cross join lateral (
       select coalesce(sum(a.principal), 0) as whole, coalesce(sum(a.principal) filter (where a.created_at >= :since), 0) as lately
       from receipt_allocation a join receipt r on r.tenant_id = a.tenant_id and r.id = a.receipt_id and r.source_type <> 'credit_note'
       where a.tenant_id = :tenantId and a.receivable_id = bill.id) p`,
    { tenantId: contextOf(trx).tenantId, folioIds, since },
  )
  return row?.settled ?? 0
}

/**
 * Issued documents as targets of payments (R15). What a gateway has taken is a receipt of source payment, allocated to the installments, oldest due first; it
 * follows the allocation of the payment, and is changed there alone.
 */
export const receivableTarget: PaymentTarget = {
  async lock(trx, id) {
    const [document] = await locking(lockReceivables(trx, [id]))
    if (!document) return null
    const propertyId = await propertyOf(trx, document)
    if (propertyId === null) return null
    const open = document.status === 'issued' || document.status === 'partly_paid'
    return {
      currency: document.currency,
      propertyId,
      payable: open ? document.open : 0,
      open,
      payers: await payersOf(trx, document.customerId),
    }
  },
  onProcessing: () => Promise.resolve(),
  async apply(trx, id, { id: allocationId, amount, payable, method, businessDate }) {
    const [document] = await lockReceivables(trx, [id])
    const propertyId = document ? await propertyOf(trx, document) : null
    const taken = Math.max(0, Math.min(payable, amount, document?.open ?? 0))
    if (!document || propertyId === null || taken === 0) return { taken: 0 }
    const day = await dayOf(trx, document.bookId, businessDate)
    const receipt = await insertReceipt(trx, {
      id: randomUUID(),
      bookId: document.bookId,
      propertyId,
      customerId: document.customerId,
      sourceType: 'payment',
      sourceId: allocationId,
      method: methodOf(method),
      currency: document.currency,
      amount: taken,
      receivedOn: day,
      movement: null,
    })
    const { post } = await settleRest(trx, receipt, id, taken, day)
    await post()
    return { taken, documentId: receipt.id }
  },
  async kin(trx, ids) {
    const folios = await sql<{ id: string }>(
      trx,
      `select f.id from receivable r join folio f on f.tenant_id = r.tenant_id and f.receivable_id = r.id
       where r.tenant_id = :tenantId and (r.id = any(:ids::uuid[]) or r.consolidated_into_id = any(:ids::uuid[]))`,
      { tenantId: contextOf(trx).tenantId, ids },
    )
    const own = ids.map((targetId): TargetRef => ({ targetType: 'receivable', targetId }))
    if (folios.length === 0) return own
    const ofStays = await targetOf('folio').kin?.(
      trx,
      folios.map(({ id }) => id),
    )
    return [...own, ...(ofStays ?? [])]
  },
  async settledOtherwise(trx, kin, since) {
    const of = (type: TargetRef['targetType']) =>
      kin.flatMap(({ targetType, targetId }) => (targetType === type ? targetId : []))
    const [documents, folios] = [of('receivable'), of('folio')]
    return (
      (documents.length > 0 ? await receivedSince(trx, documents, since) : 0) +
      (folios.length > 0 ? await billsPaidSince(trx, folios, since) : 0)
    )
  },
  async revert(trx, id, { allocationId, restId, amount, businessDate }) {
    const seen = await readRow(trx, Receipt, { sourceType: 'payment', sourceId: allocationId })
    const held = await lockAllocated(trx, await standingAllocations(trx, seen.id))
    const receipt = await lockReceipt(trx, seen.id)
    const standing = await standingAllocations(trx, seen.id)
    const last = standing.reduce((latest, { datedOn }) => (datedOn > latest ? datedOn : latest), '')
    const today = await dayOf(trx, receipt.bookId, businessDate)
    const day = today > last ? today : last
    const back = await takeBack(trx, receipt, held, standing, day)
    if (restId === null && receipt.refundReserved === 0) {
      await changeRow(trx, Receipt, receipt.id, { status: 'reversed', reversedOn: day })
      await tellReceipt(trx, receiptReversed, await readRow(trx, Receipt, receipt.id), {
        amount,
        receivableIds: [id],
      })
      await back.post()
      return { documentId: receipt.id }
    }
    const lowered = await lower(trx, back.receipt, amount, restId ?? allocationId)
    const rest = lowered.available > 0 ? await settleRest(trx, lowered, id, lowered.available, day) : null
    await back.post()
    await rest?.post()
    return { documentId: receipt.id }
  },
}
