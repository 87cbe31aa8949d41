import type { UserMailKind } from '../../config/user-mails/kinds.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { mailUser } from './user-mail.ts'

/** Mails active members with one of the roles, once for each reference. `key` and `money` are words of the mail. */
export const noticeRoles = async (
  trx: Trx,
  roles: readonly string[],
  {
    kind,
    reference,
    key = null,
    money = null,
    own = false,
  }: {
    kind: UserMailKind
    reference: string
    key?: string | null
    money?: string | null
    /** The person who acts is mailed, too: it may be somebody else in their name. */
    own?: boolean
  },
): Promise<void> => {
  const { tenantId, actor } = contextOf(trx)
  const notice = await sqlOne<{ id: string }>(
    trx,
    `insert into notice (tenant_id, kind, reference, house, key, money)
     select t.id, cast(:kind as text), cast(:reference as text), t.name, cast(:key as text), cast(:money as text) from tenant t where t.id = :tenantId
     on conflict on constraint notice_once do nothing returning id`,
    { tenantId, kind, reference, key, money },
  )
  if (!notice) return
  const people = await sql<{ userId: string }>(
    trx,
    `select m.user_id from membership m left join role r on r.tenant_id = m.tenant_id and r.id = m.role_id
     where m.tenant_id = ? and coalesce(r.key, m.role) = any(?::text[]) and m.status = 'active' and m.user_id is distinct from cast(? as uuid) order by m.user_id`,
    [tenantId, roles, actor.type === 'user' && !own ? actor.id : null],
  )
  for (const { userId } of people) await mailUser(trx, userId, kind, notice.id)
}
