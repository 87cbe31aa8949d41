import { randomUUID } from 'node:crypto'
import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { always, whereOf } from '../../lib/conditions.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { businessDay } from '../../financial/index.ts'
import { refuseArchived } from '../../lib/locked-property.ts'
import { holdActiveItems } from '../items/facts.ts'
import type { ItemFacts } from '../items/facts.ts'
import { holdLocations } from '../locations.ts'
import type { Place } from '../locations.ts'
import { put, take } from '../rules/average.ts'
import { decimalOf, enteredSome } from '../rules/quantity.ts'
import type { Entered } from '../rules/quantity.ts'
import { settleShortages } from '../shortages.ts'
import { holdStock } from '../stock/hold.ts'
import type { Shelf } from '../stock/hold.ts'
import { postStock, postTransfer } from '../stock/post.ts'
import { writeMovement } from '../stock/write.ts'
import type { Head, Line } from '../stock/write.ts'
import { dateOf, refuseBeforeCount } from './dates.ts'
import { holdSource, receiveOrder } from './ordered.ts'

type Told = {
  propertyId: string
  occurredOn?: string | undefined
  reference?: string | undefined
  note?: string | undefined
}
/** Quantities are decimals of their measure. */
type NewLine = { itemId: string; quantity: string; measure: string }

export type Arrival = Told & {
  kind: 'opening' | 'receipt'
  locationId: string
  supplierId?: string | undefined
  /** Receives lines of this order; each line of the receipt names its own. */
  purchaseOrderId?: string | undefined
  /** Minor units without recoverable taxes. */
  lines: (NewLine & { value: number; purchaseOrderLineId?: string | undefined })[]
}
export type Transfer = Told & { kind: 'transfer'; fromLocationId: string; toLocationId: string; lines: NewLine[] }

const placeOf = (places: ReadonlyMap<string, Place>, id: string): Place => {
  const place = places.get(id)
  if (!place) throw new Error('a location was not held')
  return place
}

/** Refuses a location of another property than the movement's. */
export const refuseElsewhere = (place: Place, propertyId: string, field: string): void => {
  if (place.propertyId !== propertyId)
    throw unprocessable('reference_not_found', 'The property does not have this location', [
      { field, message: 'is no location of the property' },
    ])
}

const readLines = (
  lines: readonly NewLine[],
  items: ReadonlyMap<string, ItemFacts>,
): (Omit<NewLine, 'quantity'> & Entered)[] =>
  lines.map((line, index) => {
    const item = items.get(line.itemId)
    if (!item) throw new Error('an item was not held')
    return { ...line, ...enteredSome(item, line.quantity, line.measure, `lines.${index}`) }
  })

const named = (lines: readonly NewLine[]) =>
  lines.map(({ itemId }, index) => ({ id: itemId, field: `lines.${index}.itemId` }))

const headOf = ({ kind, propertyId, reference, note }: Told & { kind: Head['kind'] }, occurredOn: string) => ({
  id: randomUUID(),
  kind,
  propertyId,
  occurredOn,
  reference: reference ?? null,
  note: note ?? null,
})

/** Opening stock begins the history of an item in a location. */
const refuseMoved = (shelf: Shelf, lines: readonly Line[]) => {
  const moved = lines.flatMap((line, index): FieldError[] =>
    shelf.at(line).lastSeq > 0 ? [{ field: `lines.${index}.itemId`, message: 'has moved here before' }] : [],
  )
  if (moved.length > 0)
    throw unprocessable('rule_violated', 'Opening stock is for items that have not moved in the location', moved)
}

/** Records what came in with its value: opening stock or a receipt (R8). Answers the id of the movement. 422 `over_receipt`, `order_closed`. */
export const recordArrival = async (trx: Trx, given: Arrival): Promise<string> => {
  await refuseArchived(trx, given.propertyId)
  const occurredOn = dateOf(await businessDay(trx, given.propertyId), given.occurredOn)
  const supplierId = await holdSource(trx, given)
  const places = await holdLocations(trx, [{ id: given.locationId, field: 'locationId' }])
  const place = placeOf(places, given.locationId)
  refuseElsewhere(place, given.propertyId, 'locationId')
  const items = await holdActiveItems(trx, named(given.lines))
  const lines = readLines(given.lines, items).map(({ itemId, quantity, entered, measure }, index) => ({
    id: randomUUID(),
    itemId,
    locationId: place.id,
    quantity,
    entered,
    measure,
    value: given.lines[index]?.value ?? 0,
    purchaseOrderLineId: given.lines[index]?.purchaseOrderLineId ?? null,
  }))
  if (given.purchaseOrderId !== undefined) await receiveOrder(trx, given.purchaseOrderId, lines)
  const shelf = await holdStock(trx, lines)
  refuseBeforeCount(shelf.all(), occurredOn)
  if (given.kind === 'opening') refuseMoved(shelf, lines)
  for (const line of lines) putLine(shelf, line)
  const head = { ...headOf(given, occurredOn), supplierId, purchaseOrderId: given.purchaseOrderId ?? null }
  await writeMovement(trx, head, lines, { shelf, items })
  await noteCosts(trx, lines)
  const at = { propertyId: place.propertyId, bookId: place.bookId, movementId: head.id, occurredOn }
  await postStock(
    trx,
    given.kind === 'opening' ? 'inventory.stock_opened' : 'inventory.goods_received',
    at,
    items,
    lines,
  )
  await settleShortages(trx, { shelf, items, spots: lines })
  return head.id
}

/** Puts what comes in on the shelf. 422 `rule_violated` where a location cannot hold as much. */
export const putLine = (shelf: Shelf, line: Line): void => {
  const held = shelf.at(line)
  put(held, line.quantity, line.value)
  if (held.value > Number.MAX_SAFE_INTEGER || held.quantity > 999_999_999_999)
    throw unprocessable('rule_violated', 'A location holds no more of an item than 99,999,999.9999')
}

/** The cost of the last receipt stays with the stock, for gains that have no other. */
export const noteCosts = (trx: Trx, lines: readonly Line[]) =>
  sql(
    trx,
    `update inventory_stock s set last_cost_value = l.value, last_cost_quantity = l.quantity, last_cost_at = now()
     from (select distinct on (k."locationId", k."itemId") k.* from jsonb_to_recordset(?::jsonb) as k ("locationId" uuid, "itemId" uuid, value bigint, quantity bigint, position int)
       order by k."locationId", k."itemId", k.position desc) l
     where s.location_id = l."locationId" and s.item_id = l."itemId"`,
    [
      JSON.stringify(
        lines.map(({ locationId, itemId, value, quantity }, position) => ({
          locationId,
          itemId,
          value,
          quantity,
          position,
        })),
      ),
    ],
  )

/** Refuses a move of more than there is, all lines at once. 422 `insufficient_stock`. */
export const takeAll = (
  shelf: Shelf,
  wanted: readonly { itemId: string; locationId: string; quantity: number; field: string }[],
  items: ReadonlyMap<string, ItemFacts>,
): number[] => {
  const errors: FieldError[] = []
  const values = wanted.map(({ quantity, field, ...spot }) => {
    const held = shelf.at(spot)
    if (held.quantity >= quantity) return take(held, quantity)
    const base = items.get(spot.itemId)?.base ?? ''
    errors.push({
      field,
      message: `needs ${decimalOf(quantity)} ${base}; there are ${decimalOf(held.quantity)} ${base}`,
    })
    return 0
  })
  if (errors.length > 0) throw unprocessable('insufficient_stock', 'There is not enough stock', errors.slice(0, 50))
  return values
}

/**
 * Records a transfer with its present value: out and in are one movement (R9). Answers its id.
 * @param scope the properties to which the caller may bring stock.
 */
export const recordTransfer = async (trx: Trx, given: Transfer, scope: Condition = always): Promise<string> => {
  const { fromLocationId, toLocationId } = given
  if (fromLocationId === toLocationId) throw invalid([{ field: 'toLocationId', message: 'must be another location' }])
  await refuseArchived(trx, given.propertyId)
  const other = await sql<{ propertyId: string }>(
    trx,
    `select property_id from inventory_location where id = ? and ?`,
    [toLocationId, whereOf(scope, { propertyId: 'property_id' })],
  )
  if (other.length === 0)
    throw unprocessable('reference_not_found', 'There is no such location', [
      { field: 'toLocationId', message: 'does not exist' },
    ])
  const days = new Map<string, string>()
  for (const propertyId of [...new Set([given.propertyId, ...other.map((one) => one.propertyId)])].toSorted())
    days.set(propertyId, await businessDay(trx, propertyId))
  const places = await holdLocations(trx, [
    { id: fromLocationId, field: 'fromLocationId' },
    { id: toLocationId, field: 'toLocationId' },
  ])
  const [from, to] = [placeOf(places, fromLocationId), placeOf(places, toLocationId)]
  refuseElsewhere(from, given.propertyId, 'fromLocationId')
  if (from.currency !== to.currency)
    throw unprocessable('currency_mismatch', 'Stock is not transferred between currencies', [
      { field: 'toLocationId', message: `is in ${to.currency}, not ${from.currency}` },
    ])
  const latest = [...days.values()].toSorted()[0] ?? ''
  const occurredOn = dateOf(latest, given.occurredOn)
  const items = await holdActiveItems(trx, named(given.lines))
  const read = readLines(given.lines, items)
  const shelf = await holdStock(
    trx,
    read.flatMap(({ itemId }) => [
      { itemId, locationId: from.id },
      { itemId, locationId: to.id },
    ]),
  )
  refuseBeforeCount(shelf.all(), occurredOn)
  const values = takeAll(
    shelf,
    read.map(({ itemId, quantity }, index) => ({
      itemId,
      quantity,
      locationId: from.id,
      field: `lines.${index}.quantity`,
    })),
    items,
  )
  const lines = read.flatMap(({ itemId, quantity, entered, measure }, index): Line[] => {
    const value = values[index] ?? 0
    const common = { itemId, entered, measure }
    return [
      { ...common, locationId: from.id, quantity: -quantity, value: 0 - value },
      { ...common, locationId: to.id, quantity, value },
    ]
  })
  for (const line of lines) if (line.quantity > 0) putLine(shelf, line)
  const head = headOf(given, occurredOn)
  await writeMovement(trx, head, lines, { shelf, items })
  await postSides(trx, { from, to, movementId: head.id, occurredOn }, items, lines)
  await settleShortages(trx, { shelf, items, spots: lines.filter(({ quantity }) => quantity > 0) })
  return head.id
}

type Sides = { from: Place; to: Place; movementId: string; occurredOn: string }

/** Stock that stays within a property changes no account. */
export const postSides = async (
  trx: Trx,
  { from, to, movementId, occurredOn }: Sides,
  items: ReadonlyMap<string, ItemFacts>,
  lines: readonly Line[],
): Promise<void> => {
  if (from.propertyId === to.propertyId) return
  const between = from.bookId === to.bookId ? 'locations' : 'books'
  const arrived = lines.filter(({ quantity }) => quantity > 0)
  for (const [side, place] of [
    ['sent', from],
    ['received', to],
  ] as const)
    await postTransfer(
      trx,
      side,
      { propertyId: place.propertyId, bookId: place.bookId, movementId, occurredOn },
      items,
      { lines: arrived, between },
    )
}
