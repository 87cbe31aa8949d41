import { randomUUID } from 'node:crypto'
import { consumptionPosted, stockRunShort } from '../../../config/events/inventory.ts'
import type { consumptionKinds, WasteReason } from '../../../config/inventory.ts'
import { raisePostings } from '../../financial/index.ts'
import type { PropertyPosting } from '../../financial/index.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit, emitAll } from '../../lib/events.ts'
import { rowsPart, writeTogether } from '../../lib/records.ts'
import type { Part } from '../../lib/records.ts'
import type { ItemFacts } from '../items/facts.ts'
import { InventoryConsumption, InventoryConsumptionLine, InventoryShortage } from '../models.ts'
import { take } from '../rules/average.ts'
import type { Used } from '../rules/explode.ts'
import { decimalOf } from '../rules/quantity.ts'
import type { Shelf } from '../stock/hold.ts'
import { postingsOfUse } from '../stock/post.ts'
import { moverOf, planMovement } from '../stock/write.ts'
import type { Line } from '../stock/write.ts'

export type UseHead = {
  kind: (typeof consumptionKinds)[number]
  propertyId: string
  bookId: string
  businessDate: string
  /** No two consumptions have the same; the consumption itself where nothing else is its source. */
  source?: { type: string; id: string }
  locationId?: string | null
  outletId?: string | null
  orderId?: string | null
  reservationId?: string | null
  unitId?: string | null
  taskId?: string | null
  costCenterId?: string | null
  /** Of waste, and of nothing else. */
  reason?: WasteReason | null
  note?: string | null
}

type Held = { shelf: Shelf; items: ReadonlyMap<string, ItemFacts> }
type Taken = Used & { id: string; taken: number; value: number }

const linesOf = (consumptionId: string, taken: readonly Taken[]): (Part | null)[] => [
  rowsPart(
    InventoryConsumptionLine,
    taken.map(({ id, itemId, locationId, recipeVersionId, quantity, value, taken: there }, position) => ({
      id,
      consumptionId,
      position,
      itemId,
      locationId,
      recipeVersionId,
      quantity,
      value,
      shortQuantity: quantity - there,
    })),
  ),
  rowsPart(
    InventoryShortage,
    taken
      .filter((one) => one.taken < one.quantity)
      .map(({ id, itemId, locationId, quantity, taken: there }) => ({
        consumptionId,
        consumptionLineId: id,
        itemId,
        locationId,
        quantity: quantity - there,
      })),
  ),
]

type Day = { kind: string; businessDate: string }
type Counted = readonly Pick<Used, 'itemId' | 'locationId' | 'quantity'>[]

const usePart = ({ kind, businessDate }: Day, used: Counted, sign: 1 | -1): Part | null =>
  kind === 'waste' || used.length === 0
    ? null
    : {
        text: `insert into inventory_use (location_id, item_id, date, quantity)
     select u."locationId", u."itemId", ?, sum(u.quantity)::bigint * ? from jsonb_to_recordset(?::jsonb) as u ("locationId" uuid, "itemId" uuid, quantity bigint)
     group by 1, 2 order by 1, 2
     on conflict (tenant_id, location_id, item_id, date) do update set quantity = inventory_use.quantity + excluded.quantity`,
        values: [
          businessDate,
          sign,
          JSON.stringify(used.map(({ itemId, locationId, quantity }) => ({ itemId, locationId, quantity }))),
        ],
      }

/** Adds to the use of a day, which suggestions of what to buy are made of; `sign` -1 takes it back. Waste is no use. The rows of stock are locked. */
export const countUse = (trx: Trx, day: Day, used: Counted, sign: 1 | -1): Promise<void> =>
  writeTogether(trx, [usePart(day, used, sign)])

const tellShort = async (
  trx: Trx,
  propertyId: string,
  taken: readonly Taken[],
  items: Held['items'],
): Promise<void> => {
  await emitAll(
    trx,
    stockRunShort,
    taken
      .filter((one) => one.taken < one.quantity)
      .map((one) => ({
        propertyId,
        id: one.itemId,
        version: null,
        data: {
          inventoryItemId: one.itemId,
          inventoryLocationId: one.locationId,
          quantity: decimalOf(one.quantity - one.taken),
          unit: items.get(one.itemId)?.base ?? ('un' as const),
        },
      })),
  )
}

/** A use that stock has given in memory. Its rows are yet to be written, and its postings to be raised. */
export type PlannedUse = { id: string; postings: PropertyPosting[]; write: () => Promise<void> }

/**
 * Takes what is there from locked stock and notes the rest as short (R13): what has happened is never refused. Callers that ask for all of it have judged the
 * stock first. `write` asks for all rows in one turn, so that postings that are raised with it share its round trip: other commands wait for the stock.
 */
export const planUse = async (
  trx: Trx,
  head: UseHead,
  used: readonly Used[],
  { shelf, items }: Held,
): Promise<PlannedUse> => {
  const { bookId, source, note, ...fields } = head
  const { propertyId, kind, businessDate } = head
  const [id, movementId] = [randomUUID(), randomUUID()]
  const taken = used.map((one): Taken => {
    const held = shelf.at(one)
    const there = Math.min(held.quantity, one.quantity)
    const value = there > 0 ? take(held, there) : 0
    if (there < one.quantity) held.isShort = true
    return { ...one, id: randomUUID(), taken: there, value }
  })
  const lines: Line[] = taken
    .filter((one) => one.taken > 0)
    .map(({ itemId, locationId, taken: there, value }) => ({ itemId, locationId, quantity: -there, value: 0 - value }))
  const postings = await postingsOfUse(
    trx,
    { propertyId, bookId, movementId, occurredOn: businessDate },
    items,
    taken.map(({ itemId, value }) => ({ itemId, value })),
    {
      consumption: kind,
      ...(head.outletId ? { outletId: head.outletId } : {}),
      costCenterId: head.costCenterId ?? null,
    },
  )
  const createdBy = await moverOf(trx)
  const write = async () => {
    const movement = { id: movementId, kind: 'consumption' as const, propertyId, occurredOn: businessDate, createdBy }
    const { parts, follow } = planMovement(trx, { ...movement, note: note ?? null }, lines, { shelf, items })
    const row = {
      ...fields,
      id,
      movementId,
      sourceType: source?.type ?? 'consumption',
      sourceId: source?.id ?? id,
    }
    const { reservationId = null, unitId = null } = head
    // The movement comes first: the rows of the use refer to it.
    await Promise.all([
      writeTogether(trx, [
        ...parts,
        rowsPart(InventoryConsumption, [row]),
        ...linesOf(id, taken),
        usePart(head, used, 1),
      ]),
      follow(),
      tellShort(trx, propertyId, taken, items),
      emit(trx, consumptionPosted, {
        propertyId,
        id,
        version: 1,
        data: { inventoryConsumptionId: id, kind, reservationId, unitId },
      }),
    ])
  }
  return { id, postings, write }
}

/** Uses what is there, writes it and posts it. Answers the id of the consumption. */
export const consume = async (trx: Trx, head: UseHead, used: readonly Used[], held: Held): Promise<string> => {
  const { id, postings, write } = await planUse(trx, head, used, held)
  await Promise.all([write(), raisePostings(trx, head.propertyId, postings)])
  return id
}
