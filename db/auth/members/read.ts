import { notFound } from '../../../config/errors.ts'
import type { Condition } from '../../lib/conditions.ts'
import { sqlOne } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import { lifecycle } from '../../lib/lifecycle.ts'
import { inScope, readPage, where } from '../../lib/paging.ts'
import type { Page, Paging } from '../../lib/paging.ts'

export const memberStatuses = ['invited', 'active', 'deactivated'] as const
export type MemberStatus = (typeof memberStatuses)[number]

export const memberLifecycle = lifecycle<MemberStatus>('A member')({
  changed: { from: ['active'] },
  deactivated: { from: ['invited', 'active'], to: 'deactivated' },
  'invited again': { from: ['invited'] },
  'freed of a second factor': { from: ['active'] },
})

export type Member = {
  userId: string
  email: string
  name: string
  /** Key of a built-in or custom role. */
  role: string
  status: MemberStatus
  propertyIds: string[] | null
  mfaEnabled: boolean
  lastSeenAt: Date | null
  invitedAt: Date
  acceptedAt: Date | null
  version: number
}

export type MemberFilter = {
  status?: MemberStatus | undefined
  role?: string | undefined
  propertyId?: string | undefined
  q?: string | undefined
}

/** Until an invitation is accepted nothing of the account is told, not even that there is one. */
const shown = `m.user_id, m.status, coalesce(m.role, r.key) as role, m.invited_at, m.accepted_at, m.version,
  case when m.accepted_at is null then coalesce(m.invited_email, u.email_key) else u.email end as email,
  case when m.accepted_at is null then coalesce(m.invited_name, left(split_part(u.email_key, '@', 1), 120)) else u.name end as name,
  m.accepted_at is not null and u.totp_confirmed_at is not null as mfa_enabled,
  case when m.accepted_at is not null then
    (select max(s.last_seen_at) from session s where s.user_id = m.user_id and s.active_tenant_id = m.tenant_id) end as last_seen_at,
  case when m.all_properties then null else coalesce((select array_agg(p.property_id order by p.property_id) from membership_property p
    where p.tenant_id = m.tenant_id and p.membership_id = m.id), '{}') end as property_ids`
export const from = `from membership m join app_user u on u.id = m.user_id left join role r on r.tenant_id = m.tenant_id and r.id = m.role_id`

const like = (text: string) => `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`

/** A page of members by name. `byName` searches names alone, for callers that see no addresses. */
export const listMembers = async (
  trx: Trx,
  {
    status,
    role,
    propertyId,
    q,
    byName,
    scope,
    ...paging
  }: MemberFilter & Paging & { byName: boolean; scope: Condition },
): Promise<Page<Member>> => {
  const typed = q === undefined ? undefined : like(q.trim())
  return readPage<Member>(
    trx,
    {
      columns: '*',
      from: `(select ${shown} ${from}) as found`,
      conditions: [
        ...inScope(scope, { propertyId: null }),
        ...where('status = ?', status),
        ...where('role = ?', role),
        ...where('(property_ids is null or ? = any(property_ids))', propertyId),
        ...(typed === undefined
          ? []
          : byName
            ? where('lower(name) like ?', typed)
            : [{ text: '(lower(name) like ? or lower(email) like ?)', values: [typed, typed] }]),
      ],
      order: 'lower(name), user_id',
    },
    paging,
  )
}

/** One member of the transaction's tenant; 404 where there is none. */
export const readMember = async (trx: Trx, userId: string): Promise<Member> => {
  const member = await sqlOne<Member>(trx, `select ${shown} ${from} where m.user_id = ?`, [userId])
  if (!member) throw notFound()
  return member
}
