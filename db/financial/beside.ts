import { contextOf, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { readRow } from '../lib/records.ts'
import { createAccount } from './accounts/create.ts'
import { holdTree } from './accounts/read.ts'
import { Account } from './models.ts'

/**
 * Makes an account that is like another one but for its name, below the same group and with its next free code, and plays no role. Answers its id.
 * 409 `duplicate_code` where all 99 codes are taken.
 */
export const createAccountBeside = async (trx: Trx, accountId: string, name: string): Promise<string> => {
  const like = await readRow(trx, Account, accountId)
  await holdTree(trx, like.bookId)
  const free = await sqlOne<{ code: string; parentId: string | null }>(
    trx,
    `select p.code || '.' || lpad(cast(n.n as text), 2, '0') as code, p.id as parent_id
     from account a join account p on p.tenant_id = a.tenant_id and p.id = a.parent_id cross join generate_series(1, 99) as n (n)
     where a.tenant_id = ? and a.id = ?
       and not exists (select from account o where o.tenant_id = a.tenant_id and o.book_id = a.book_id
         and o.code = p.code || '.' || lpad(cast(n.n as text), 2, '0'))
     order by n.n limit 1`,
    [contextOf(trx).tenantId, accountId],
  )
  return createAccount(trx, {
    bookId: like.bookId,
    code: free?.code ?? like.code,
    name,
    ...(free?.parentId ? { parentId: free.parentId } : { class: like.class }),
    side: like.side,
    control: like.control,
    section: like.section,
    cashFlow: like.cashFlow,
    usaliCode: like.usaliCode,
    referentialCode: like.referentialCode,
  })
}
