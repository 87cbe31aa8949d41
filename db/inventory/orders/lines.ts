import { invalid, unprocessable } from '../../../config/errors.ts'
import { mostOrderLines } from '../../../config/inventory.ts'
import { clockIn, todayIn } from '../../../config/time.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { insertRows } from '../../lib/records.ts'
import type { PosOrderLineRow } from '../../rows.ts'
import { PosOrderLine } from '../models.ts'
import type { OutletRecord } from '../outlets/outlets.ts'
import { pricesOf } from '../outlets/prices.ts'
import { priceAt } from '../rules/price-times.ts'
import { largestQuantity, quantityOf } from '../rules/quantity.ts'
import { lineAmount } from '../rules/totals.ts'

/** `quantity` is a decimal of units sold. */
export type NewOrderLine = { priceCode: string; quantity: string; note?: string | undefined }
export type PricedLine = Pick<
  PosOrderLineRow,
  | 'priceCode'
  | 'name'
  | 'quantity'
  | 'unitAmount'
  | 'amount'
  | 'revenueGroup'
  | 'itemId'
  | 'recipeId'
  | 'perUnit'
  | 'locationId'
  | 'note'
>

const tooMuch = (index: number) =>
  invalid([
    { field: `lines.${index}.quantity`, message: 'must be more than 0, and come to an amount that can be charged' },
  ])

/** Lines at the prices of now, by the clock of the property. 422 `price_unknown`, which names each code that has no price at this moment. */
export const priceLines = async (
  trx: Trx,
  outlet: OutletRecord,
  lines: readonly NewOrderLine[],
): Promise<PricedLine[]> => {
  if (lines.length === 0) return []
  const zone = await sqlOne<{ timezone: string; now: Date }>(
    trx,
    `select timezone, now() as now from property where id = ?`,
    [outlet.propertyId],
  )
  if (!zone) throw new Error('the property is gone')
  const [day, clock] = [todayIn(zone.timezone, zone.now), clockIn(zone.timezone, zone.now)]
  const rows = await pricesOf(trx, outlet.id, [...new Set(lines.map(({ priceCode }) => priceCode))])
  const priced = lines.map((line) => ({
    line,
    price: priceAt(
      rows.filter(({ code }) => code === line.priceCode),
      day,
      clock,
    ),
  }))
  const unknown = priced.flatMap(({ line, price }, index) =>
    price ? [] : [{ field: `lines.${index}.priceCode`, message: `${line.priceCode} has no price now` }],
  )
  if (unknown.length > 0)
    throw unprocessable('price_unknown', 'The outlet has no price for this now', unknown.slice(0, mostOrderLines))
  return priced.flatMap(({ line, price }, index) => {
    if (!price) return []
    const quantity = quantityOf(line.quantity)
    const amount = lineAmount(quantity, price.amount)
    if (quantity < 1 || quantity > largestQuantity || amount > 100_000_000_000) throw tooMuch(index)
    return [
      {
        priceCode: price.code,
        name: price.name,
        quantity,
        unitAmount: price.amount,
        amount,
        revenueGroup: price.revenueGroup,
        itemId: price.itemId,
        recipeId: price.recipeId,
        perUnit: price.quantity,
        locationId: price.locationId ?? outlet.locationId,
        note: line.note ?? null,
      },
    ]
  })
}

/** Adds priced lines to a locked order, after those that it has. 422 `too_many`. */
export const addLines = async (
  trx: Trx,
  orderId: string,
  lines: readonly PricedLine[],
  standing: number,
): Promise<void> => {
  if (standing + lines.length > mostOrderLines)
    throw unprocessable('too_many', `An order has at most ${mostOrderLines} lines`)
  await insertRows(
    trx,
    PosOrderLine,
    lines.map((line, index) => ({ orderId, position: standing + index, ...line })),
  )
}
