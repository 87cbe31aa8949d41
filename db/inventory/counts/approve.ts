import { randomUUID } from 'node:crypto'
import { conflict, notFound, unprocessable } from '../../../config/errors.ts'
import { countApproved, countCancelled } from '../../../config/events/inventory.ts'
import { approverOf } from '../../lib/authors.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import { changeRow, expression } from '../../lib/records.ts'
import { businessDay } from '../../financial/index.ts'
import type { InventoryCountLineRow, InventoryCountRow } from '../../rows.ts'
import { holdItems } from '../items/facts.ts'
import type { ItemFacts } from '../items/facts.ts'
import { InventoryCount } from '../models.ts'
import { atCost, take } from '../rules/average.ts'
import { decimalOf } from '../rules/quantity.ts'
import { absorbShortages, requestSettling, settleShortages } from '../shortages.ts'
import { holdStock } from '../stock/hold.ts'
import type { Held, Shelf } from '../stock/hold.ts'
import { postStock } from '../stock/post.ts'
import { writeMovement } from '../stock/write.ts'
import type { Line } from '../stock/write.ts'
import { putLine } from '../movements/record.ts'
import { countStates, lockCount } from './enter.ts'

type Counted = InventoryCountLineRow & { counted: number }

const tell = (trx: Trx, event: typeof countApproved, count: InventoryCountRow, version: number) =>
  emit(trx, event, {
    propertyId: count.propertyId,
    id: count.id,
    version,
    data: { inventoryCountId: count.id, inventoryLocationId: count.locationId },
  })

const linesOf = async (trx: Trx, countId: string): Promise<Counted[]> => {
  const lines = await sql<InventoryCountLineRow & { sku: string }>(
    trx,
    `select l.*, i.sku from inventory_count_line l join inventory_item i on i.tenant_id = l.tenant_id and i.id = l.item_id where l.count_id = ? order by l.item_id`,
    [countId],
  )
  const left = lines.filter(({ counted }) => counted === null)
  if (left.length > 0)
    throw unprocessable(
      'count_incomplete',
      'Not every line is counted',
      left.slice(0, 50).map(({ sku }) => ({ field: 'lines', message: `${sku} is not counted` })),
    )
  return lines.map((line) => ({ ...line, counted: line.counted ?? 0 }))
}

/** Value of a gain: at the average, else the last cost, else the reference cost; null where there is none of these (R16). */
const gainOf = (held: Held, item: ItemFacts, quantity: number): number | null => {
  if (held.quantity > 0) return atCost(quantity, { value: held.value, of: held.quantity })
  if (held.lastCostValue !== null && held.lastCostQuantity !== null)
    return atCost(quantity, { value: held.lastCostValue, of: held.lastCostQuantity })
  if (item.referenceAmount !== null && item.referenceQuantity !== null)
    return atCost(quantity, { value: item.referenceAmount, of: item.referenceQuantity })
  return null
}

/** Lines of the count's movement, on the stock of now. 409 `recount_needed`; 422 `cost_unknown`. */
const bookedOf = (counted: readonly Counted[], shelf: Shelf, items: ReadonlyMap<string, ItemFacts>): Line[] => {
  const differing = counted.filter((line) => line.counted !== line.expected)
  const short = differing.filter((line) => line.expected - line.counted > shelf.at(line).quantity)
  if (short.length > 0)
    throw conflict(
      'recount_needed',
      'More is missing by the count than there is now; count these lines again',
      short.slice(0, 50).map((line) => ({
        field: 'lines',
        message: `${items.get(line.itemId)?.sku ?? line.itemId}: ${decimalOf(line.expected - line.counted)} missing, ${decimalOf(shelf.at(line).quantity)} there`,
      })),
    )
  const booked = differing.map((line) => {
    const spot = { itemId: line.itemId, locationId: line.locationId }
    const held = shelf.at(spot)
    const quantity = line.counted - line.expected
    if (quantity < 0) return { ...spot, quantity, value: 0 - take(held, -quantity) }
    const item = items.get(line.itemId)
    const value = item ? gainOf(held, item, quantity) : null
    const gain = { ...spot, quantity, value: value ?? 0 }
    putLine(shelf, gain)
    return value === null ? { ...gain, unknown: item?.sku ?? line.itemId } : gain
  })
  const unknown = booked.flatMap((line) => ('unknown' in line ? [line.unknown] : []))
  if (unknown.length > 0)
    throw unprocessable(
      'cost_unknown',
      'There is more than expected of items that have no cost yet; give them a reference cost',
      unknown.slice(0, 50).map((sku) => ({ field: 'lines', message: `${sku} has no cost` })),
    )
  return booked
}

type Approving = { note?: string | undefined; isOwner: boolean; expectedVersion: number | null }

/**
 * Approves a count and books its differences on the stock of now (R16). A count that is approved stays as it is. 403 `self_approval` for a person who counted
 * a line, owners excepted; 422 `count_incomplete`, `cost_unknown`; 409 `recount_needed`.
 */
export const approveCount = async (
  trx: Trx,
  id: string,
  { note, isOwner, expectedVersion }: Approving,
): Promise<void> => {
  const seen = await sqlOne<{ propertyId: string }>(trx, `select property_id from inventory_count where id = ?`, [id])
  if (!seen) throw notFound()
  const today = await businessDay(trx, seen.propertyId)
  const count = await lockCount(trx, id, expectedVersion)
  if (!countStates.isDue('approved', count.status)) return
  const counters = await sql<{ userId: string }>(
    trx,
    `select user_id from inventory_count_counter where count_id = ?`,
    [id],
  )
  const approval = approverOf(trx, { authors: counters.map(({ userId }) => userId), singleOperator: isOwner })
  const counted = await linesOf(trx, id)
  const items = await holdItems(
    trx,
    counted.map(({ itemId }) => itemId),
  )
  const shelf = await holdStock(trx, counted)
  const lines = bookedOf(counted, shelf, items)
  const movementId = lines.length === 0 ? null : randomUUID()
  if (movementId)
    await writeMovement(
      trx,
      { id: movementId, kind: 'count', propertyId: count.propertyId, occurredOn: today, source: { type: 'count', id } },
      lines,
      { shelf, items },
    )
  await absorbShortages(trx, counted)
  await closeLines(trx, id, lines, today)
  const version = await changeRow(trx, InventoryCount, id, {
    status: 'approved',
    ...approval,
    movementId,
    approvalNote: note ?? '',
    closedAt: expression('now()'),
  })
  await tell(trx, countApproved, count, version)
  if (movementId) await postCounted(trx, { count, movementId, today }, items, lines)
  // A gain that was sold before it was booked left a shortage; its goods are there now.
  await settleShortages(trx, { shelf, items, spots: lines.filter(({ quantity }) => quantity > 0) })
}

const closeLines = async (trx: Trx, id: string, lines: readonly Line[], today: string): Promise<void> => {
  await sql(
    trx,
    `update inventory_count_line l set open = false, value = coalesce((select b.value from jsonb_to_recordset(?::jsonb) as b ("itemId" uuid, value bigint)
       where b."itemId" = l.item_id), 0) where l.count_id = ?`,
    [JSON.stringify(lines.map(({ itemId, value }) => ({ itemId, value }))), id],
  )
  await sql(
    trx,
    `update inventory_stock s set last_counted_at = greatest(s.last_counted_at, l.counted_at), last_counted_on = ?
     from inventory_count_line l where l.count_id = ? and s.location_id = l.location_id and s.item_id = l.item_id`,
    [today, id],
  )
}

/** Positive amounts are losses. */
const postCounted = async (
  trx: Trx,
  { count, movementId, today }: { count: InventoryCountRow; movementId: string; today: string },
  items: ReadonlyMap<string, ItemFacts>,
  lines: readonly Line[],
): Promise<void> => {
  const book = await sqlOne<{ bookId: string }>(trx, `select book_id from property where id = ?`, [count.propertyId])
  await postStock(
    trx,
    'inventory.stock_counted',
    { propertyId: count.propertyId, bookId: book?.bookId ?? '', movementId, occurredOn: today },
    items,
    lines.map(({ itemId, value }) => ({ itemId, value: 0 - value })),
  )
}

/** Cancels a count: nothing is booked, and its items may be counted anew. */
export const cancelCount = async (trx: Trx, id: string, expectedVersion: number | null): Promise<void> => {
  const count = await lockCount(trx, id, expectedVersion)
  if (!countStates.isDue('cancelled', count.status)) return
  await sql(trx, `update inventory_count_line set open = false where count_id = ?`, [id])
  await requestSettling(trx, id)
  const version = await changeRow(trx, InventoryCount, id, { status: 'cancelled', closedAt: expression('now()') })
  await tell(trx, countCancelled, count, version)
}
