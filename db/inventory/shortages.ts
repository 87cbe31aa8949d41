import { randomUUID } from 'node:crypto'
import { settledAtOnce } from '../../config/inventory.ts'
import { settleShortagesJob } from '../../jobs/inventory.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { enqueue } from '../lib/enqueue.ts'
import { businessDay } from '../financial/index.ts'
import { holdItems } from './items/facts.ts'
import type { ItemFacts } from './items/facts.ts'
import { take } from './rules/average.ts'
import { holdStock } from './stock/hold.ts'
import type { Shelf, Spot } from './stock/hold.ts'
import { postStock, postUse } from './stock/post.ts'
import { writeMovement } from './stock/write.ts'
import type { Line } from './stock/write.ts'

type Open = {
  id: string
  quantity: number
  consumptionId: string
  kind: string
  outletId: string | null
  costCenterId: string | null
}

/**
 * SQL: a count that is still open has seen the shortage `h`: what it found was there without these goods, and its approval ends the shortage. What comes meanwhile
 * does not pay for them, too.
 */
const isCounted = `exists (select from inventory_count_line k where k.location_id = h.location_id and k.item_id = h.item_id and k.open and k.counted is not null
  and (k.last_shortage is null or h.position <= k.last_shortage))`

const openOf = (trx: Trx, { locationId, itemId }: Spot) =>
  sql<Open>(
    trx,
    `select h.id, h.quantity, h.consumption_id, c.kind, c.outlet_id, c.cost_center_id from inventory_shortage h
     join inventory_consumption c on c.tenant_id = h.tenant_id and c.id = h.consumption_id
     where h.location_id = ? and h.item_id = ? and h.status = 'open' and not ${isCounted} order by h.position limit ${settledAtOnce + 1}`,
    [locationId, itemId],
  )

/**
 * Settles open shortages with what has come, oldest first, at the average of now (R14): 500 for each item and location, the rest by a job. The rows of stock
 * are locked, so that shortages are, too.
 */
export const settleShortages = async (
  trx: Trx,
  { shelf, items, spots }: { shelf: Shelf; items: ReadonlyMap<string, ItemFacts>; spots: readonly Spot[] },
): Promise<void> => {
  const seen = new Set<string>()
  for (const spot of spots) {
    const key = `${spot.locationId} ${spot.itemId}`
    if (seen.has(key) || !shelf.at(spot).isShort) continue
    seen.add(key)
    await settleSpot(trx, spot, shelf, items)
  }
}

const settleSpot = async (trx: Trx, spot: Spot, shelf: Shelf, items: ReadonlyMap<string, ItemFacts>): Promise<void> => {
  const open = await openOf(trx, spot)
  const held = shelf.at(spot)
  const settled: (Open & { taken: number; value: number })[] = []
  for (const shortage of open.slice(0, settledAtOnce)) {
    if (held.quantity === 0) break
    const taken = Math.min(held.quantity, shortage.quantity)
    settled.push({ ...shortage, taken, value: take(held, taken) })
  }
  if (settled.length === 0) return
  await sql(
    trx,
    `update inventory_shortage h set quantity = h.quantity - s.taken, settled_quantity = h.settled_quantity + s.taken,
       settled_value = h.settled_value + s.value, status = case when h.quantity = s.taken then 'settled' else 'open' end
     from jsonb_to_recordset(?::jsonb) as s (id uuid, taken bigint, value bigint) where h.id = s.id`,
    [JSON.stringify(settled.map(({ id, taken, value }) => ({ id, taken, value })))],
  )
  await writeSettled(trx, spot, settled, { shelf, items })
  const { tenantId } = contextOf(trx)
  if (open.length > settledAtOnce && held.quantity > 0 && tenantId)
    await enqueue(trx, settleShortagesJob, { tenantId, locationId: spot.locationId, itemId: spot.itemId })
}

type Settled = Open & { taken: number; value: number }
type Place = { propertyId: string; bookId: string }

/** One movement for each kind of use, dated now: what was short then costs what it costs now. */
const writeSettled = async (
  trx: Trx,
  spot: Spot,
  settled: readonly Settled[],
  { shelf, items }: { shelf: Shelf; items: ReadonlyMap<string, ItemFacts> },
): Promise<void> => {
  const [place] = await sql<Place>(
    trx,
    `select l.property_id, p.book_id from inventory_location l join property p on p.tenant_id = l.tenant_id and p.id = l.property_id where l.id = ?`,
    [spot.locationId],
  )
  if (!place) throw new Error('a location is gone')
  const occurredOn = await businessDay(trx, place.propertyId)
  const groups = new Map<string, Settled[]>()
  for (const one of settled) {
    const key = `${one.kind} ${one.outletId ?? ''} ${one.costCenterId ?? ''}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  for (const own of groups.values()) {
    const id = randomUUID()
    const { locationId, itemId } = spot
    const lines: Line[] = own.map(({ taken, value }) => ({ locationId, itemId, quantity: -taken, value: 0 - value }))
    await writeMovement(trx, { id, kind: 'shortage', propertyId: place.propertyId, occurredOn }, lines, {
      shelf,
      items,
    })
    const [first] = own
    const used = own.map(({ value }) => ({ itemId: spot.itemId, value }))
    const at = { ...place, movementId: id, occurredOn }
    if (first?.kind === 'waste') await postStock(trx, 'inventory.stock_wasted', at, items, used)
    else
      await postUse(trx, at, items, used, {
        consumption: first?.kind ?? 'sale',
        ...(first?.outletId ? { outletId: first.outletId } : {}),
        costCenterId: first?.costCenterId ?? null,
      })
  }
}

/** Goes on with the shortages of an item and location after the first 500. */
export const settleMore = async (trx: Trx, spot: Spot): Promise<void> => {
  const [place] = await sql<{ propertyId: string }>(trx, `select property_id from inventory_location where id = ?`, [
    spot.locationId,
  ])
  if (!place) return
  await businessDay(trx, place.propertyId)
  const items = await holdItems(trx, [spot.itemId])
  const shelf = await holdStock(trx, [spot])
  await settleShortages(trx, { shelf, items, spots: [spot] })
}

/** Asks that shortages which a count had seen, and that is cancelled, be settled with what came meanwhile. */
export const requestSettling = async (trx: Trx, countId: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const spots = await sql<Spot>(
    trx,
    `select l.location_id, l.item_id from inventory_count_line l where l.count_id = ? and l.counted is not null
       and exists (select from inventory_shortage h where h.location_id = l.location_id and h.item_id = l.item_id and h.status = 'open') order by l.item_id`,
    [countId],
  )
  for (const { locationId, itemId } of spots)
    await enqueue(trx, settleShortagesJob, { tenantId: tenantId ?? '', locationId, itemId })
}

/** Ends shortages that a count has seen without cost: it has found what is there. What was sold after a line was counted is short as before (R14). */
export const absorbShortages = (trx: Trx, counted: readonly (Spot & { lastShortage: number | null })[]) =>
  sql(
    trx,
    `update inventory_shortage h set status = 'absorbed', quantity = 0
     from jsonb_to_recordset(?::jsonb) as s ("locationId" uuid, "itemId" uuid, "lastShortage" bigint)
     where h.location_id = s."locationId" and h.item_id = s."itemId" and h.status = 'open' and (s."lastShortage" is null or h.position <= s."lastShortage")`,
    [JSON.stringify(counted.map(({ locationId, itemId, lastShortage }) => ({ locationId, itemId, lastShortage })))],
  )
