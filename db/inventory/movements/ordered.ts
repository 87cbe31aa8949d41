import { invalid, unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { lockOrder, receiveOrderLines, refuseTakenReceipts, takeBackReceipts } from '../../accounts-payable/index.ts'
import { sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { decimalOf } from '../rules/quantity.ts'
import { holdSupplier, requireSuppliers } from '../suppliers.ts'

type Told = {
  kind: string
  propertyId: string
  supplierId?: string | undefined
  purchaseOrderId?: string | undefined
  lines: readonly { itemId: string; purchaseOrderLineId?: string | undefined }[]
}

const noOrder = (errors: FieldError[]) =>
  unprocessable('reference_not_found', 'The property has no such purchase order', errors)

/**
 * Holds the order or the supplier that goods come from; they come before stock in the order of locks. Answers the supplier. 400 for lines that name no line of
 * the order, or name one without it; 403 `feature_not_enabled`; 422 `reference_not_found`.
 */
export const holdSource = async (trx: Trx, given: Told): Promise<string | null> => {
  const { purchaseOrderId, supplierId, propertyId, lines, kind } = given
  if (kind !== 'receipt' && (purchaseOrderId !== undefined || supplierId !== undefined))
    throw invalid([{ field: 'supplierId', message: 'belongs to a receipt' }])
  const odd = lines.flatMap(({ purchaseOrderLineId }, index): FieldError[] =>
    (purchaseOrderLineId === undefined) === (purchaseOrderId === undefined)
      ? []
      : [{ field: `lines.${index}.purchaseOrderLineId`, message: 'stands with purchaseOrderId, on each line' }],
  )
  if (odd.length > 0) throw invalid(odd.slice(0, 50))
  if (purchaseOrderId === undefined) {
    if (supplierId === undefined) return null
    await holdSupplier(trx, supplierId)
    return supplierId
  }
  await requireSuppliers(trx)
  const known = await sqlOne(trx, `select 1 from purchase_order where id = ? and property_id = ?`, [
    purchaseOrderId,
    propertyId,
  ])
  if (!known) throw noOrder([{ field: 'purchaseOrderId', message: 'is no order of the property' }])
  const order = await lockOrder(trx, purchaseOrderId)
  if (supplierId !== undefined && supplierId !== order.supplierId)
    throw noOrder([{ field: 'supplierId', message: 'is not the supplier of the order' }])
  const ordered = await sql<{ id: string; inventoryItemId: string | null }>(
    trx,
    `select id, inventory_item_id from purchase_order_line where purchase_order_id = ?`,
    [purchaseOrderId],
  )
  const wrong = lines.flatMap(({ itemId, purchaseOrderLineId }, index): FieldError[] =>
    ordered.some((line) => line.id === purchaseOrderLineId && line.inventoryItemId === itemId)
      ? []
      : [{ field: `lines.${index}.purchaseOrderLineId`, message: 'is no line of the order for this item' }],
  )
  if (wrong.length > 0) throw noOrder(wrong.slice(0, 50))
  return order.supplierId
}

/** Raises what was received of the lines of a locked order. 422 `over_receipt`, `order_closed`. */
export const receiveOrder = (
  trx: Trx,
  orderId: string,
  lines: readonly { id: string; quantity: number; value: number; purchaseOrderLineId: string | null }[],
): Promise<void> =>
  receiveOrderLines(
    trx,
    orderId,
    lines.map(({ id, quantity, value, purchaseOrderLineId }) => ({
      orderLineId: purchaseOrderLineId ?? '',
      movementLineId: id,
      quantity: decimalOf(quantity),
      value,
    })),
  )

const lineIdsOf = async (trx: Trx, movementId: string): Promise<string[]> =>
  (await sql<{ id: string }>(trx, `select id from inventory_movement_line where movement_id = ?`, [movementId])).map(
    ({ id }) => id,
  )

/** Takes back what a receipt brought of an order, or of none, before its stock is locked. 422 `in_use` for what is billed. */
export const giveBackReceived = async (trx: Trx, movementId: string, isOrdered: boolean): Promise<void> => {
  const ids = await lineIdsOf(trx, movementId)
  await (isOrdered ? takeBackReceipts(trx, ids) : refuseTakenReceipts(trx, ids))
}
