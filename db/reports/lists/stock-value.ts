import { wordOf } from '../../../config/report-texts.ts'
import { readStock } from '../../inventory/index.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { housesOfOneCurrency, metaOfHouses, openDayOf } from '../houses.ts'
import { columnsOf } from '../operating/table.ts'
import type { Asked, ColumnKind, Reading, Sight, Window } from '../reading.ts'

export type StockValueRow = {
  propertyId: string
  itemId: string
  sku: string
  name: string
  quantity: string
  unit: string
  value: number
}

const columns: Record<string, ColumnKind> = { property: 'text', sku: 'text', name: 'text', quantity: 'text', unit: 'text', value: 'amount' } // prettier-ignore

/** Quantity and value of each item at the end of a day, now unless said. */
export const openStockValue = async (
  trx: Trx,
  asked: Asked,
  sight: Sight,
  window: Window,
): Promise<Reading<StockValueRow>> => {
  const { asOf } = asked as { asOf?: string }
  const houses = await housesOfOneCurrency(trx, 'stock_value', asked, sight, window)
  const until = asOf ?? openDayOf(houses)
  const meta = await metaOfHouses(trx, 'stock_value', houses, { from: until, to: until }, sight)
  const items = await sql<{ id: string; sku: string; name: string }>(
    trx,
    `select id, sku, name from inventory_item where tenant_id = ?`,
    [contextOf(trx).tenantId],
  )
  const known = new Map(items.map((item) => [item.id, item]))
  const rows: StockValueRow[] = []
  for (const { id: propertyId } of houses) {
    const { rows: held } = await readStock(trx, { propertyId, asOf })
    for (const { itemId, quantity, base, value } of held)
      rows.push({
        propertyId,
        itemId: itemId ?? '',
        sku: known.get(itemId ?? '')?.sku ?? '',
        name: known.get(itemId ?? '')?.name ?? '',
        quantity: quantity ?? '0',
        unit: base ?? '',
        value: value ?? 0,
      })
  }
  const value = rows.reduce((sum, row) => sum + row.value, 0)
  const houseNames = new Map(houses.map(({ id, name }) => [id, name]))
  return {
    meta,
    rows,
    totals: () => ({ value }),
    columns: columnsOf(meta.locale, columns),
    flat: ({ propertyId, ...row }) => [{ ...row, property: houseNames.get(propertyId) ?? '' }],
    foot: () => ({ value, property: wordOf('totals', meta.locale) }),
  }
}
