import { randomUUID } from 'node:crypto'
import { conflict, notFound, unprocessable, versionConflict } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow } from '../../lib/records.ts'
import { businessDay } from '../../financial/index.ts'
import type { InventoryMovementLineRow, InventoryMovementRow } from '../../rows.ts'
import { endConsumption, lockConsumptionOf } from '../consumption/reverse.ts'
import type { HeldConsumption } from '../consumption/reverse.ts'
import { holdItems } from '../items/facts.ts'
import type { ItemFacts } from '../items/facts.ts'
import { InventoryMovement } from '../models.ts'
import { take } from '../rules/average.ts'
import { decimalOf } from '../rules/quantity.ts'
import { settleShortages } from '../shortages.ts'
import { holdStock } from '../stock/hold.ts'
import type { Shelf } from '../stock/hold.ts'
import { postAdjusted, postProduced, postStock, postUse } from '../stock/post.ts'
import type { PostedAt } from '../stock/post.ts'
import { writeMovement } from '../stock/write.ts'
import type { Line } from '../stock/write.ts'
import { giveBackReceived } from './ordered.ts'
import { postSides, putLine } from './record.ts'

type Original = Pick<
  InventoryMovementLineRow,
  'itemId' | 'locationId' | 'quantity' | 'value' | 'enteredQuantity' | 'enteredMeasure' | 'purchaseOrderLineId'
>

const reversible = new Set(['opening', 'receipt', 'transfer', 'production', 'consumption'])

const lockMovement = async (trx: Trx, id: string): Promise<InventoryMovementRow> => {
  const row = await sqlOne<InventoryMovementRow>(
    trx,
    `select * from inventory_movement where id = ? for no key update`,
    [id],
  )
  if (!row) throw notFound()
  return row
}

/** Business days of all properties that a movement touches, by id, before all other locks. Answers the earliest. */
const holdDays = async (trx: Trx, movementId: string, propertyId: string): Promise<string> => {
  const touched = await sql<{ propertyId: string }>(
    trx,
    `select distinct p.property_id from inventory_movement_line l join inventory_location p on p.tenant_id = l.tenant_id and p.id = l.location_id
     where l.movement_id = ?`,
    [movementId],
  )
  const days = []
  for (const id of [...new Set([propertyId, ...touched.map((one) => one.propertyId)])].toSorted())
    days.push(await businessDay(trx, id))
  return days.toSorted()[0] ?? ''
}

/**
 * Reverses a movement on the business date at the value that it had (R12). A movement that is reversed stays as it is. 409 `invalid_transition` for a
 * reversal, a count or a shortage; 422 `insufficient_stock`, and `in_use` for the use of an order, which the order takes back, and for a receipt that is billed.
 */
export const reverseMovement = async (
  trx: Trx,
  id: string,
  { reason, expectedVersion = null }: { reason: string; expectedVersion?: number | null },
): Promise<void> => {
  const seen = await sqlOne<Pick<InventoryMovementRow, 'kind' | 'propertyId' | 'purchaseOrderId' | 'status'>>(
    trx,
    `select kind, property_id, purchase_order_id, status from inventory_movement where id = ?`,
    [id],
  )
  if (!seen) throw notFound()
  const today = await holdDays(trx, id, seen.propertyId)
  if (seen.kind === 'receipt' && seen.status === 'posted')
    await giveBackReceived(trx, id, seen.purchaseOrderId !== null)
  const movement = await lockMovement(trx, id)
  if (expectedVersion !== null && movement.version !== expectedVersion) throw versionConflict(movement.version)
  if (movement.status === 'reversed') return
  if (!reversible.has(movement.kind))
    throw conflict('invalid_transition', `A movement of kind ${movement.kind} cannot be reversed`, [
      { field: 'kind', message: `must be ${[...reversible].join(', ')}` },
    ])
  const consumption = movement.kind === 'consumption' ? await lockConsumptionOf(trx, id) : null
  if (consumption?.orderId)
    throw unprocessable('in_use', 'The use of an order is taken back with the order', [
      { field: 'orderId', message: consumption.orderId },
    ])
  await takeBack(trx, movement, { today, reason, consumption })
}

type Back = { today: string; reason: string; consumption: HeldConsumption | null }

/** Takes a locked movement back, with the shortages of its consumption that were settled meanwhile. */
export const takeBack = async (
  trx: Trx,
  movement: InventoryMovementRow,
  { today, reason, consumption }: Back,
): Promise<void> => {
  const originals = [
    ...(await sql<Original>(
      trx,
      `select item_id, location_id, quantity, value, entered_quantity, entered_measure, purchase_order_line_id
       from inventory_movement_line where movement_id = ? order by position desc`,
      [movement.id],
    )),
    ...(consumption?.settled ?? []),
  ]
  const items = await holdItems(
    trx,
    originals.map(({ itemId }) => itemId),
  )
  const shelf = await holdStock(trx, originals)
  // The goods of an order have come back, wherever they stand now.
  if (!consumption?.orderId) await refuseArchived(trx, originals)
  // Under the locks of the stock no more of it is settled.
  const settled = consumption ? await endConsumption(trx, consumption) : []
  const { lines, posted, differences } = turned(shelf, items, [
    ...originals.filter((one) => !('isSettled' in one)),
    ...settled,
  ])
  const id = randomUUID()
  await writeMovement(
    trx,
    {
      id,
      kind: 'reversal',
      propertyId: movement.propertyId,
      occurredOn: today,
      note: reason,
      reversesId: movement.id,
      source: { type: 'reversal', id: movement.id },
    },
    lines,
    { shelf, items },
  )
  await changeRow(trx, InventoryMovement, movement.id, { status: 'reversed', reversalReason: reason })
  await postBack(trx, { movement, id, today, consumption }, items, posted, differences)
  await settleShortages(trx, { shelf, items, spots: lines.filter(({ quantity }) => quantity > 0) })
}

/** Refuses goods that would come back to an item or a location that was archived since, which has no stock. 422 `in_use`. */
const refuseArchived = async (trx: Trx, originals: readonly Original[]): Promise<void> => {
  const back = originals.filter(({ quantity }) => quantity < 0)
  const gone = await sql<{ code: string }>(
    trx,
    `select sku as code from inventory_item where id = any(?::uuid[]) and status = 'archived'
     union all select code from inventory_location where id = any(?::uuid[]) and status = 'archived' order by 1 limit 50`,
    [back.map(({ itemId }) => itemId), back.map(({ locationId }) => locationId)],
  )
  if (gone.length > 0)
    throw unprocessable(
      'in_use',
      'Stock comes back to active items and locations alone',
      gone.map(({ code }) => ({ field: 'lines', message: `${code} is archived` })),
    )
}

type Difference = { itemId: string; locationId: string; value: number }

/** The lines of a reversal, the same at the values that they came with, and the differences between the two. */
const turned = (
  shelf: Shelf,
  items: ReadonlyMap<string, ItemFacts>,
  originals: readonly Original[],
): { lines: Line[]; posted: Line[]; differences: Difference[] } => {
  const errors: FieldError[] = []
  const differences: Difference[] = []
  const lines = originals.map((one): Line => {
    const common = {
      itemId: one.itemId,
      locationId: one.locationId,
      entered: one.enteredQuantity,
      measure: one.enteredMeasure,
      purchaseOrderLineId: one.purchaseOrderLineId,
    }
    if (one.quantity < 0) {
      const line = { ...common, quantity: -one.quantity, value: 0 - one.value }
      putLine(shelf, line)
      return line
    }
    const held = shelf.at(one)
    if (held.quantity < one.quantity) {
      const item = items.get(one.itemId)
      errors.push({
        field: 'lines',
        message: `${item?.sku ?? one.itemId}: ${decimalOf(one.quantity)} ${item?.base ?? ''} came, ${decimalOf(held.quantity)} are left`,
      })
      return { ...common, quantity: -one.quantity, value: 0 - one.value }
    }
    const value = leave(held, one)
    if (value !== one.value)
      differences.push({ itemId: one.itemId, locationId: one.locationId, value: value - one.value })
    return { ...common, quantity: -one.quantity, value: 0 - value }
  })
  if (errors.length > 0)
    throw unprocessable('insufficient_stock', 'Not all of it is there any more', errors.slice(0, 50))
  const posted = lines.map((line, index) => ({ ...line, value: 0 - (originals[index]?.value ?? 0) }))
  return { lines, posted, differences }
}

/** Takes off what had come, at its own value where that leaves neither value without quantity nor less than nothing. */
const leave = (held: { quantity: number; value: number }, one: { quantity: number; value: number }): number => {
  const left = held.value - one.value
  if (left < 0 || (held.quantity === one.quantity && left !== 0)) return take(held, one.quantity)
  held.quantity -= one.quantity
  held.value = left
  return one.value
}

type Posted = { movement: InventoryMovementRow; id: string; today: string; consumption: HeldConsumption | null }

/** Posts at the value that had come, and what differs as variance, so that the accounts against the stock come to zero. */
const postBack = async (
  trx: Trx,
  { movement, id, today, consumption }: Posted,
  items: ReadonlyMap<string, ItemFacts>,
  original: readonly Line[],
  differences: readonly Difference[],
): Promise<void> => {
  const places = await placesOf(trx, movement.propertyId, original)
  const at = (propertyId: string): PostedAt => ({
    propertyId,
    bookId: places.books.get(propertyId) ?? '',
    movementId: id,
    occurredOn: today,
  })
  const here = at(movement.propertyId)
  const changed = differences.map((one) => ({
    ...one,
    propertyId: places.of.get(one.locationId) ?? movement.propertyId,
  }))
  const used = original.map(({ itemId, value }) => ({ itemId, value: 0 - value }))
  if (movement.kind === 'opening')
    await postStock(
      trx,
      'inventory.stock_opened',
      here,
      items,
      used.map(({ itemId, value }) => ({ itemId, value: 0 - value })),
    )
  if (movement.kind === 'receipt') await postStock(trx, 'inventory.goods_received_reversed', here, items, used)
  if (movement.kind === 'production')
    await postProduced(trx, here, items, {
      inputs: original.filter(({ quantity }) => quantity < 0).map((one) => ({ ...one, value: 0 - one.value })),
      outputs: original.filter(({ quantity }) => quantity > 0),
    })
  if (movement.kind === 'transfer') await postTransferBack(trx, { original, places, id, today }, items)
  if (consumption?.kind === 'waste') await postStock(trx, 'inventory.stock_wasted', here, items, used)
  else if (consumption)
    await postUse(trx, here, items, used, {
      consumption: consumption.kind,
      ...(consumption.outletId ? { outletId: consumption.outletId } : {}),
      costCenterId: consumption.costCenterId,
    })
  for (const propertyId of new Set(changed.map((one) => one.propertyId)))
    await postAdjusted(
      trx,
      at(propertyId),
      items,
      changed.filter((one) => one.propertyId === propertyId),
    )
}

type Places = { of: Map<string, string>; books: Map<string, string> }

const placesOf = async (trx: Trx, propertyId: string, lines: readonly Line[]): Promise<Places> => {
  const rows = await sql<{ id: string | null; propertyId: string; bookId: string }>(
    trx,
    `select l.id, p.id as property_id, p.book_id from property p
     left join inventory_location l on l.tenant_id = p.tenant_id and l.property_id = p.id and l.id = any(?::uuid[])
     where p.id = ? or l.id is not null`,
    [lines.map(({ locationId }) => locationId), propertyId],
  )
  return {
    of: new Map(rows.flatMap((row) => (row.id === null ? [] : [[row.id, row.propertyId]]))),
    books: new Map(rows.map((row) => [row.propertyId, row.bookId])),
  }
}

/** Back from where it went: the property that received sends. */
const postTransferBack = async (
  trx: Trx,
  { original, places, id, today }: { original: readonly Line[]; places: Places; id: string; today: string },
  items: ReadonlyMap<string, ItemFacts>,
): Promise<void> => {
  const sideOf = (locationId: string | undefined) => {
    const propertyId = places.of.get(locationId ?? '') ?? ''
    return { id: locationId ?? '', propertyId, bookId: places.books.get(propertyId) ?? '', code: '', currency: '' }
  }
  const from = sideOf(original.find(({ quantity }) => quantity < 0)?.locationId)
  const to = sideOf(original.find(({ quantity }) => quantity > 0)?.locationId)
  await postSides(trx, { from, to, movementId: id, occurredOn: today }, items, original)
}
