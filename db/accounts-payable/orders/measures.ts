import { unprocessable } from '../../../config/errors.ts'
import type { FieldError } from '../../../config/errors.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { stock } from '../stock.ts'
import type { Measure } from '../stock.ts'

/** The measures of lines of stock, in one statement; null where there is none. */
export const measuresOf = async (
  trx: Trx,
  lines: readonly { inventoryItemId?: string | undefined; measure?: string | undefined }[],
): Promise<(Measure | null)[]> => {
  const named = lines.flatMap(({ inventoryItemId, measure }, index) =>
    inventoryItemId && measure ? [{ inventoryItemId, measure, index }] : [],
  )
  if (named.length === 0) return lines.map(() => null)
  const found = await stock().measuresOf(trx, named)
  const byIndex = new Map(named.map(({ index }, at) => [index, found[at] ?? null]))
  return lines.map((_, index) => byIndex.get(index) ?? null)
}

/** Fixes the quantities of stock by the measures that the items have now, and no more, in three statements. 422 `measure_unknown`. */
export const freezeMeasures = async (trx: Trx, orderId: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const lines = await sql<{ id: string; lineNo: number; inventoryItemId: string; measure: string }>(
    trx,
    `select id, line_no, inventory_item_id, measure from purchase_order_line where tenant_id = ? and purchase_order_id = ? and inventory_item_id is not null
     order by line_no`,
    [tenantId, orderId],
  )
  if (lines.length === 0) return
  const measures = await measuresOf(trx, lines)
  const gone = lines.flatMap(({ lineNo }, at): FieldError[] =>
    measures[at] ? [] : [{ field: `lines.${lineNo - 1}.measure`, message: 'is no measure of an item of stock' }],
  )
  if (gone.length > 0) throw unprocessable('measure_unknown', 'An item or its measure does not exist any more', gone)
  await sql(
    trx,
    `update purchase_order_line l set numerator = f.numerator, denominator = f.denominator, quantity = round(l.entered * f.numerator / f.denominator, 6)
     from jsonb_to_recordset(cast(? as jsonb)) as f (id uuid, numerator numeric, denominator numeric)
     where l.tenant_id = ? and l.id = f.id and (l.numerator, l.denominator) <> (f.numerator, f.denominator)`,
    [JSON.stringify(lines.map(({ id }, at) => ({ id, ...measures[at] }))), tenantId],
  )
}
