import type { accountChanged } from '../../../config/events/financial.ts'
import { unprocessable } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { emit } from '../../lib/events.ts'
import type { ChangedField } from '../../lib/events.ts'
import { archivable } from '../../lib/lifecycle.ts'
import { readRow } from '../../lib/records.ts'
import { ledgerState, movements } from '../chart.ts'
import { Account } from '../models.ts'

export const moves = archivable('An account')
export const cashFlows = ['cash', 'operating', 'investing', 'financing'] as const
export type CashFlow = (typeof cashFlows)[number]

export type AccountRecord = NonNullable<(typeof Account)['row']>

export const readAccount = (trx: Trx, id: string) => readRow(trx, Account, id)

/** An account with its balance today on its normal side, of the lines in `scope` alone; of a group, the sum of what is below it. */
export const readAccountNow = async (trx: Trx, id: string, scope: Condition) => {
  const account = await readAccount(trx, id)
  const below = await sql<{ id: string }>(
    trx,
    `with recursive down as (
       select ?::uuid as id union all select a.id from down d join account a on a.tenant_id = ? and a.book_id = ? and a.parent_id = d.id)
     select id from down`,
    [id, contextOf(trx).tenantId, account.bookId],
  )
  const [moved, state] = await Promise.all([
    movements(
      trx,
      account.bookId,
      undefined,
      undefined,
      scope,
      below.map((one) => one.id),
    ),
    ledgerState(trx, account.bookId),
  ])
  const total = below.reduce((sum, one) => sum + (moved.get(one.id) ?? 0), 0)
  return { ...account, balance: account.side === 'debit' || total === 0 ? total : -total, ...state }
}

/** Parents change one at a time, so that no two changes make a circle. */
export const holdTree = (trx: Trx, bookId: string) =>
  sql(trx, `select pg_advisory_xact_lock(hashtextextended(?, 33))`, [bookId])

type Parent = Pick<AccountRecord, 'id' | 'class' | 'postable'> & {
  level: number
  section: string | null
  cashFlow: CashFlow | null
}

/** The parent by id or code, with its depth, and the section and cash flow of its first account. 422 `reference_not_found`. */
export const parentOf = async (
  trx: Trx,
  bookId: string,
  { parentId, parentCode }: { parentId?: string | undefined; parentCode?: string | undefined },
): Promise<Parent> => {
  const { tenantId } = contextOf(trx)
  const parent = await sqlOne<Parent>(
    trx,
    `with recursive up as (
       select a.id, a.parent_id, 1 as level from account a
       where a.tenant_id = :tenantId and a.book_id = :bookId and (a.id = cast(:parentId as uuid) or a.code = cast(:parentCode as text))
       union all select a.id, a.parent_id, u.level + 1 from up u join account a on a.tenant_id = :tenantId and a.id = u.parent_id)
     select a.id, a.class, a.postable, (select max(level) from up) as level, coalesce(c.section, a.section) as section,
       coalesce(c.cash_flow, a.cash_flow) as cash_flow
     from account a
     left join lateral (select c.section, c.cash_flow from account c where c.tenant_id = a.tenant_id and c.parent_id = a.id
       order by c.code collate "C" limit 1) c on true
     where a.tenant_id = :tenantId and a.book_id = :bookId and (a.id = cast(:parentId as uuid) or a.code = cast(:parentCode as text))`,
    { tenantId, bookId, parentId: parentId ?? null, parentCode: parentCode ?? null },
  )
  const field = parentId === undefined ? 'parentCode' : 'parentId'
  if (!parent)
    throw unprocessable('reference_not_found', 'The book has no such group', [
      { field, message: parentId ?? parentCode ?? '' },
    ])
  if (parent.postable)
    throw unprocessable('account_not_usable', 'The parent takes entries itself', [{ field, message: 'is no group' }])
  return parent
}

export const hasLines = async (trx: Trx, { id, bookId }: AccountRecord): Promise<boolean> =>
  (await sqlOne(trx, `select 1 from account_balance where tenant_id = ? and book_id = ? and account_id = ? limit 1`, [
    contextOf(trx).tenantId,
    bookId,
    id,
  ])) !== null

export const tellAccount = (
  trx: Trx,
  event: typeof accountChanged,
  { id, bookId, code }: Pick<AccountRecord, 'id' | 'bookId' | 'code'>,
  version: number,
  changed: ChangedField[] = [],
) => emit(trx, event, { propertyId: null, id, version, data: { accountId: id, bookId, code }, changed })
