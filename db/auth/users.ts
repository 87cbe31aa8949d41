import { unprocessable } from '../../config/errors.ts'
import { audit } from '../audit.ts'
import { sql, sqlOne } from '../connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../connection.ts'
import { hashPassword } from './hashing.ts'
import type { PasswordHash } from './hashing.ts'

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

export const userByEmail = (trx: AnyTrx, email: string): Promise<SignInUser | null> =>
  sqlOne<SignInUser>(
    trx,
    `select u.id, u.email, u.name, u.status, u.password_hash, u.pepper_id, u.session_epoch, u.totp_confirmed_at is not null as mfa_enabled, u.last_tenant_id,
       (select level from superuser_account s where s.user_id = u.id and s.ended_at is null) as superuser_level
     from app_user u where u.email_key = lower(?)`,
    [email],
  )

export type MembershipOf = { tenantId: string; tenantName: string; role: string; status: string }

/** Active memberships of a user, oldest first; the only read across tenants. */
export const membershipsOf = (trx: AnyTrx, userId: string): Promise<MembershipOf[]> =>
  sql<MembershipOf>(trx, `select tenant_id, tenant_name, role, status from memberships_of(?) where status = 'active'`, [
    userId,
  ])

export const storePassword = async (
  trx: AnyTrx,
  userId: string,
  { passwordHash, pepperId }: PasswordHash,
): Promise<void> => {
  await sql(trx, `update app_user set password_hash = ?, pepper_id = ? where id = ?`, [passwordHash, pepperId, userId])
}

/** Throws 422 `password_too_weak`. Length, 12 to 128, is in characters; the list of common ones is short, since twelve characters exclude most. */
export const assertStrong = (password: string, email: string): void => {
  const lower = password.toLowerCase()
  const local = email.split('@')[0]?.toLowerCase() ?? ''
  const { length } = Array.from(password)
  const weak =
    length < 12 ||
    length > 128 ||
    /^(.)\1+$/.test(password) ||
    common.has(lower) ||
    (local.length >= 4 && lower.includes(local))
  if (weak) throw unprocessable('password_too_weak', 'Choose a longer password, without your address in it')
}

const common = new Set([
  '123456789012',
  'password1234',
  'passwordpassword',
  'qwertyuiopas',
  'administrator',
  'senhasenhasenha',
  '1234567890123',
  'iloveyou1234',
])

type NewUser = { id?: string; email: string; name: string; locale?: string; password?: string }

/** A user; active where a password is given, else invited. */
export const createUser = async (
  trx: PlatformTrx,
  { id, email, name, locale = 'en', password }: NewUser,
): Promise<string> => {
  const hashed = password === undefined ? null : await hashPassword(password)
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into app_user (id, email, email_key, name, locale, status, password_hash, pepper_id, email_verified_at, password_changed_at)
     values (coalesce(:id::uuid, gen_random_uuid()), :email, lower(:email), :name, :locale, case when :hash::text is null then 'invited' else 'active' end, :hash, :pepper,
       case when :hash::text is null then null else now() end, case when :hash::text is null then null else now() end) returning id`,
    { id: id ?? null, email, name, locale, hash: hashed?.passwordHash ?? null, pepper: hashed?.pepperId ?? null },
  )
  return row?.id ?? ''
}

type NewMembership = { userId: string; role: string; propertyIds?: string[] | null }

/** Makes a user a member of the transaction's tenant, at once active. */
export const addMembership = async (trx: Trx, { userId, role, propertyIds = null }: NewMembership): Promise<string> => {
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into membership (user_id, role, all_properties, status, accepted_at) values (?, ?, ?, 'active', now()) returning id`,
    [userId, role, propertyIds === null],
  )
  const membershipId = row?.id ?? ''
  if (propertyIds)
    await sql(trx, `insert into membership_property (membership_id, property_id) select ?, unnest(?::uuid[])`, [
      membershipId,
      propertyIds,
    ])
  await audit(trx, {
    action: 'user.join',
    subjectType: 'User',
    subjectId: userId,
    changes: [{ field: 'role', after: role }],
  })
  return membershipId
}

/** Gives a user a level at the provider. */
export const grantSuperuser = async (
  trx: PlatformTrx,
  userId: string,
  level: 'N1' | 'N2',
  reason: string,
): Promise<void> => {
  await sql(trx, `update superuser_account set ended_at = now() where user_id = ? and ended_at is null`, [userId])
  await sql(trx, `insert into superuser_account (user_id, level, reason) values (?, ?, ?)`, [userId, level, reason])
  await audit(trx, {
    action: 'superuser.grant',
    subjectType: 'SuperuserAccount',
    subjectId: userId,
    reason,
    changes: [{ field: 'level', after: level }],
  })
}
