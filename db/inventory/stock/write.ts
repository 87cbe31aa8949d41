import { randomUUID } from 'node:crypto'
import { stockMoved, stockRunLow } from '../../../config/events/inventory.ts'
import type { MovementKind } from '../../../config/inventory.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emitAll } from '../../lib/events.ts'
import { rowsPart, writeTogether } from '../../lib/records.ts'
import type { Part } from '../../lib/records.ts'
import type { ItemFacts } from '../items/facts.ts'
import { InventoryMovement, InventoryMovementLine } from '../models.ts'
import { decimalOf } from '../rules/quantity.ts'
import type { Held, Shelf, Spot } from './hold.ts'

/** A line of a movement as it moves the stock: ten-thousandths of the base, and minor units, both with their sign. */
export type Line = Spot & {
  quantity: number
  value: number
  /** As a person wrote it; in the base unless said. */
  entered?: number
  measure?: string
  /** The id, where something names the line before it is written. */
  id?: string
  purchaseOrderLineId?: string | null
}

export type Head = {
  id?: string
  kind: MovementKind
  propertyId: string
  occurredOn: string
  reference?: string | null
  note?: string | null
  supplierId?: string | null
  purchaseOrderId?: string | null
  recipeVersionId?: string | null
  reversesId?: string | null
  /** No two movements have the same; the movement itself where nothing else is its source. */
  source?: { type: string; id: string }
  /** The person who moves the stock, where the command has asked for it: `moverOf`. */
  createdBy?: string | null
}

/** The person whom a movement names: the user, or the maker of the API key; null where the service moves the stock. */
export const moverOf = async (trx: Trx): Promise<string | null> => {
  const { type } = contextOf(trx).actor
  return type === 'user' || type === 'api_key' ? authorOf(trx) : null
}

export type Written = { id: string; lineIds: string[] }
type Around = { shelf: Shelf; items: ReadonlyMap<string, ItemFacts> }
/** A movement that is ready: its rows, which may go with others in one statement, and what comes after them. */
export type PlannedMovement = Written & { parts: (Part | null)[]; follow: () => Promise<unknown> }

/**
 * A movement whose lines have been taken from and put on the shelf in their order. The database adds the lines to the stock; nothing else changes it. Rows that
 * run below their minimum are told of.
 */
export const planMovement = (
  trx: Trx,
  { source, ...head }: Head & { createdBy: string | null },
  lines: readonly Line[],
  { shelf, items }: Around,
): PlannedMovement => {
  const id = head.id ?? randomUUID()
  const rows = lines.map((line, position) => {
    const held = shelf.at(line)
    held.lastSeq += 1
    return {
      id: line.id ?? randomUUID(),
      movementId: id,
      position,
      itemId: line.itemId,
      locationId: line.locationId,
      quantity: line.quantity,
      value: line.value,
      enteredQuantity: line.entered ?? Math.abs(line.quantity),
      enteredMeasure: line.measure ?? items.get(line.itemId)?.base ?? 'un',
      seq: held.lastSeq,
      occurredOn: head.occurredOn,
      purchaseOrderLineId: line.purchaseOrderLineId ?? null,
    }
  })
  const movement = { ...head, id, sourceType: source?.type ?? 'movement', sourceId: source?.id ?? id }
  return {
    id,
    lineIds: rows.map((row) => row.id),
    parts: [rowsPart(InventoryMovement, [movement]), rowsPart(InventoryMovementLine, rows)],
    follow: () =>
      Promise.all([
        noteLow(trx, [...new Set(lines.map((line) => shelf.at(line)))], items),
        tellMoved(trx, { id, kind: head.kind }, lines, { shelf, items }),
      ]),
  }
}

/** Writes the movement of `planMovement`, in one round trip. */
export const writeMovement = async (trx: Trx, head: Head, lines: readonly Line[], around: Around): Promise<Written> => {
  const createdBy = head.createdBy === undefined ? await moverOf(trx) : head.createdBy
  const { id, lineIds, parts, follow } = planMovement(trx, { ...head, createdBy }, lines, around)
  await Promise.all([writeTogether(trx, parts), follow()])
  return { id, lineIds }
}

const isLow = ({ quantity, minimum }: Held) => quantity < minimum

/** Sets and clears `lowSince` of rows as the lines have left them (R18). */
const noteLow = async (trx: Trx, touched: readonly Held[], items: ReadonlyMap<string, ItemFacts>): Promise<void> => {
  const turned = touched.filter((held) => isLow(held) !== (held.lowSince !== null))
  if (turned.length === 0) return
  const now = new Date()
  const fallen = turned.filter(isLow)
  for (const held of turned) held.lowSince = isLow(held) ? now : null
  await prepared(
    trx,
    `update inventory_stock s set low_since = case when t.low then now() end
     from jsonb_to_recordset(?::jsonb) as t ("locationId" uuid, "itemId" uuid, low boolean) where s.location_id = t."locationId" and s.item_id = t."itemId"`,
    [JSON.stringify(turned.map((held) => ({ locationId: held.locationId, itemId: held.itemId, low: isLow(held) })))],
  )
  await emitAll(
    trx,
    stockRunLow,
    fallen.map((held) => ({
      propertyId: held.propertyId,
      id: held.itemId,
      version: null,
      data: dataOf(held, held.quantity, items),
    })),
  )
}

const dataOf = ({ itemId, locationId }: Spot, quantity: number, items: ReadonlyMap<string, ItemFacts>) => ({
  inventoryItemId: itemId,
  inventoryLocationId: locationId,
  quantity: decimalOf(quantity),
  unit: items.get(itemId)?.base ?? ('un' as const),
})

/** One event for each item of each location; those of one location go together. */
const tellMoved = async (
  trx: Trx,
  { id, kind }: { id: string; kind: MovementKind },
  lines: readonly Line[],
  { shelf, items }: { shelf: Shelf; items: ReadonlyMap<string, ItemFacts> },
): Promise<void> => {
  const sums = new Map<string, Map<Held, number>>()
  for (const line of lines) {
    const held = shelf.at(line)
    const own = sums.get(line.locationId) ?? new Map<Held, number>()
    sums.set(line.locationId, own.set(held, (own.get(held) ?? 0) + line.quantity))
  }
  for (const own of sums.values())
    await emitAll(
      trx,
      stockMoved,
      [...own].map(([held, quantity]) => ({
        propertyId: held.propertyId,
        id: held.itemId,
        version: null,
        data: { ...dataOf(held, quantity, items), movementId: id, kind },
      })),
    )
}
