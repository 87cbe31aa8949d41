import { audit } from '../lib/audit.ts'
import { prepared, sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx } from '../lib/connection.ts'
import type { PasswordHash } from './hashing.ts'
import { SuperuserAccount, User } from './models.ts'

export type SignInUser = {
  id: string
  email: string
  name: string
  status: string
  passwordHash: string | null
  pepperId: string | null
  sessionEpoch: number
  mfaEnabled: boolean
  lastTenantId: string | null
  superuserLevel: 'N1' | 'N2' | null
}

/** Columns of a `SignInUser`, of `app_user u`. */
export const signInColumns = `u.id, u.email, u.name, u.status, u.password_hash, u.pepper_id, u.session_epoch, u.totp_confirmed_at is not null as mfa_enabled,
  u.last_tenant_id, (select level from superuser_account s where s.user_id = u.id and s.ended_at is null) as superuser_level`

export const userByEmail = (trx: AnyTrx, email: string): Promise<SignInUser | null> =>
  sqlOne<SignInUser>(trx, `select ${signInColumns} from app_user u where u.email_key = lower(?)`, [email])

export type MembershipOf = { tenantId: string; tenantName: string; role: string; status: string }

const activeMemberships = `select tenant_id, tenant_name, role, status from memberships_of(?) where status = 'active'`

/** Active memberships of a user, oldest first; the only read across tenants. */
export const membershipsOf = (trx: AnyTrx, userId: string): Promise<MembershipOf[]> =>
  prepared<MembershipOf>(trx, activeMemberships, [userId])

/** Memberships of a user who is signing in. The user's other sign-ins wait until the transaction ends. */
export const membershipsInLine = async (trx: AnyTrx, userId: string): Promise<MembershipOf[]> => {
  const [, memberships] = await Promise.all([
    prepared(trx, `select 1 from app_user where id = ? for no key update`, [userId]),
    prepared<MembershipOf>(trx, activeMemberships, [userId]),
  ])
  return memberships
}

/** Keeps a password under a newer hash; nothing where it was changed since `old` was compared: what is over does not come back. */
export const renewHash = async (
  trx: AnyTrx,
  userId: string,
  old: PasswordHash,
  { passwordHash, pepperId }: PasswordHash,
): Promise<void> => {
  await User.query(trx).findById(userId).where({ passwordHash: old.passwordHash }).patch({ passwordHash, pepperId })
}

type Profile = { name?: string | undefined; locale?: string | undefined }

/** Changes what is given of a user's own name and language. */
export const updateProfile = async (trx: AnyTrx, userId: string, { name, locale }: Profile): Promise<void> => {
  const changes = [
    ...(name === undefined ? [] : [{ field: 'name' }]),
    ...(locale === undefined ? [] : [{ field: 'locale', after: locale }]),
  ]
  await sql(
    trx,
    `update app_user set name = coalesce(?, name), locale = coalesce(?, locale), version = version + 1 where id = ?`,
    [name ?? null, locale ?? null, userId],
  )
  await audit(trx, { action: 'user.profile_update', subjectType: 'User', subjectId: userId, changes })
}

type NewUser = { id?: string; email: string; name: string; locale?: string; hash?: PasswordHash }

/** Creates a user: active with a password, which is hashed before any transaction begins, else invited. */
export const createUser = async (
  trx: PlatformTrx,
  { id, email, name, locale = 'en', hash }: NewUser,
): Promise<string> => {
  const now = new Date()
  const user = await User.query(trx)
    .insert({
      ...(id === undefined ? {} : { id }),
      email,
      emailKey: email.toLowerCase(),
      name,
      locale,
      ...(hash === undefined
        ? { status: 'invited' }
        : { ...hash, status: 'active', emailVerifiedAt: now, passwordChangedAt: now }),
    })
    .returning('id')
  return user.id
}

/** Gives a user a level at the provider. */
export const grantSuperuser = async (
  trx: PlatformTrx,
  userId: string,
  level: 'N1' | 'N2',
  reason: string,
): Promise<void> => {
  await SuperuserAccount.query(trx).patch({ endedAt: new Date() }).where({ userId }).whereNull('endedAt')
  await SuperuserAccount.query(trx).insert({ userId, level, reason })
  await audit(trx, {
    action: 'superuser.grant',
    subjectType: 'SuperuserAccount',
    subjectId: userId,
    reason,
    changes: [{ field: 'level', after: level }],
  })
}
