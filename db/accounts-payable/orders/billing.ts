import { unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PayableRecord, TakenOfReceipt } from '../models.ts'
import type { GivenLine } from '../payables/lines.ts'
import { stock } from '../stock.ts'
import { refreshOrders } from './state.ts'

type Billable = {
  index: number
  supplierId: string
  status: string
  isStock: boolean
  base: string
  isOver: boolean
  isBeyondReceived: boolean
}

const refuseUsed = async (trx: Trx, lines: readonly GivenLine[], self: string | null): Promise<void> => {
  const named = lines.flatMap(({ inventoryMovementLineId: id }, index) => (id ? [{ id, index }] : []))
  if (named.length === 0) return
  const ids = named.map(({ id }) => id)
  const values = await stock().receivedValues(trx, ids)
  const used = await sql<{ id: string }>(
    trx,
    `select l.inventory_movement_line_id as id from payable_line l join payable p on p.tenant_id = l.tenant_id and p.id = l.payable_id
     where l.tenant_id = ? and l.inventory_movement_line_id = any(?::uuid[]) and p.status <> 'void' and p.id is distinct from cast(? as uuid)`,
    [contextOf(trx).tenantId, ids, self],
  )
  const field = (index: number) => `lines.${index}.inventoryMovementLineId`
  const strange = named.filter(({ id }) => !values.has(id))
  if (strange.length > 0)
    throw unprocessable(
      'reference_not_found',
      'There is no such receipt without an order',
      strange.map(({ index }) => ({ field: field(index), message: 'is no line of a receipt without an order' })),
    )
  const again = named.filter(
    ({ id, index }) =>
      used.some((one) => one.id === id) || ids.indexOf(id) !== named.findIndex((n) => n.index === index),
  )
  if (again.length > 0)
    throw unprocessable(
      'over_billed',
      'The receipt is billed already',
      again.map(({ index }) => ({ field: field(index), message: 'is billed already' })),
    )
}

/**
 * Looks at what lines bill of orders and receipts. Answers the quantity of each line in the measure that the order counts in; null for lines of no order. 422
 * `reference_not_found`, `payee_mismatch`, `order_closed` (of one that is closed, for more than came), `over_billed`.
 */
export const checkOrderLines = async (
  trx: Trx,
  lines: readonly GivenLine[],
  supplierId: string | null,
  self: string | null = null,
): Promise<(string | null)[]> => {
  await refuseUsed(trx, lines, self)
  const named = lines.flatMap(({ purchaseOrderLineId, quantity }, index) =>
    purchaseOrderLineId ? [{ index, id: purchaseOrderLineId, quantity: quantity ?? '0' }] : [],
  )
  if (named.length === 0) return lines.map(() => null)
  const rows = await sql<Billable>(
    trx,
    `select g.index, o.supplier_id, o.status, l.inventory_item_id is not null as is_stock,
       cast(round(g.quantity * l.numerator / l.denominator, 6) as text) as base,
       sum(round(g.quantity * l.numerator / l.denominator, 6)) over (partition by l.id) > l.quantity * case when l.inventory_item_id is null then 1 else 1.10 end - l.billed as is_over,
       sum(round(g.quantity * l.numerator / l.denominator, 6)) over (partition by l.id) > l.received - l.billed as is_beyond_received
     from jsonb_to_recordset(cast(? as jsonb)) as g (index int, id uuid, quantity numeric)
     join purchase_order_line l on l.tenant_id = ? and l.id = g.id
     join purchase_order o on o.tenant_id = l.tenant_id and o.id = l.purchase_order_id`,
    [JSON.stringify(named), contextOf(trx).tenantId],
  )
  const refuse = (
    code: 'reference_not_found' | 'payee_mismatch' | 'order_closed' | 'over_billed',
    message: string,
    isWrong: (row: Billable | undefined) => boolean,
    field = 'purchaseOrderLineId',
  ) => {
    const errors = named.flatMap(({ index }): FieldError[] =>
      isWrong(rows.find((row) => row.index === index)) ? [{ field: `lines.${index}.${field}`, message }] : [],
    )
    if (errors.length > 0) throw unprocessable(code, 'The order cannot be billed so', errors)
  }
  refuse('reference_not_found', 'is no line of an order', (row) => row === undefined)
  refuse('payee_mismatch', 'is of another supplier', (row) => row?.supplierId !== supplierId)
  const live = ['approved', 'partly_received', 'received']
  refuse(
    'order_closed',
    'is of an order that is not open, and more than came before',
    (row) => !live.includes(row?.status ?? '') && (row?.status !== 'closed' || row.isBeyondReceived),
  )
  refuse('over_billed', 'is more than was ordered and is not billed yet', (row) => row?.isOver === true, 'quantity')
  return lines.map((_, index) => rows.find((row) => row.index === index)?.base ?? null)
}

type BilledLine = {
  id: string
  lineNo: number
  amount: number
  orderId: string | null
  orderLineId: string | null
  movementLineId: string | null
  isStock: boolean
  base: string | null
  taken: TakenOfReceipt[]
}

const billedLines = (trx: Trx, payableId: string) =>
  sql<BilledLine>(
    trx,
    `select l.id, l.line_no, l.amount, o.purchase_order_id as order_id, o.id as order_line_id, l.inventory_movement_line_id as movement_line_id,
       l.inventory_movement_line_id is not null or o.inventory_item_id is not null as is_stock, cast(l.base_quantity as text) as base, l.taken
     from payable_line l left join purchase_order_line o on o.tenant_id = l.tenant_id and o.id = l.purchase_order_line_id
     where l.tenant_id = ? and l.payable_id = ? and (o.id is not null or l.inventory_movement_line_id is not null) order by l.line_no`,
    [contextOf(trx).tenantId, payableId],
  )

const lockOrders = (trx: Trx, lines: readonly BilledLine[]) =>
  sql<{ id: string; status: string }>(
    trx,
    `select id, status from purchase_order where tenant_id = ? and id = any(?::uuid[]) order by id for no key update`,
    [contextOf(trx).tenantId, [...new Set(lines.flatMap(({ orderId }) => orderId ?? []))]],
  )

/** Takes the value of a quantity out of what was received of an order line, oldest first. Null where not so much was received. */
const takeValue = async (trx: Trx, orderLineId: string, base: string): Promise<TakenOfReceipt[] | null> => {
  const taken = await sql<TakenOfReceipt & { isEnough: boolean }>(
    trx,
    `with r as (select id, quantity - billed as free, value - billed_value as worth,
         coalesce(sum(quantity - billed) over (order by position rows between unbounded preceding and 1 preceding), 0) as before
       from purchase_receipt where tenant_id = :tenantId and purchase_order_line_id = :line and quantity > billed),
     t as (select id, free, worth, least(free, cast(:base as numeric) - before) as part from r where before < cast(:base as numeric))
     select id as receipt_id, cast(part as text) as quantity, cast(case when part = free then worth else round(worth * part / free) end as bigint) as value,
       sum(part) over () = cast(:base as numeric) as is_enough from t`,
    { tenantId: contextOf(trx).tenantId, line: orderLineId, base },
  )
  if (taken.length === 0 || !taken.every(({ isEnough }) => isEnough)) return null
  return taken.map(({ receiptId, quantity, value }) => ({ receiptId, quantity, value }))
}

/** Bills of receipts without an order, and those who take these back, take turns until the commit. */
const holdReceipts = (trx: Trx, movementLineIds: readonly string[]) =>
  sql(
    trx,
    `select pg_advisory_xact_lock(hashtextextended('billed receipt ' || o.id, 95)) from (select distinct unnest(cast(? as text[])) as id order by 1) o`,
    [movementLineIds],
  )

/** Of two bills of one receipt without an order, the second one that is approved is 422 `over_billed`. */
const refuseBilled = async (trx: Trx, lines: readonly BilledLine[], payableId: string): Promise<void> => {
  const named = lines.filter(({ movementLineId }) => movementLineId !== null)
  if (named.length === 0) return
  const movementLineIds = named.flatMap(({ movementLineId }) => movementLineId ?? [])
  await holdReceipts(trx, movementLineIds)
  const billed = await sql<{ id: string }>(
    trx,
    `select l.inventory_movement_line_id as id from payable_line l join payable p on p.tenant_id = l.tenant_id and p.id = l.payable_id
     where l.tenant_id = ? and l.inventory_movement_line_id = any(?::uuid[]) and p.id <> ? and p.status in ('approved', 'partly_paid', 'paid')`,
    [contextOf(trx).tenantId, movementLineIds, payableId],
  )
  const again = named.filter(({ movementLineId }) => billed.some(({ id }) => id === movementLineId))
  if (again.length > 0)
    throw unprocessable(
      'over_billed',
      'The receipt is billed already',
      again.map(({ lineNo }) => ({
        field: `lines.${lineNo - 1}.inventoryMovementLineId`,
        message: 'is billed already',
      })),
    )
}

/** Refuses to take back receipts without an order that bills have taken, and keeps bills from taking them until the commit: 422 `in_use`. */
export const refuseTakenReceipts = async (trx: Trx, movementLineIds: readonly string[]): Promise<void> => {
  await holdReceipts(trx, movementLineIds)
  const [billed] = await sql<{ payableId: string }>(
    trx,
    `select p.id as payable_id from payable_line l join payable p on p.tenant_id = l.tenant_id and p.id = l.payable_id
     where l.tenant_id = ? and l.inventory_movement_line_id = any(?::uuid[]) and p.status in ('approved', 'partly_paid', 'paid') limit 1`,
    [contextOf(trx).tenantId, movementLineIds],
  )
  if (billed)
    throw unprocessable('in_use', 'What was received is billed; void the bill first', [
      { field: 'payableId', message: billed.payableId },
    ])
}

const moveReceipts = (trx: Trx, taken: readonly TakenOfReceipt[], way: 1 | -1) =>
  sql(
    trx,
    `update purchase_receipt r set billed = r.billed + ? * t.quantity, billed_value = r.billed_value + ? * t.value
     from jsonb_to_recordset(cast(? as jsonb)) as t ("receiptId" uuid, quantity numeric, value bigint) where r.tenant_id = ? and r.id = t."receiptId"`,
    [way, way, JSON.stringify(taken), contextOf(trx).tenantId],
  )

const moveBilled = (trx: Trx, { orderLineId, base }: BilledLine, way: 1 | -1) =>
  sql(
    trx,
    `update purchase_order_line set billed = billed + ? * cast(? as numeric), received = received + case when inventory_item_id is null then ? * cast(? as numeric) else 0 end
     where tenant_id = ? and id = ?`,
    [way, base, way, base, contextOf(trx).tenantId, orderLineId],
  )

/**
 * Bills orders and receipts at the last approval (R22): quantities of orders, and for stock the value that it was received at, oldest first. Locks the orders. 422
 * `not_received` where more stock is billed than came, `order_closed`, `over_billed`.
 */
export const billOrders = async (trx: Trx, payable: PayableRecord): Promise<void> => {
  const lines = await billedLines(trx, payable.id)
  if (lines.length === 0) return
  const orders = await lockOrders(trx, lines)
  const short: FieldError[] = []
  const movements = lines.flatMap(({ movementLineId }) => movementLineId ?? [])
  await refuseBilled(trx, lines, payable.id)
  const values = movements.length > 0 ? await stock().receivedValues(trx, movements) : new Map<string, number>()
  for (const line of lines) {
    const field = `lines.${line.lineNo - 1}`
    const order = orders.find(({ id }) => id === line.orderId)
    // Goods that came before an order was closed are billed all the same.
    const isLive = ['approved', 'partly_received', 'received'].includes(order?.status ?? '')
    if (order && !isLive && !(order.status === 'closed' && line.isStock))
      throw unprocessable('order_closed', 'Nothing more is expected of the order', [
        { field: `${field}.purchaseOrderLineId`, message: 'is of an order that is not open' },
      ])
    let value: number | null = null
    let taken: TakenOfReceipt[] | null = []
    if (line.movementLineId !== null) value = values.get(line.movementLineId) ?? null
    else if (line.isStock) {
      taken = await takeValue(trx, line.orderLineId ?? '', line.base ?? '0')
      value = taken?.reduce((total, one) => total + one.value, 0) ?? null
    }
    if (line.isStock && (value === null || taken === null)) {
      short.push({ field, message: 'more is billed than was received' })
      continue
    }
    if (taken && taken.length > 0) await moveReceipts(trx, taken, 1)
    if (line.orderLineId !== null) await moveBilled(trx, line, 1)
    if (value !== null)
      await sql(
        trx,
        `update payable_line set received_value = ?, variance = amount - ?, taken = cast(? as jsonb) where tenant_id = ? and id = ?`,
        [value, value, JSON.stringify(taken), contextOf(trx).tenantId, line.id],
      )
  }
  if (short.length > 0) throw unprocessable('not_received', 'More is billed than was received', short)
  await refreshOrders(
    trx,
    orders.map(({ id }) => id),
  )
}

/** Gives back what a voided bill had billed. Locks the orders. */
export const unbillOrders = async (trx: Trx, payable: PayableRecord): Promise<void> => {
  const lines = await billedLines(trx, payable.id)
  if (lines.length === 0) return
  const orders = await lockOrders(trx, lines)
  for (const line of lines) {
    if (line.taken.length > 0) await moveReceipts(trx, line.taken, -1)
    if (line.orderLineId !== null) await moveBilled(trx, line, -1)
  }
  await refreshOrders(
    trx,
    orders.map(({ id }) => id),
  )
}
