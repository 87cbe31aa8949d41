import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { percentile } from '../report.ts'

/**
 * The least that a close must write, by pg alone: the order and its lines locked and read, what they use by the recipes, its stock locked, a movement with its
 * lines at the average, the use with its lines, the settlement and the status. Nothing is judged, posted, told or audited; each statement is prepared.
 */
const lockOrder = `select * from pos_order where id = $1 for no key update`
const readLines = `select * from pos_order_line where order_id = $1 order by position`
const readParts = `
  select k.item_id, sum(l.quantity * k.base_quantity / 10000)::bigint as quantity from pos_order_line l
  join recipe r on r.tenant_id = l.tenant_id and r.id = l.recipe_id
  join recipe_version v on v.tenant_id = r.tenant_id and v.recipe_id = r.id and v.number = r.current_version
  join recipe_component k on k.tenant_id = v.tenant_id and k.version_id = v.id where l.order_id = $1 group by 1`
const lockStock = `
  select item_id, location_id, quantity, value, last_seq from inventory_stock where location_id = $1 and item_id = any($2::uuid[])
  order by location_id, item_id for no key update`
const writeMovement = `
  insert into inventory_movement (id, property_id, kind, occurred_on, source_type, source_id) values ($1, $2, 'consumption', $3, 'movement', $1)`
const writeLines = `
  insert into inventory_movement_line (movement_id, position, item_id, location_id, quantity, value, entered_quantity, entered_measure, seq, occurred_on)
  select $1, n - 1, u.item, $2, -u.quantity, -u.value, u.quantity, 'g', u.seq, $3
  from unnest($4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[]) with ordinality as u (item, quantity, value, seq, n)`
const writeUse = `
  insert into inventory_consumption (id, property_id, kind, outlet_id, order_id, business_date, movement_id, source_type, source_id)
  values ($1, $2, 'sale', $3, $4, $5, $6, 'pos_order', $4)`
const writeUseLines = `
  insert into inventory_consumption_line (consumption_id, position, item_id, location_id, quantity, value)
  select $1, n - 1, u.item, $2, u.quantity, u.value from unnest($3::uuid[], $4::bigint[], $5::bigint[]) with ordinality as u (item, quantity, value, n)`
const settle = `insert into pos_settlement (order_id, type, reason, amount) values ($1, 'house', 'bench', $2)`
const close = `update pos_order set status = 'closed', closed_at = now(), version = version + 1 where id = $1`

type Order = { property_id: string; outlet_id: string; business_date: string; total: string }
type Stock = { item_id: string; location_id: string; quantity: string; value: string; last_seq: string }

/** Closes orders one after the other in so many lanes. Answers their rate, and the p95 in milliseconds. */
export const closeBare = async (
  { url, tenantId, locationId, inFlight }: { url: string; tenantId: string; locationId: string; inFlight: number },
  orderIds: readonly string[],
): Promise<{ perSecond: number; p95Ms: number }> => {
  const pool = new pg.Pool({ connectionString: url, max: inFlight })
  const left = [...orderIds]
  const times: number[] = []
  const one = async (client: pg.PoolClient, id: string) => {
    const send = async <Row extends object>(text: string, values: unknown[]) =>
      (await client.query<Row>({ name: text.slice(0, 60), text, values })).rows
    await client.query(`begin; set local app.tenant_id = ${pg.escapeLiteral(tenantId)}`)
    const [order] = await send<Order>(lockOrder, [id])
    if (!order) throw new Error('an order is gone')
    await send(readLines, [id])
    const parts = await send<{ item_id: string; quantity: string }>(readParts, [id])
    const wanted = new Map(parts.map((part) => [part.item_id, Number(part.quantity)]))
    const stock = await send<Stock>(lockStock, [locationId, [...wanted.keys()]])
    const items = stock.map((row) => row.item_id)
    const quantities = stock.map((row) => wanted.get(row.item_id) ?? 0)
    const values = stock.map((row, at) =>
      Math.round((Number(row.value) * (quantities[at] ?? 0)) / Number(row.quantity)),
    )
    const [movementId, useId] = [randomUUID(), randomUUID()]
    const { property_id: propertyId, business_date: date } = order
    await send(writeMovement, [movementId, propertyId, date])
    await send(writeLines, [
      movementId,
      locationId,
      date,
      items,
      quantities,
      values,
      stock.map((row) => Number(row.last_seq) + 1),
    ])
    await send(writeUse, [useId, propertyId, order.outlet_id, id, date, movementId])
    await send(writeUseLines, [useId, locationId, items, quantities, values])
    await send(settle, [id, order.total])
    await send(close, [id])
    await client.query('commit')
  }
  const started = performance.now()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      const client = await pool.connect()
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        const from = performance.now()
        await one(client, id)
        times.push(performance.now() - from)
      }
      client.release()
    }),
  )
  const tookMs = performance.now() - started
  await pool.end()
  return { perSecond: (orderIds.length / tookMs) * 1_000, p95Ms: percentile(times, 0.95) }
}
