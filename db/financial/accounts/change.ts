import { controlOf } from '../../../config/financial.ts'
import { invalid, unprocessable } from '../../../config/errors.ts'
import { accountChanged } from '../../../config/events/financial.ts'
import { contextOf, sql, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { sentFields } from '../../lib/events.ts'
import { changeRow, fieldsOf } from '../../lib/records.ts'
import { Account } from '../models.ts'
import { deepest } from '../rules/chart-import.ts'
import { hasLines, holdTree, moves, parentOf, readAccount, tellAccount } from './read.ts'
import type { AccountRecord, CashFlow } from './read.ts'

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

/** Changes what R16 leaves free. 409 `duplicate_code`; 422 `locked_field`, `role_mismatch`. The caller holds the account's row. */
export const changeAccount = async (trx: Trx, id: string, change: AccountChange): Promise<void> => {
  const account = await readAccount(trx, id)
  moves.allow('changed', account.status)
  if (fieldsOf(change).length === 0) return
  const movesCash =
    change.cashFlow !== undefined &&
    change.cashFlow !== account.cashFlow &&
    [change.cashFlow, account.cashFlow].includes('cash')
  // Lines that are being written hold the account by their foreign key: they end first, and are seen.
  if (movesCash)
    await sql(trx, `select 1 from account where tenant_id = ? and id = ? for update`, [contextOf(trx).tenantId, id])
  if (movesCash && (await hasLines(trx, account)))
    throw unprocessable('locked_field', 'The account has entries', [
      { field: 'cashFlow', message: 'cash is fixed after the first entry' },
    ])
  if (change.parentId !== undefined && change.parentId !== account.parentId)
    await checkMove(trx, account, change.parentId)
  if (change.role !== undefined) await takeRole(trx, account, change.role)
  const version = await changeRow(trx, Account, id, change)
  await tellAccount(
    trx,
    accountChanged,
    { ...account, code: change.code ?? account.code },
    version,
    sentFields(change, account),
  )
}
