import { unprocessable } from '../../../config/errors.ts'
import { accountArchived, accountRestored } from '../../../config/events/financial.ts'
import { contextOf, sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { changeRow } from '../../lib/records.ts'
import { removeUnused } from '../../lib/remove.ts'
import { Account } from '../models.ts'
import { hasLines, moves, readAccount, tellAccount } from './read.ts'
import type { AccountRecord } from './read.ts'

/** Records that name an account, in words; null where none does. */
const userOf = async (trx: Trx, { id, bookId, role }: AccountRecord): Promise<string | null> => {
  if (role !== null) return `it plays the role ${role}`
  const found = await sqlOne<{ what: string }>(
    trx,
    `select what from (
       select 'a posting rule names it' as what where exists (select from posting_rule r where r.tenant_id = :tenantId and r.account_id = :id
         and (r.valid_to is null or r.valid_to >= (select least(cast(now() at time zone b.time_zone as date), (select min(d.date) from business_day d
           join property p on p.tenant_id = d.tenant_id and p.id = d.property_id and p.book_id = b.id where d.tenant_id = b.tenant_id and d.status = 'open'))
           from book b where b.tenant_id = r.tenant_id and b.id = r.book_id)))
       union all select 'a tax code names it' where exists (select from tax_code t where t.tenant_id = :tenantId and t.active
         and :id in (t.liability_account_id, t.contra_account_id))
       union all select 'a template names it' where exists (select from entry_template m where m.tenant_id = :tenantId and m.status <> 'removed'
         and m.lines @> jsonb_build_array(jsonb_build_object('accountId', cast(:id as text))))
       union all select 'an accrual that runs names it' where exists (select from accrual_schedule s where s.tenant_id = :tenantId and s.status = 'running'
         and :id in (s.source_account_id, s.target_account_id))
       union all select 'a tax of a property names it' where exists (select from tax_rule t where t.tenant_id = :tenantId and t.account_id = :id)
       union all select 'a cash account keeps its money there' where exists (select from cash_account c where c.tenant_id = :tenantId
         and c.ledger_account_id = :id and c.status <> 'archived')
       union all select 'a transfer that is not done names it' where exists (select from cash_transfer t where t.tenant_id = :tenantId
         and t.book_id = :bookId and t.account_id = :id and t.status in ('pending_approval', 'approved', 'sending', 'unknown'))
       union all select 'the settings of receivables name it' where exists (select from receivable_settings s where s.tenant_id = :tenantId
         and :id in (s.bad_debt_account_id, s.allowance_account_id))
       union all select 'an active account stands below it' where exists (select from account a where a.tenant_id = :tenantId and a.parent_id = :id
         and a.status = 'active')) u limit 1`,
    { tenantId: contextOf(trx).tenantId, bookId, id },
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
  const used = () =>
    unprocessable('in_use', 'The account was used; archive it', [
      { field: 'accountId', message: 'has entries, rules, or accounts below it, or a document names it' },
    ])
  if (await hasLines(trx, account)) throw used()
  await removeUnused(trx, 'account', id, used)
  await tellAccount(trx, accountArchived, account, account.version)
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
  await tellAccount(trx, accountArchived, account, version)
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
  await tellAccount(trx, accountRestored, account, version)
}
