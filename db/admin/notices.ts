import type { UserMailKind } from '../../config/user-mails/kinds.ts'
import { sql } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { mailUser } from '../ocp/index.ts'

type Words = { key?: string; day?: string; amount?: string }

/**
 * Mails the owners, the admins and, of bills, the finance people of a tenant, inside of it. Once for a kind and a reference, however often it is
 * asked for.
 */
export const tellOwners = async (trx: Trx, kind: UserMailKind, reference: string, words: Words): Promise<void> => {
  const [made] = await sql<{ id: string }>(
    trx,
    `insert into notice (tenant_id, kind, reference, house, key, day, money)
     select t.id, :kind, :reference, t.name, :key, :day::date, :amount from tenant t
     where t.id = nullif(current_setting('app.tenant_id', true), '')::uuid
     on conflict (tenant_id, kind, reference) do nothing returning id`,
    { kind, reference, key: words.key ?? null, day: words.day ?? null, amount: words.amount ?? null },
  )
  if (!made) return
  const people = await sql<{ userId: string }>(
    trx,
    `select user_id from membership where status = 'active' and (role in ('owner', 'admin') or (role = 'finance' and ?)) order by user_id limit 50`,
    [kind.startsWith('subscription_')],
  )
  for (const { userId } of people) await mailUser(trx, userId, kind, made.id)
}
