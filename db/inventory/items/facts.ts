import type { ExpenseGroup } from '../../../config/inventory.ts'
import { unprocessable } from '../../../config/errors.ts'
import type { Base } from '../../../config/measures.ts'
import { prepared } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { Package } from '../models.ts'

/** An item as moves of stock need it. */
export type ItemFacts = {
  id: string
  sku: string
  base: Base
  packages: Package[]
  status: 'active' | 'archived'
  categoryId: string
  expenseGroup: ExpenseGroup
  stockAccountId: string | null
  expenseAccountId: string | null
  /** Minor units for ten-thousandths of the base. */
  referenceAmount: number | null
  referenceQuantity: number | null
}

/** Items that are held so that none is archived before the commit, by id; those that are not there are left out. */
export const holdItems = async (trx: Trx, ids: readonly string[]): Promise<Map<string, ItemFacts>> => {
  const rows = await prepared<ItemFacts>(
    trx,
    `select i.id, i.sku, i.base, i.packages, i.status, i.category_id, i.reference_amount, i.reference_quantity,
       c.expense_group, c.stock_account_id, c.expense_account_id
     from inventory_item i join inventory_category c on c.tenant_id = i.tenant_id and c.id = i.category_id
     where i.id = any(?::uuid[]) order by i.id for key share of i`,
    [[...new Set(ids)]],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** As `holdItems`, of active items that a request names. 422 `reference_not_found`. */
export const holdActiveItems = async (
  trx: Trx,
  named: readonly { id: string; field: string }[],
): Promise<Map<string, ItemFacts>> => {
  const found = await holdItems(
    trx,
    named.map(({ id }) => id),
  )
  const missing = named.filter(({ id }) => found.get(id)?.status !== 'active')
  if (missing.length > 0)
    throw unprocessable(
      'reference_not_found',
      'There is no such active item',
      missing.slice(0, 50).map(({ field }) => ({ field, message: 'is no active item of the tenant' })),
    )
  return found
}
