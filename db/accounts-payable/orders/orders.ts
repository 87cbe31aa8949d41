import { randomUUID } from 'node:crypto'
import { conflict, forbidden, invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import {
  purchaseOrderApproved,
  purchaseOrderCancelled,
  purchaseOrderClosed,
} from '../../../config/events/accounts-payable.ts'
import { bookOf, takeNumber } from '../../documents/index.ts'
import { judgeLines, refuseProblems } from '../../financial/index.ts'
import { approverOf, authorOf, editorsWith } from '../../lib/authors.ts'
import { always } from '../../lib/conditions.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow, expression, insertRow, insertRows } from '../../lib/records.ts'
import { PurchaseOrder, PurchaseOrderLine } from '../models.ts'
import { nameSupplier } from '../payee.ts'
import { bandOf, policyOf } from '../policy.ts'
import { stock } from '../stock.ts'
import { freezeMeasures, measuresOf } from './measures.ts'
import { sendOrder } from './send.ts'
import { lockOrder, orderMoves, tellOrder } from './state.ts'

export type GivenOrderLine = {
  inventoryItemId?: string | undefined
  measure?: string | undefined
  description?: string | undefined
  accountId?: string | undefined
  quantity: string
  unitPrice: number
}
export type NewOrder = {
  supplierId: string
  propertyId: string
  locationId?: string | null | undefined
  expectedOn?: string | null | undefined
  lines: readonly GivenOrderLine[]
  notes?: string | undefined
}
type LineKept = Omit<GivenOrderLine, 'description'> & {
  description: string
  numerator: string
  denominator: string
  amount: number
}

const most = 10_000_000_000_000

const totalOf = (lines: readonly LineKept[]) => lines.reduce((total, { amount }) => total + amount, 0)

/** `quantity × unitPrice`, half-up to the minor unit; a quantity has up to 4 places. */
const amountOf = ({ quantity, unitPrice }: GivenOrderLine): number => {
  const [whole = '0', part = ''] = quantity.split('.')
  const scaled = BigInt(whole + part.padEnd(4, '0')) * BigInt(unitPrice)
  return Number((2n * scaled + 10_000n) / 20_000n)
}

type Place = { propertyId: string; locationId?: string | null | undefined }

/** Refuses a location that is none of the property, and an order of stock without one. */
const judgePlace = async (trx: Trx, { propertyId, locationId }: Place, isStock: boolean): Promise<void> => {
  if (isStock && !locationId) throw invalid([{ field: 'locationId', message: 'is required where stock is ordered' }])
  if (locationId && !(await stock().hasLocation(trx, { locationId, propertyId })))
    throw unprocessable('reference_not_found', 'There is no such location', [
      { field: 'locationId', message: 'is no location of the property' },
    ])
}

const judge = async (
  trx: Trx,
  bookId: string,
  given: Pick<NewOrder, 'lines' | 'propertyId' | 'locationId'>,
  features: readonly string[],
): Promise<LineKept[]> => {
  const kept: LineKept[] = []
  const unknown: FieldError[] = []
  const isStock = given.lines.some(({ inventoryItemId }) => inventoryItemId)
  if (isStock && !features.includes('pos'))
    throw forbidden('feature_not_enabled', 'The feature is not active for this tenant', [
      { field: 'feature', message: 'pos' },
    ])
  await judgePlace(trx, given, isStock)
  const measures = await measuresOf(trx, given.lines)
  for (const [index, line] of given.lines.entries()) {
    const { inventoryItemId, description, accountId } = line
    if ((inventoryItemId === undefined) === (accountId === undefined))
      throw invalid([
        { field: `lines.${index}.accountId`, message: 'exactly one of inventoryItemId and accountId is given' },
      ])
    const amount = amountOf(line)
    if (inventoryItemId === undefined) {
      if (!description)
        throw invalid([{ field: `lines.${index}.description`, message: 'is required beside accountId' }])
      kept.push({ ...line, description, amount, numerator: '1', denominator: '1' })
      continue
    }
    const found = measures[index]
    if (!found) unknown.push({ field: `lines.${index}.measure`, message: 'is no measure of an item of stock' })
    else kept.push({ ...line, amount, description: description ?? found.name, ...found })
  }
  if (unknown.length > 0) throw unprocessable('measure_unknown', 'An item or its measure does not exist', unknown)
  const accounts = kept.flatMap(({ accountId, amount }) =>
    accountId ? [{ accountId, debit: Math.max(amount, 1) }] : [],
  )
  refuseProblems((await judgeLines(trx, bookId, accounts, always)).problems)
  const total = totalOf(kept)
  if (total > most)
    throw unprocessable('total_too_large', 'The order is too large', [
      { field: 'lines', message: `add up to more than ${most}` },
    ])
  return kept
}

const writeLines = async (trx: Trx, orderId: string, lines: readonly LineKept[]): Promise<void> => {
  await sql(trx, `delete from purchase_order_line where tenant_id = ? and purchase_order_id = ?`, [
    contextOf(trx).tenantId,
    orderId,
  ])
  await insertRows(
    trx,
    PurchaseOrderLine,
    lines.map((line, index) => ({
      purchaseOrderId: orderId,
      lineNo: index + 1,
      inventoryItemId: line.inventoryItemId ?? null,
      measure: line.inventoryItemId ? (line.measure ?? null) : null,
      numerator: line.numerator,
      denominator: line.denominator,
      description: line.description,
      accountId: line.accountId ?? null,
      entered: line.quantity,
      quantity: line.quantity,
      unitPrice: line.unitPrice,
      amount: line.amount,
    })),
  )
  await sql(
    trx,
    `update purchase_order_line set quantity = round(entered * numerator / denominator, 6) where tenant_id = ? and purchase_order_id = ?`,
    [contextOf(trx).tenantId, orderId],
  )
}

/** Drafts an order. 409 `supplier_archived`; 422 `reference_not_found`, `measure_unknown`, `account_not_usable`, `total_too_large`. */
export const createOrder = async (
  trx: Trx,
  given: NewOrder,
  { features }: { features: readonly string[] },
): Promise<string> => {
  const book = await bookOf(trx, { propertyId: given.propertyId })
  await nameSupplier(trx, given.supplierId)
  const lines = await judge(trx, book.id, given, features)
  const id = randomUUID()
  const author = await authorOf(trx)
  await insertRow(trx, PurchaseOrder, {
    id,
    supplierId: given.supplierId,
    propertyId: given.propertyId,
    bookId: book.id,
    locationId: given.locationId ?? null,
    expectedOn: given.expectedOn ?? null,
    currency: book.currency,
    total: totalOf(lines),
    notes: given.notes ?? '',
    createdBy: author,
    editedBy: author,
  })
  await writeLines(trx, id, lines)
  return id
}

const ordersStock = async (trx: Trx, orderId: string): Promise<boolean> => {
  const [found] = await sql(
    trx,
    `select from purchase_order_line where tenant_id = ? and purchase_order_id = ? and inventory_item_id is not null limit 1`,
    [contextOf(trx).tenantId, orderId],
  )
  return found !== undefined
}

export type OrderChange = {
  locationId?: string | null | undefined
  expectedOn?: string | null | undefined
  lines?: readonly GivenOrderLine[] | undefined
  notes?: string | undefined
}

/** Changes a draft; after that only `expectedOn` and `notes`. 409 `invalid_transition`. */
export const changeOrder = async (
  trx: Trx,
  id: string,
  change: OrderChange,
  { features, expectedVersion }: { features: readonly string[]; expectedVersion: number | null },
): Promise<void> => {
  const order = await lockOrder(trx, id, expectedVersion)
  orderMoves.allow('changed', order.status)
  const { lines: wanted, locationId, ...rest } = change
  if (order.status !== 'draft') {
    const wrong = ['lines', 'locationId'].filter((field) => field in change)
    if (wrong.length > 0)
      throw conflict(
        'invalid_transition',
        'After approval only the expected day and the notes change',
        wrong.map((field) => ({ field, message: 'does not change any more' })),
      )
    await changeRow(trx, PurchaseOrder, id, rest)
    return
  }
  const place = { propertyId: order.propertyId, locationId: locationId === undefined ? order.locationId : locationId }
  const lines = wanted ? await judge(trx, order.bookId, { ...place, lines: wanted }, features) : null
  if (lines) await writeLines(trx, id, lines)
  else if (locationId !== undefined) await judgePlace(trx, place, await ordersStock(trx, id))
  const author = await authorOf(trx)
  await changeRow(trx, PurchaseOrder, id, {
    ...rest,
    locationId,
    ...(lines ? { total: totalOf(lines) } : {}),
    editedBy: author,
    editors: editorsWith(order, author),
  })
}

/** Approves an order and gives it its number (G24). 403 `self_approval`, `forbidden` for roles that are not of its band; 422 `measure_unknown`. `notify` mails it to the supplier. */
export const approveOrder = async (
  trx: Trx,
  id: string,
  { role, expectedVersion, notify }: { role: string | null; expectedVersion: number | null; notify: boolean },
): Promise<void> => {
  const order = await lockOrder(trx, id, expectedVersion)
  if (order.status === 'partly_received' || order.status === 'received') return
  if (!orderMoves.isDue('approved', order.status)) return
  const book = await bookOf(trx, { bookId: order.bookId })
  const authors = [order.createdBy, order.editedBy, ...order.editors]
  const { approvedBy, selfApproved } = approverOf(trx, { authors, singleOperator: book.singleOperator })
  const band = bandOf(await policyOf(trx, book.id), order.total)
  if (role === null || (band.roles.length > 0 && !band.roles.includes(role)))
    throw forbidden('forbidden', 'Your role does not approve orders of this size')
  await freezeMeasures(trx, id)
  const { number } = await takeNumber(trx, { bookId: book.id, kind: 'purchase_order' })
  const version = await changeRow(trx, PurchaseOrder, id, {
    number,
    status: 'approved',
    approvedBy,
    selfApproved,
    approvedAt: expression('now()'),
  })
  await tellOrder(trx, purchaseOrderApproved, { ...order, number }, version)
  if (notify) await sendOrder(trx, { ...order, number })
}

/** Cancels an order of which nothing came and nothing was billed, or closes what will not come. */
export const closeOrder = async (trx: Trx, id: string, reason: string, expected: number | null): Promise<void> => {
  const order = await lockOrder(trx, id, expected)
  if (order.status === 'cancelled' || order.status === 'closed') return
  const [used] = await sql<{ used: boolean }>(
    trx,
    `select bool_or(received > 0 or billed > 0) as used from purchase_order_line where tenant_id = ? and purchase_order_id = ?`,
    [contextOf(trx).tenantId, id],
  )
  const isCancelled = order.status === 'draft' || !used?.used
  if (!orderMoves.isDue(isCancelled ? 'cancelled' : 'closed', order.status)) return
  const version = await changeRow(trx, PurchaseOrder, id, {
    status: isCancelled ? 'cancelled' : 'closed',
    closeReason: reason,
  })
  await tellOrder(trx, isCancelled ? purchaseOrderCancelled : purchaseOrderClosed, order, version)
}
