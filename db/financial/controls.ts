import type { Control } from '../../config/financial.ts'
import { contextOf, sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { whatWaits } from './poster.ts'

/** The balance that a module's own records say a kind of control accounts must have. */
export type ControlDeclaration = {
  kind: Control
  /** Selects `document_id` and `amount`, on the normal side of the accounts. `:tenantId` and `:bookId` are bound. */
  text: string
  /** Selects `account_id` and `amount` where the records know the ledger account of each balance: then each account is compared, not their sum alone. */
  byAccount?: string
}

const declared = new Map<Control, string[]>()
const ofAccounts = new Map<Control, string>()

/** Adds the records of a module to a kind of control accounts (R15). Several modules may have a part in one kind. */
export const registerControl = ({ kind, text, byAccount }: ControlDeclaration): void => {
  if (byAccount !== undefined) ofAccounts.set(kind, byAccount)
  const known = declared.get(kind) ?? []
  if (!known.includes(text)) declared.set(kind, [...known, text])
}

export type ControlFinding = Record<string, unknown>

/** Accounts of a kind whose balance, with what is not posted yet, is not that of the records. */
const accountDifferences = (
  trx: Trx,
  text: string,
  values: Record<string, unknown> & { kind: Control },
): Promise<ControlFinding[]> =>
  sql<ControlFinding>(
    trx,
    `select m.account_id, cast(sum(m.ledger) as bigint) as ledger, cast(sum(m.waiting) as bigint) as waiting, cast(sum(m.records) as bigint) as records from (
       select a.id as account_id, case a.side when 'debit' then b.debit - b.credit else b.credit - b.debit end as ledger, 0 as waiting, 0 as records
       from account a join account_balance b on b.tenant_id = a.tenant_id and b.book_id = a.book_id and b.account_id = a.id
       where a.tenant_id = :tenantId and a.book_id = :bookId and a.control = :kind
       union all
       select w.account_id, 0, case a.side when 'debit' then w.debit - w.credit else w.credit - w.debit end, 0
       from jsonb_to_recordset(cast(:waiting as jsonb)) as w (account_id uuid, document_id uuid, debit bigint, credit bigint)
       join account a on a.tenant_id = :tenantId and a.id = w.account_id and a.control = :kind
       union all
       select r.account_id, 0, 0, r.amount from (${text}) r) m
     group by 1 having sum(m.ledger + m.waiting) <> sum(m.records) order by 1`,
    values,
  )

/**
 * For each kind of control accounts that modules keep records of: the differences between the balance of its accounts with what is not posted yet, and those
 * records; by document, and by account where the records know it. None where the sums agree.
 */
export const controlDifferences = async (trx: Trx, bookId: string): Promise<Map<Control, ControlFinding[]>> => {
  const values = { tenantId: contextOf(trx).tenantId, bookId }
  const waiting = JSON.stringify(declared.size === 0 ? [] : await whatWaits(trx, bookId))
  const found = new Map<Control, ControlFinding[]>()
  for (const [kind, texts] of declared) {
    const rows = await sql<{ documentId: string | null; ledger: number; waiting: number; records: number }>(
      trx,
      `select m.document_id, cast(sum(m.ledger) as bigint) as ledger, cast(sum(m.waiting) as bigint) as waiting, cast(sum(m.records) as bigint) as records
       from (
         select l.document_id, sum(case a.side when 'debit' then l.debit - l.credit else l.credit - l.debit end) as ledger, 0 as waiting, 0 as records
         from account a join journal_line l on l.tenant_id = a.tenant_id and l.book_id = a.book_id and l.account_id = a.id
         where a.tenant_id = :tenantId and a.book_id = :bookId and a.control = :kind group by 1
         union all
         select w.document_id, 0, case a.side when 'debit' then w.debit - w.credit else w.credit - w.debit end, 0
         from jsonb_to_recordset(cast(:waiting as jsonb)) as w (account_id uuid, document_id uuid, debit bigint, credit bigint)
         join account a on a.tenant_id = :tenantId and a.id = w.account_id and a.control = :kind
         union all
         ${texts.map((text) => `select r.document_id, 0, 0, r.amount from (${text}) r`).join(' union all ')}
       ) m group by 1 having sum(m.ledger + m.waiting) <> sum(m.records) order by 1`,
      { ...values, kind, waiting },
    )
    const difference = rows.reduce((sum, row) => sum + row.ledger + row.waiting - row.records, 0)
    const byAccount = ofAccounts.get(kind)
    const accounts =
      byAccount === undefined ? [] : await accountDifferences(trx, byAccount, { ...values, kind, waiting })
    found.set(kind, [...accounts, ...(difference === 0 ? [] : [{ difference }, ...rows])])
  }
  return found
}
