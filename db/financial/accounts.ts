import { randomUUID } from 'node:crypto'
import { controlOf, sideOf } from '../../config/financial.ts'
import type { AccountClass, Control, Side } from '../../config/financial.ts'
import { invalid, unprocessable } from '../../config/errors.ts'
import { accountArchived, accountChanged, accountCreated, accountRestored } from '../../config/events/financial.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit, sentFields } from '../lib/events.ts'
import type { ChangedField } from '../lib/events.ts'
import { archivable } from '../lib/lifecycle.ts'
import { changeRow, fieldsOf, insertRow, readRow } from '../lib/records.ts'
import { bookFor, ledgerState, movements } from './chart.ts'
import { Account } from './models.ts'
import { deepest } from './rules/chart-import.ts'

const moves = archivable('An account')
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
    movements(trx, account.bookId, undefined, undefined, scope),
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
const parentOf = async (
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

export type NewAccount = {
  bookId?: string
  code: string
  name: string
  parentId?: string
  parentCode?: string
  class?: AccountClass
  postable?: boolean
  side?: Side
  control?: Control | null
  section?: string | null
  cashFlow?: CashFlow | null
  usaliCode?: string
  referentialCode?: string
}

/** Adds an account below a group, or a root by its class. 409 `duplicate_code`, 422 `reference_not_found`, `account_not_usable`. */
export const createAccount = async (
  trx: Trx,
  { bookId, parentId, parentCode, postable = true, ...account }: NewAccount,
): Promise<string> => {
  const id = randomUUID()
  const book = await bookFor(trx, bookId)
  const ways = [parentId, parentCode, account.class].filter((one) => one !== undefined)
  if (ways.length !== 1)
    throw invalid([{ field: 'parentId', message: 'exactly one of parentId, parentCode and class is given' }])
  if (!postable && account.control) throw invalid([{ field: 'control', message: 'belongs to postable accounts' }])
  await holdTree(trx, book.id)
  const parent = account.class === undefined ? await parentOf(trx, book.id, { parentId, parentCode }) : null
  if (parent && parent.level >= deepest)
    throw invalid([{ field: 'parentId', message: `would make more than ${deepest} levels` }])
  const accountClass = parent?.class ?? account.class ?? 'asset'
  await insertRow(trx, Account, {
    id,
    bookId: book.id,
    currency: book.currency,
    code: account.code,
    name: account.name,
    class: accountClass,
    side: account.side ?? sideOf(accountClass),
    parentId: parent?.id ?? null,
    postable,
    control: account.control ?? null,
    section: account.section === undefined ? (parent?.section ?? null) : account.section,
    cashFlow: account.cashFlow === undefined ? (parent?.cashFlow ?? null) : account.cashFlow,
    usaliCode: account.usaliCode,
    referentialCode: account.referentialCode,
  })
  await emit(trx, accountCreated, {
    propertyId: null,
    id,
    version: 1,
    data: { accountId: id, bookId: book.id, code: account.code },
  })
  return id
}

export type AccountChange = {
  code?: string | undefined
  name?: string | undefined
  parentId?: string | undefined
  section?: string | null | undefined
  cashFlow?: CashFlow | null | undefined
  usaliCode?: string | undefined
  referentialCode?: string | undefined
  role?: string | undefined
}

const hasLines = async (trx: Trx, { id, bookId }: AccountRecord): Promise<boolean> =>
  (await sqlOne(trx, `select 1 from account_balance where tenant_id = ? and book_id = ? and account_id = ? limit 1`, [
    contextOf(trx).tenantId,
    bookId,
    id,
  ])) !== null

/** Refuses a parent of another class, below the account itself, or too deep. */
const checkMove = async (trx: Trx, account: AccountRecord, parentId: string): Promise<void> => {
  await holdTree(trx, account.bookId)
  const parent = await parentOf(trx, account.bookId, { parentId })
  const field = 'parentId'
  if (parent.class !== account.class)
    throw invalid([{ field, message: `must be of class ${account.class}, as the account is` }])
  const down = await sqlOne<{ levels: number; isBelow: boolean }>(
    trx,
    `with recursive down as (
       select ?::uuid as id, 1 as level union all
       select a.id, d.level + 1 from down d join account a on a.tenant_id = ? and a.book_id = ? and a.parent_id = d.id)
     select max(level) as levels, bool_or(id = ?) as is_below from down`,
    [account.id, contextOf(trx).tenantId, account.bookId, parentId],
  )
  if (down?.isBelow) throw invalid([{ field, message: 'stands below the account itself' }])
  if (parent.level + (down?.levels ?? 1) > deepest)
    throw invalid([{ field, message: `would make more than ${deepest} levels` }])
}

/** Takes a role from its present account, which keeps its balance (R17). 422 `role_mismatch` where class or control differ. */
const takeRole = async (trx: Trx, account: AccountRecord, role: string): Promise<void> => {
  const { tenantId } = contextOf(trx)
  const wrong = (message: string) =>
    unprocessable('role_mismatch', 'The account cannot play this role', [{ field: 'role', message }])
  if (!account.postable || account.status !== 'active') throw wrong('belongs to active accounts that take entries')
  const present = await sqlOne<Pick<AccountRecord, 'id' | 'class' | 'control'>>(
    trx,
    `select id, class, control from account where tenant_id = ? and book_id = ? and role = ? for no key update`,
    [tenantId, account.bookId, role],
  )
  if (present?.id === account.id) return
  if (present && present.class !== account.class) throw wrong(`belongs to accounts of class ${present.class}`)
  const control = present ? present.control : controlOf(role)
  if (control !== account.control)
    throw wrong(`belongs to accounts ${control ? `of control ${control}` : 'without control'}`)
  if (account.role !== null) throw wrong(`the account plays the role ${account.role} already`)
  if (present)
    await sql(trx, `update account set role = null, version = version + 1 where tenant_id = ? and id = ?`, [
      tenantId,
      present.id,
    ])
}

const tell = (
  trx: Trx,
  event: typeof accountChanged,
  { id, bookId, code }: Pick<AccountRecord, 'id' | 'bookId' | 'code'>,
  version: number,
  changed: ChangedField[] = [],
) => emit(trx, event, { propertyId: null, id, version, data: { accountId: id, bookId, code }, changed })

/** Changes what R16 leaves free. 409 `duplicate_code`; 422 `locked_field`, `role_mismatch`. The caller holds the account's row. */
export const changeAccount = async (trx: Trx, id: string, change: AccountChange): Promise<void> => {
  const account = await readAccount(trx, id)
  moves.allow('changed', account.status)
  if (fieldsOf(change).length === 0) return
  const movesCash =
    change.cashFlow !== undefined &&
    change.cashFlow !== account.cashFlow &&
    [change.cashFlow, account.cashFlow].includes('cash')
  if (movesCash && (await hasLines(trx, account)))
    throw unprocessable('locked_field', 'The account has entries', [
      { field: 'cashFlow', message: 'cash is fixed after the first entry' },
    ])
  if (change.parentId !== undefined && change.parentId !== account.parentId)
    await checkMove(trx, account, change.parentId)
  if (change.role !== undefined) await takeRole(trx, account, change.role)
  const version = await changeRow(trx, Account, id, change)
  await tell(
    trx,
    accountChanged,
    { ...account, code: change.code ?? account.code },
    version,
    sentFields(change, account),
  )
}

/** Records that name an account, in words; null where none does. */
const userOf = async (trx: Trx, { id, role }: AccountRecord): Promise<string | null> => {
  if (role !== null) return `it plays the role ${role}`
  const found = await sqlOne<{ what: string }>(
    trx,
    `select what from (
       select 'a posting rule names it' as what where exists (select from posting_rule r where r.tenant_id = :tenantId and r.account_id = :id
         and (r.valid_to is null or r.valid_to >= current_date))
       union all select 'a tax code names it' where exists (select from tax_code t where t.tenant_id = :tenantId and t.active
         and :id in (t.liability_account_id, t.contra_account_id))
       union all select 'a template names it' where exists (select from entry_template m where m.tenant_id = :tenantId and m.status <> 'removed'
         and m.lines @> jsonb_build_array(jsonb_build_object('accountId', cast(:id as text))))
       union all select 'an accrual that runs names it' where exists (select from accrual_schedule s where s.tenant_id = :tenantId and s.status = 'running'
         and :id in (s.source_account_id, s.target_account_id))
       union all select 'a tax of a property names it' where exists (select from tax_rule t where t.tenant_id = :tenantId and t.account_id = :id)
       union all select 'an active account stands below it' where exists (select from account a where a.tenant_id = :tenantId and a.parent_id = :id
         and a.status = 'active')) u limit 1`,
    { tenantId: contextOf(trx).tenantId, id },
  )
  return found?.what ?? null
}

const refuseUsed = async (trx: Trx, account: AccountRecord): Promise<void> => {
  const user = await userOf(trx, account)
  if (user) throw unprocessable('in_use', 'The account is in use', [{ field: 'accountId', message: user }])
}

/** Deletes an account without any entry, role, rule or child; 422 `in_use`. The caller holds its row. */
export const deleteAccount = async (trx: Trx, id: string): Promise<AccountRecord> => {
  const account = await readAccount(trx, id)
  await refuseUsed(trx, account)
  const { tenantId } = contextOf(trx)
  const tied = await sqlOne(
    trx,
    `select 1 where exists (select from account a where a.tenant_id = :tenantId and a.parent_id = :id)
       or exists (select from posting_rule r where r.tenant_id = :tenantId and r.account_id = :id)
       or exists (select from budget_line l where l.tenant_id = :tenantId and l.account_id = :id)
       or exists (select from accrual_schedule s where s.tenant_id = :tenantId and :id in (s.source_account_id, s.target_account_id, s.asset_account_id))
       or exists (select from tax_code t where t.tenant_id = :tenantId and :id in (t.liability_account_id, t.contra_account_id))`,
    { tenantId, id },
  )
  if (tied || (await hasLines(trx, account)))
    throw unprocessable('in_use', 'The account was used; archive it', [
      { field: 'accountId', message: 'has entries, rules, or accounts below it' },
    ])
  await sql(trx, `delete from account where tenant_id = ? and id = ?`, [tenantId, id])
  await tell(trx, accountArchived, account, account.version)
  return account
}

/** Closes an account to new entries. 422 `in_use`, `balance_not_zero`. The caller holds its row. */
export const archiveAccount = async (trx: Trx, id: string): Promise<void> => {
  const account = await readAccount(trx, id)
  if (!moves.isDue('archived', account.status)) return
  await refuseUsed(trx, account)
  const sum = await sqlOne<{ balance: number }>(
    trx,
    `select coalesce(sum(debit - credit), 0)::bigint as balance from account_balance where tenant_id = ? and book_id = ? and account_id = ?`,
    [contextOf(trx).tenantId, account.bookId, id],
  )
  if (sum && sum.balance !== 0)
    throw unprocessable('balance_not_zero', 'The account still has a balance', [
      { field: 'accountId', message: `debits less credits are ${sum.balance}` },
    ])
  const version = await changeRow(trx, Account, id, { status: 'archived' })
  await tell(trx, accountArchived, account, version)
}

/** Opens an archived account again; 422 `in_use` while its parent is archived. The caller holds its row. */
export const restoreAccount = async (trx: Trx, id: string): Promise<void> => {
  const account = await readAccount(trx, id)
  if (!moves.isDue('restored', account.status)) return
  const parent = account.parentId === null ? null : await readAccount(trx, account.parentId)
  if (parent?.status === 'archived')
    throw unprocessable('in_use', 'The group above is archived', [
      { field: 'parentId', message: `restore ${parent.code} first` },
    ])
  const version = await changeRow(trx, Account, id, { status: 'active' })
  await tell(trx, accountRestored, account, version)
}
