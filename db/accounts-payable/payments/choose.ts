import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { detailsInUse } from '../suppliers/bank-details.ts'
import { sha256 } from './destination.ts'
import { amountOfCode, paymentsBlocked, pixRefusals } from './refusals.ts'
import type { Refusal } from './refusals.ts'
import type { BookFacts } from '../../documents/index.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { namePayee } from '../payee.ts'
import type { GivenPayee } from '../payee.ts'

/** An item as it is sent: an installment, of which all is paid unless said, or an advance. Amounts in minor units. */
export type GivenItem = {
  installmentId?: string | undefined
  advance?: (GivenPayee & { purchaseOrderId?: string | null | undefined }) | undefined
  principal?: number | undefined
  interest?: number | undefined
  fine?: number | undefined
  discount?: number | undefined
}
export type Selection = {
  dueUntil: string
  supplierIds?: readonly string[] | undefined
  propertyId?: string | undefined
}

/** An item as it is kept. */
export type ChosenItem = {
  payableId: string | null
  installmentId: string | null
  supplierId: string | null
  payeeName: string | null
  payeeDocument: string | null
  payeeKey: string
  purchaseOrderId: string | null
  propertyId: string | null
  principal: number
  interest: number
  fine: number
  discount: number
  /** The destination of a Pix, compared on the day of the payment. */
  destination: string | null
}

type Row = {
  installmentId: string
  payableId: string
  bookId: string
  currency: string
  status: string
  onHold: boolean
  open: number
  dueOn: string
  pixCode: string | null
  inPayment: boolean
  supplierId: string | null
  payeeName: string | null
  payeeDocument: string | null
  payeeKey: string
  propertyId: string | null
  supplierStatus: string | null
  paymentsBlocked: boolean | null
  detailsId: string | null
  detailsUsable: boolean | null
}

const facts = `i.id as installment_id, i.open, i.due_on, i.pix_code, p.id as payable_id, p.book_id, p.currency, p.status, p.on_hold, p.supplier_id, p.payee_name,
  p.payee_document, p.payee_key, p.property_id, s.status as supplier_status, s.payments_blocked, d.id as details_id, d.usable_from <= now() as details_usable,
  exists (select from payable_payment_item x where x.tenant_id = i.tenant_id and x.installment_id = i.id and x.status in ('queued', 'sending')) as in_payment`
const joined = `payable_installment i join payable p on p.tenant_id = i.tenant_id and p.id = i.payable_id
  left join supplier s on s.tenant_id = p.tenant_id and s.id = p.supplier_id
  left join lateral ${detailsInUse('p')} d on true`

const destinationOf = (row: Row): string | null =>
  row.pixCode !== null ? `pix:${sha256(row.pixCode)}` : row.detailsId === null ? null : `bank:${row.detailsId}`

const itemOf = (row: Row, given: GivenItem): ChosenItem => ({
  payableId: row.payableId,
  installmentId: row.installmentId,
  supplierId: row.supplierId,
  payeeName: row.payeeName,
  payeeDocument: row.payeeDocument,
  payeeKey: row.payeeKey,
  purchaseOrderId: null,
  propertyId: row.propertyId,
  principal: given.principal ?? row.open,
  interest: given.interest ?? 0,
  fine: given.fine ?? 0,
  discount: given.discount ?? 0,
  destination: destinationOf(row),
})

type Reach = {
  /** Holds the bills of the installments. */
  lock: boolean
  /** The properties of the caller; all unless given. */
  propertyIds?: readonly string[] | null | undefined
}
export type Choosing = Reach & { book: BookFacts; isPix: boolean; features: readonly string[] }

/** Bills of the caller's properties, and those of the whole book. */
const withinReach = `(cast(:propertyIds as uuid[]) is null or p.property_id is null or p.property_id = any(cast(:propertyIds as uuid[])))`

/** Installments by their ids, locked with their bills where `lock`. */
const rowsOf = async (trx: Trx, ids: readonly string[], { lock, propertyIds = null }: Reach): Promise<Row[]> => {
  const { tenantId } = contextOf(trx)
  if (lock)
    await sql(
      trx,
      `select p.id from payable p where p.tenant_id = :tenantId
         and p.id in (select payable_id from payable_installment where tenant_id = :tenantId and id = any(cast(:ids as uuid[]))) order by p.id for no key update`,
      { tenantId, ids },
    )
  return sql<Row>(
    trx,
    `select ${facts} from ${joined} where i.tenant_id = :tenantId and i.id = any(cast(:ids as uuid[])) and ${withinReach}`,
    { tenantId, ids, propertyIds },
  )
}

/** Open installments of approved bills, oldest first; for a Pix those alone that one can be sent for now (R11, R14). */
const selected = (
  trx: Trx,
  { dueUntil, supplierIds, propertyId }: Selection,
  { book, isPix, propertyIds = null }: Choosing,
) =>
  sql<Row>(
    trx,
    `select ${facts} from ${joined} where i.tenant_id = :tenantId and p.book_id = :bookId and p.status in ('approved', 'partly_paid') and i.open > 0
       and i.due_on <= cast(:dueUntil as date) and (cast(:supplierIds as uuid[]) is null or p.supplier_id = any(cast(:supplierIds as uuid[])))
       and (cast(:propertyId as uuid) is null or p.property_id = cast(:propertyId as uuid))
       and ${withinReach}
       and (not :isPix or (not p.on_hold and not coalesce(s.payments_blocked or s.status = 'archived', false)
         and (i.pix_code is not null or coalesce(d.usable_from <= now(), false))))
       and not exists (select from payable_payment_item x where x.tenant_id = i.tenant_id and x.installment_id = i.id and x.status in ('queued', 'sending'))
     order by i.due_on, i.id limit 500`,
    {
      tenantId: contextOf(trx).tenantId,
      bookId: book.id,
      propertyIds,
      dueUntil,
      supplierIds: supplierIds ?? null,
      propertyId: propertyId ?? null,
      isPix,
    },
  )

const advanceOf = async (
  trx: Trx,
  given: GivenItem,
  book: BookFacts,
  features: readonly string[],
  index: number,
): Promise<{ item: ChosenItem; isBlocked: boolean }> => {
  const { payee, terms } = await namePayee(trx, given.advance ?? {}, { features, countryCode: book.countryCode })
  if (given.principal === undefined)
    throw invalid([{ field: `items.${index}.principal`, message: 'is required for an advance' }])
  const details = await sqlOne<{ id: string; usable: boolean }>(
    trx,
    `select d.id, d.usable_from <= now() as usable from supplier s cross join lateral ${detailsInUse('s', 's.id')} d
     where s.tenant_id = ? and s.id = cast(? as uuid)`,
    [contextOf(trx).tenantId, payee.supplierId],
  )
  const orderId = given.advance?.purchaseOrderId ?? null
  const [order] = await sql<{ supplierId: string }>(
    trx,
    `select supplier_id from purchase_order where tenant_id = ? and id = cast(? as uuid)`,
    [contextOf(trx).tenantId, orderId],
  )
  if (orderId !== null && order?.supplierId !== payee.supplierId)
    throw unprocessable(order ? 'payee_mismatch' : 'reference_not_found', 'The order is none of the supplier', [
      { field: `items.${index}.advance.purchaseOrderId`, message: 'is no order of the payee' },
    ])
  return {
    item: {
      ...payee,
      payableId: null,
      installmentId: null,
      purchaseOrderId: orderId,
      propertyId: null,
      principal: given.principal,
      interest: 0,
      fine: 0,
      discount: 0,
      destination: details?.usable ? `bank:${details.id}` : null,
    },
    isBlocked: terms.paymentsBlocked,
  }
}

/**
 * The items of a payment in few statements, with those that cannot be paid so. 400 for what is no item; 404-like 422 `reference_not_found` for installments that
 * there are not.
 */
export const chooseItems = async (
  trx: Trx,
  given: { items?: readonly GivenItem[] | undefined; select?: Selection | undefined },
  choosing: Choosing,
): Promise<{ items: ChosenItem[]; refusals: Refusal[] }> => {
  const { book, isPix, features } = choosing
  if (given.select) {
    const rows = await selected(trx, given.select, choosing)
    const held = choosing.lock
      ? await rowsOf(
          trx,
          rows.map((row) => row.installmentId),
          choosing,
        )
      : rows
    const byId = new Map(held.map((row) => [row.installmentId, row]))
    const items = rows.flatMap(({ installmentId }) => {
      const row = byId.get(installmentId)
      if (!row || row.open === 0 || row.inPayment) return []
      // A Pix code says its amount: it pays no rest of one.
      return isPix && (amountOfCode(row) ?? row.open) !== row.open ? [] : [itemOf(row, {})]
    })
    return { items, refusals: [] }
  }
  const wanted = given.items ?? []
  const ids = wanted.flatMap(({ installmentId }) => installmentId ?? [])
  const rows = await rowsOf(trx, ids, choosing)
  const byId = new Map(rows.map((row) => [row.installmentId, row]))
  const unknown: FieldError[] = []
  const items: ChosenItem[] = []
  const refusals: Refusal[] = []
  const used = new Set<string>()
  for (const [index, one] of wanted.entries()) {
    if ((one.installmentId === undefined) === (one.advance === undefined))
      throw invalid([
        { field: `items.${index}.installmentId`, message: 'exactly one of installmentId and advance is given' },
      ])
    if (one.advance) {
      if (one.interest || one.fine || one.discount)
        throw invalid([{ field: `items.${index}`, message: 'an advance has a principal alone' }])
      const { item, isBlocked } = await advanceOf(trx, one, book, features, index)
      items.push(item)
      if (isPix && isBlocked) refusals.push({ index, ...paymentsBlocked })
      if (isPix && item.destination === null)
        refusals.push({ index, code: 'no_destination', message: 'there are no usable bank details' })
      continue
    }
    const row = byId.get(one.installmentId ?? '')
    if (!row || row.bookId !== book.id) {
      unknown.push({ field: `items.${index}.installmentId`, message: row ? 'is of another book' : 'does not exist' })
      continue
    }
    if (used.has(row.installmentId)) throw invalid([{ field: `items.${index}.installmentId`, message: 'stands twice' }])
    used.add(row.installmentId)
    const item = itemOf(row, one)
    items.push(item)
    if (item.principal <= 0 || item.principal > row.open)
      refusals.push({ index, code: 'amount_exceeds_open', message: `${row.open} is open` })
    else if (item.principal + item.interest + item.fine - item.discount < 0)
      throw invalid([{ field: `items.${index}.discount`, message: 'must not be more than all else' }])
    if (isPix && item.principal + item.interest + item.fine === item.discount)
      refusals.push({ index, code: 'nothing_to_send', message: 'nothing is left to send; record it as paid by hand' })
    if (row.inPayment) refusals.push({ index, code: 'installment_in_payment', message: 'a payment of it is under way' })
    const said = isPix ? amountOfCode(row) : null
    if (said !== null && said !== item.principal + item.interest + item.fine - item.discount)
      refusals.push({ index, code: 'pix_code_amount', message: `the Pix code says ${said}` })
    const blocked = isPix
      ? pixRefusals(row)
      : ['approved', 'partly_paid', 'paid'].includes(row.status)
        ? []
        : [{ code: 'payable_not_approved', message: 'the bill is not approved' }]
    refusals.push(...blocked.map((problem) => ({ index, ...problem })))
  }
  if (unknown.length > 0) throw unprocessable('reference_not_found', 'An installment does not exist', unknown)
  return { items, refusals }
}
