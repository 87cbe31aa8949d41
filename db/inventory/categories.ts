import { randomUUID } from 'node:crypto'
import type { ExpenseGroup } from '../../config/inventory.ts'
import { invalid, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { refuseStrangers } from '../lib/sets.ts'
import { lockSet, versionOfSet } from './sets.ts'

export type CategoryEntry = {
  id?: string | undefined
  code: string
  name: string
  parentCode: string | null
  expenseGroup: ExpenseGroup
  /** Of the books of the tenant; null takes the account of the chart. */
  stockAccountId: string | null
  expenseAccountId: string | null
}

const deepest = 3

export const readCategories = async (trx: Trx) => ({
  data: await sql<CategoryEntry & { id: string }>(
    trx,
    `select id, code, name, parent_code, expense_group, stock_account_id, expense_account_id from inventory_category
     where status = 'active' order by position, code, id limit 500`,
  ),
  version: await versionOfSet(trx, 'categories', null),
})

/** Codes that stand twice, parents that are not there, and trees that are too deep or go in a circle. */
const judgeTree = (entries: readonly CategoryEntry[]) => {
  const errors: FieldError[] = []
  const byCode = new Map(entries.map((one) => [one.code, one]))
  entries.forEach((entry, index) => {
    const field = `categories.${index}`
    if (entries.findIndex((one) => one.code === entry.code) !== index)
      errors.push({ field: `${field}.code`, message: 'stands twice' })
    if (entry.parentCode !== null && !byCode.has(entry.parentCode))
      errors.push({ field: `${field}.parentCode`, message: 'is no category of the set' })
    let depth = 1
    for (let at: CategoryEntry | undefined = entry; at?.parentCode && depth <= deepest; depth += 1)
      at = byCode.get(at.parentCode)
    if (depth > deepest)
      errors.push({ field: `${field}.parentCode`, message: `leads over more than ${deepest} levels, or in a circle` })
  })
  if (errors.length > 0) throw invalid(errors)
}

/** Accounts of stock are control accounts of stock; those of use are expenses that people may post to. */
const judgeAccounts = async (trx: Trx, entries: readonly CategoryEntry[]) => {
  const ids = entries.flatMap((one) => [one.stockAccountId, one.expenseAccountId]).filter((id) => id !== null)
  if (ids.length === 0) return
  const accounts = await sql<{ id: string; class: string; control: string | null; usable: boolean }>(
    trx,
    `select id, class, control, postable and status = 'active' as usable from account where id = any(?::uuid[])`,
    [ids],
  )
  const refuse = (field: string, id: string | null, fits: (account: (typeof accounts)[number]) => boolean) => {
    if (id === null) return
    const account = accounts.find((one) => one.id === id)
    if (!account)
      throw unprocessable('reference_not_found', 'There is no such account', [{ field, message: 'is no account' }])
    if (!account.usable || !fits(account))
      throw unprocessable('account_not_usable', 'The account does not fit', [
        { field, message: 'must be an active account of this kind' },
      ])
  }
  entries.forEach(({ stockAccountId, expenseAccountId }, index) => {
    refuse(`categories.${index}.stockAccountId`, stockAccountId, ({ control }) => control === 'stock')
    refuse(
      `categories.${index}.expenseAccountId`,
      expenseAccountId,
      (one) => one.class === 'expense' && one.control === null,
    )
  })
}

/** Replaces the categories of items. 422 `in_use` for one that has items and is left out. */
export const replaceCategories = async (
  trx: Trx,
  entries: readonly CategoryEntry[],
  expected: number | null,
): Promise<void> => {
  judgeTree(entries)
  await lockSet(trx, 'categories', null, expected)
  await judgeAccounts(trx, entries)
  const stored = await sql<{ id: string; used: boolean; code: string }>(
    trx,
    `select c.id, c.code, exists (select from inventory_item i where i.tenant_id = c.tenant_id and i.category_id = c.id and i.status = 'active') as used
     from inventory_category c where c.status = 'active' order by c.id for update of c`,
  )
  refuseStrangers(
    'categories',
    entries,
    stored.map(({ id }) => id),
  )
  const left = stored.filter((one) => !entries.some(({ id }) => id === one.id))
  const used = left.filter((one) => one.used)
  if (used.length > 0)
    throw unprocessable(
      'in_use',
      'A category that has items stays',
      used.slice(0, 50).map(({ id, code }) => ({ field: 'categories', message: `${code} (${id}) has items` })),
    )
  const rows = entries.map((entry, position) => ({ ...entry, id: entry.id ?? randomUUID(), position }))
  // All of them leave first, so that two may change codes with each other.
  await sql(trx, `update inventory_category set status = 'archived' where status = 'active'`)
  await sql(
    trx,
    `insert into inventory_category (id, code, name, parent_code, expense_group, stock_account_id, expense_account_id, position)
     select c.id, c.code, c.name, c."parentCode", c."expenseGroup", c."stockAccountId", c."expenseAccountId", c.position
     from jsonb_to_recordset(?::jsonb) as c (id uuid, code text, name text, "parentCode" text, "expenseGroup" text, "stockAccountId" uuid, "expenseAccountId" uuid, position int)
     on conflict (tenant_id, id) do update set code = excluded.code, name = excluded.name, parent_code = excluded.parent_code,
       expense_group = excluded.expense_group, stock_account_id = excluded.stock_account_id, expense_account_id = excluded.expense_account_id,
       position = excluded.position, status = 'active'`,
    [JSON.stringify(rows)],
  )
}
