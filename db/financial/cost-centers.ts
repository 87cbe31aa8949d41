import { randomUUID } from 'node:crypto'
import { invalid, notFound, unprocessable } from '../../config/errors.ts'
import { isAlways, whereOf } from '../lib/conditions.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { contains, equal, pageOf } from '../lib/lists.ts'
import { changeRow, insertRow, readRow } from '../lib/records.ts'
import { removeUnused } from '../lib/remove.ts'
import { bookFor } from './chart.ts'
import { CostCenter } from './models.ts'

const deepest = 4

export const listCostCenters = pageOf(CostCenter, {
  order: ['code', 'id'],
  filters: {
    bookId: equal('bookId'),
    kind: equal('kind'),
    active: equal('active'),
    parentId: equal('parentId'),
    q: contains('code', 'name'),
  },
})

export const readCostCenter = (trx: Trx, id: string) => readRow(trx, CostCenter, id)

/** Revenue and expense of a cost centre in the fiscal year that holds a day, each on its normal side; of the lines in `scope` alone. */
export const costCenterTotals = async (trx: Trx, id: string, scope: Condition) => {
  const totals = await sqlOne<{ year: number; currency: string; revenue: number; expense: number }>(
    trx,
    `select y.year, k.currency,
       coalesce(sum(case when a.class = 'revenue' then b.credit - b.debit end), 0)::bigint as revenue,
       coalesce(sum(case when a.class = 'expense' then b.debit - b.credit end), 0)::bigint as expense
     from cost_center c
     join book k on k.tenant_id = c.tenant_id and k.id = c.book_id
     join fiscal_year y on y.tenant_id = c.tenant_id and y.book_id = c.book_id
       and cast(now() at time zone k.time_zone as date) between y.starts_on and y.ends_on
     left join fiscal_period p on p.tenant_id = y.tenant_id and p.fiscal_year_id = y.id and p.kind = 'regular'
     left join account_balance b on b.tenant_id = c.tenant_id and b.book_id = c.book_id and b.cost_center_id = c.id and b.period_id = p.id and :seen
     left join account a on a.tenant_id = b.tenant_id and a.id = b.account_id
     where c.tenant_id = :tenantId and c.id = :id group by y.year, k.currency`,
    {
      tenantId: contextOf(trx).tenantId,
      id,
      seen: isAlways(scope) ? whereOf(scope, {}) : whereOf(scope, { propertyId: 'b.property_id' }),
    },
  )
  if (!totals) throw notFound('No such cost centre')
  return totals
}

type Place = { bookId: string; parentId: string | null | undefined; id?: string }

/** Refuses a parent of another book (422), one of the centre's own descendants, and a fifth level (400). Holds the tree until the end. */
const checkPlace = async (trx: Trx, { bookId, parentId, id }: Place): Promise<void> => {
  const { tenantId } = contextOf(trx)
  await sql(trx, `select pg_advisory_xact_lock(hashtextextended(?, 32))`, [bookId])
  if (parentId) {
    const above = await sql<{ id: string }>(
      trx,
      `with recursive up as (
         select c.id, c.parent_id, 1 as level from cost_center c where c.tenant_id = :tenantId and c.book_id = :bookId and c.id = :parentId
         union all select c.id, c.parent_id, u.level + 1 from up u join cost_center c on c.tenant_id = :tenantId and c.id = u.parent_id
         where u.level <= ${deepest})
       select id from up`,
      { tenantId, bookId, parentId },
    )
    const field = 'parentId'
    if (above.length === 0)
      throw unprocessable('reference_not_found', 'The book has no such cost centre', [{ field, message: parentId }])
    if (above.some((one) => one.id === id)) throw invalid([{ field, message: 'stands below the cost centre itself' }])
    const below = id === undefined ? 1 : await levelsBelow(trx, id)
    if (above.length + below > deepest) throw invalid([{ field, message: `would make more than ${deepest} levels` }])
  }
}

const levelsBelow = async (trx: Trx, id: string): Promise<number> => {
  const found = await sqlOne<{ levels: number }>(
    trx,
    `with recursive down as (
       select ?::uuid as id, 1 as level
       union all select c.id, d.level + 1 from down d join cost_center c on c.tenant_id = ? and c.parent_id = d.id where d.level <= ${deepest})
     select max(level) as levels from down`,
    [id, contextOf(trx).tenantId],
  )
  return found?.levels ?? 1
}

/** 409 `duplicate_code`, 422 `reference_not_found`, 400 for a fifth level. */
export const createCostCenter = async (
  trx: Trx,
  {
    bookId,
    ...center
  }: {
    bookId?: string
    code: string
    name: string
    kind?: 'department' | 'project' | 'other'
    parentId?: string | null
  },
): Promise<string> => {
  const id = randomUUID()
  const book = await bookFor(trx, bookId)
  await checkPlace(trx, { bookId: book.id, parentId: center.parentId })
  await insertRow(trx, CostCenter, { ...center, id, bookId: book.id })
  return id
}

/** Changes name, parent or active switch; one that is switched off takes no new lines. The caller holds its row. */
export const changeCostCenter = async (
  trx: Trx,
  id: string,
  change: { name?: string | undefined; parentId?: string | null | undefined; active?: boolean | undefined },
): Promise<void> => {
  const { bookId } = await readCostCenter(trx, id)
  if (change.parentId !== undefined) await checkPlace(trx, { bookId, parentId: change.parentId, id })
  await changeRow(trx, CostCenter, id, change)
}

/** Deletes a cost centre that nothing names; 422 `in_use`. The caller holds its row. */
export const deleteCostCenter = async (trx: Trx, id: string) => {
  const center = await readCostCenter(trx, id)
  await removeUnused(trx, 'cost_center', id, () =>
    unprocessable('in_use', 'Lines, rules, documents or other cost centres name it; switch it off by active: false'),
  )
  return center
}
