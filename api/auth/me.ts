import {
  Bool,
  Email,
  Instant,
  Int,
  List,
  Language,
  LocaleTag,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { membershipsOf, updateProfile } from '../../db/auth/index.ts'
import { sqlOne } from '../../db/lib/connection.ts'
import type { AnyTrx } from '../../db/lib/connection.ts'
import { signedIn } from '../lib/access/kinds.ts'
import { requireOwn, requireSession } from '../lib/access/admission.ts'
import type { UserCaller } from '../lib/caller.ts'
import { route } from '../lib/route.ts'

type Row = {
  id: string
  email: string
  name: string
  locale: string
  level: 'N1' | 'N2' | null
  since: Date | null
  codes: number
  tokenPrefix: string
  expiresAt: Date
  absoluteExpiresAt: Date
  reauthenticatedUntil: Date | null
}

const Account = Obj(
  {
    id: Uuid,
    email: Email,
    name: Text(1, 120),
    locale: LocaleTag,
    superuser: Nullable(Obj({ level: OneOf(['N1', 'N2']) })),
    mfa: Obj({ enabled: Bool, since: Nullable(Instant), recoveryCodesLeft: Int(0, 10) }),
    activeTenantId: Nullable(Uuid),
    tenants: List(Obj({ tenantId: Uuid, name: Text(1, 120), role: Text(1, 40) }), { max: 1_000 }),
    session: Obj({
      tokenPrefix: Text(12, 12),
      expiresAt: Instant,
      absoluteExpiresAt: Instant,
      reauthenticatedUntil: Nullable(Instant),
    }),
  },
  { title: 'OwnAccount' },
)

const read = async (trx: AnyTrx, { userId, sessionId, activeTenantId }: UserCaller) => {
  const row = await sqlOne<Row>(
    trx,
    `select u.id, u.email, u.name, u.locale, u.totp_confirmed_at as since, s.token_prefix, s.expires_at, s.absolute_expires_at,
       s.reauthenticated_at + interval '10 minutes' as reauthenticated_until,
       (select level from superuser_account a where a.user_id = u.id and a.ended_at is null) as level,
       (select count(*) from recovery_code c where c.user_id = u.id and c.used_at is null) as codes
     from app_user u join session s on s.user_id = u.id where s.id = ?`,
    [sessionId],
  )
  if (!row) throw new Error('the session that was just checked is gone')
  const memberships = await membershipsOf(trx, userId)
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    locale: row.locale,
    superuser: row.level === null ? null : { level: row.level },
    mfa: { enabled: row.since !== null, since: row.since, recoveryCodesLeft: row.codes },
    activeTenantId,
    tenants: memberships.map(({ tenantId, tenantName, role }) => ({ tenantId, name: tenantName, role })),
    session: {
      tokenPrefix: row.tokenPrefix,
      expiresAt: row.expiresAt,
      absoluteExpiresAt: row.absoluteExpiresAt,
      reauthenticatedUntil: row.reauthenticatedUntil,
    },
  }
}

const me = route({
  id: 'auth.me',
  method: 'GET',
  path: '/api/auth/me',
  summary: 'Read own account, tenants and second factor',
  access: signedIn('read', 'Profile'),
  returns: Account,
  handle: ({ trx, caller }) => {
    requireSession(caller)
    return read(trx, caller)
  },
})

const update = route({
  id: 'auth.updateMe',
  method: 'PATCH',
  path: '/api/auth/me',
  summary: 'Change own name or language',
  access: signedIn('update', 'Profile'),
  body: Obj({ name: Opt(Words(1, 120)), locale: Opt(Language) }),
  example: { name: 'Renata Alves', locale: 'pt-BR' },
  returns: Account,
  handle: async ({ trx, caller, body }) => {
    requireOwn(caller)
    await updateProfile(trx, caller.userId, body)
    return read(trx, caller)
  },
})

export const routes = [me, update]
