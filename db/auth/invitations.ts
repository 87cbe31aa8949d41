import { conflict, forbidden, invalid, unprocessable } from '../../config/errors.ts'
import { userInvited, userJoined } from '../../config/events/auth.ts'
import { invitationsPerDay } from '../../config/limits.ts'
import { audit } from '../lib/audit.ts'
import { contextOf, enterTenant, sql, sqlOne } from '../lib/connection.ts'
import type { AnyTrx, PlatformTrx, Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { mailUser } from '../ocp/index.ts'
import type { PasswordHash } from './hashing.ts'
import {
  assertOver,
  assertRank,
  assertWithin,
  lockMember,
  assertRoom,
  roleColumns,
  setProperties,
} from './members/checks.ts'
import { memberLifecycle, readMember } from './members/read.ts'
import type { Giver } from './members/checks.ts'
import type { Member } from './members/read.ts'
import { createToken, readToken, takeToken, tokenInvalid } from './one-time-tokens.ts'

const resendsPerDay = 5

type Invitation = { email: string; name?: string | undefined; role: string; propertyIds?: string[] | null | undefined }

const send = async (trx: Trx, userId: string) => {
  const { tenantId } = contextOf(trx)
  // One after another, so that two of them do not pass the limit together.
  await sql(trx, `select 1 from tenant where id = ? for no key update`, [tenantId])
  const sent = await sqlOne<{ n: number }>(
    trx,
    `select count(*) as n from one_time_token where purpose = 'invitation' and tenant_id = ? and created_at > now() - interval '24 hours'`,
    [tenantId],
  )
  if ((sent?.n ?? 0) >= invitationsPerDay)
    throw unprocessable('too_many', `A tenant sends at most ${invitationsPerDay} invitations a day`)
  const token = await createToken(trx, 'invitation', { userId, tenantId })
  await mailUser(trx, userId, 'invitation', token.id)
}

/**
 * Invites a person by e-mail, whether or not there is an account with that address: the same statements run, and the same is answered.
 * 409 `member_exists` where the person is a member of this tenant already, in whatever status.
 */
export const invite = async (
  trx: Trx,
  by: Giver,
  { email, name, role, propertyIds = null }: Invitation,
): Promise<Member> => {
  assertRank(by, role)
  assertWithin(by, propertyIds)
  const columns = await roleColumns(trx, role)
  const shownName = name ?? (email.split('@')[0] ?? email).slice(0, 120)
  await sql(
    trx,
    `insert into app_user (email, email_key, name, locale) select :email, lower(:email), :name, t.locale from tenant t where t.id = :tenantId
     on conflict (email_key) do nothing`,
    { email, name: shownName, tenantId: contextOf(trx).tenantId },
  )
  const made = await sqlOne<{ id: string; userId: string; version: number }>(
    trx,
    `insert into membership (user_id, role, role_id, all_properties, invited_by, invited_name, invited_email)
     select u.id, ?, ?, ?, ?, ?, u.email_key from app_user u where u.email_key = lower(?)
     on conflict (tenant_id, user_id) do nothing returning id, user_id, version`,
    [columns.role, columns.roleId, propertyIds === null, by.userId, shownName, email],
  )
  if (!made)
    throw conflict('member_exists', 'This person is a member already: send the invitation again, or give access again')
  const { userId } = made
  if (propertyIds !== null) await setProperties(trx, made.id, propertyIds)
  await send(trx, userId)
  await audit(trx, {
    action: 'user.invite',
    subjectType: 'User',
    subjectId: userId,
    changes: [
      { field: 'role', before: null, after: role },
      { field: 'propertyIds', before: null, after: propertyIds },
    ],
  })
  await emit(trx, userInvited, {
    propertyId: null,
    id: userId,
    version: made.version,
    data: { userId, role, propertyIds: propertyIds === null ? null : [...new Set(propertyIds)] },
  })
  await assertRoom(trx)
  return readMember(trx, userId)
}

/** Sends a pending invitation again, under a new token; the one sent before ends. 422 `too_many` after five in 24 hours. */
export const resendInvitation = async (trx: Trx, by: Giver, userId: string): Promise<Member> => {
  const locked = await lockMember(trx, userId)
  assertOver(by, locked)
  memberLifecycle.allow('invited again', locked.status)
  const sent = await sqlOne<{ n: number }>(
    trx,
    `select count(*) as n from one_time_token t where t.purpose = 'invitation' and t.user_id = ? and t.tenant_id = ?
       and t.created_at > now() - interval '24 hours' and t.created_at > (select m.invited_at from membership m where m.id = ?)`,
    [userId, contextOf(trx).tenantId, locked.id],
  )
  if ((sent?.n ?? 0) >= resendsPerDay)
    throw unprocessable('too_many', `An invitation is sent again at most ${resendsPerDay} times a day`)
  await send(trx, userId)
  await audit(trx, { action: 'user.resend_invitation', subjectType: 'User', subjectId: userId })
  return readMember(trx, userId)
}

type Offer = {
  tenantName: string
  tenantStatus: string
  email: string
  role: string
  inviterName: string | null
  status: string
  userStatus: string
  accountExists: boolean
}

/** Offer of an invited membership; the tenant is entered. 401 `token_invalid` if there is nothing to accept. */
const offerOf = async (trx: Trx, tenantId: string, userId: string): Promise<Offer> => {
  const offer = await sqlOne<Offer>(
    trx,
    `select t.name as tenant_name, t.status as tenant_status, u.email, coalesce(m.role, r.key) as role, i.name as inviter_name, m.status,
       u.password_hash is not null as account_exists, u.status as user_status
     from membership m join tenant t on t.id = m.tenant_id join app_user u on u.id = m.user_id
     left join role r on r.tenant_id = m.tenant_id and r.id = m.role_id left join app_user i on i.id = m.invited_by
     where m.tenant_id = ? and m.user_id = ?`,
    [tenantId, userId],
  )
  // A locked user is unlocked by the provider alone.
  if (offer?.status !== 'invited' || offer.tenantStatus === 'deleted' || offer.userStatus === 'locked')
    throw tokenInvalid()
  if (offer.tenantStatus !== 'active') throw forbidden('tenant_suspended', 'The tenant is suspended')
  return offer
}

export type OpenInvitation = Omit<Offer, 'tenantStatus' | 'status' | 'userStatus'> & { expiresAt: Date }

/** Offer of an invitation, to the holder of its token. */
export const readInvitation = async (trx: AnyTrx, token: string): Promise<OpenInvitation> => {
  const { userId, tenantId, expiresAt } = await readToken(trx, 'invitation', token)
  if (tenantId === null) throw tokenInvalid()
  const offer = await offerOf(await enterTenant(trx as PlatformTrx, tenantId), tenantId, userId)
  return { ...offer, expiresAt }
}

/** Data of an invited person without an account. */
export type NewAccount = { name: string; hash: PasswordHash }

/**
 * Accepts an invitation: the token is used up, the membership active, the address verified, since the token came by mail to it. `account`
 * is required of people without one and refused of all others (400), also if the account was created since the invitation was read.
 */
export const acceptInvitation = async (
  trx: AnyTrx,
  token: string,
  account: NewAccount | null,
): Promise<{ tenantId: string; email: string }> => {
  const { userId, tenantId } = await readToken(trx, 'invitation', token)
  if (tenantId === null) throw tokenInvalid()
  const inside = await enterTenant(trx as PlatformTrx, tenantId, { type: 'user', id: userId })
  const membership = await sqlOne<{ id: string; version: number }>(
    inside,
    `select id, version from membership where user_id = ? for no key update`,
    [userId],
  )
  await sql(inside, `select 1 from app_user where id = ? for no key update`, [userId])
  await takeToken(inside, 'invitation', token)
  const offer = await offerOf(inside, tenantId, userId)
  if (!membership) throw tokenInvalid()
  assertAccount(offer.accountExists, { name: account !== null, password: account !== null })
  await sql(
    inside,
    account === null
      ? `update app_user set email_verified_at = coalesce(email_verified_at, now()) where id = ?`
      : `update app_user set email_verified_at = now(), status = 'active', name = ?, password_hash = ?, pepper_id = ?, password_changed_at = now(),
           version = version + 1 where id = ?`,
    account === null ? [userId] : [account.name, account.hash.passwordHash, account.hash.pepperId, userId],
  )
  await sql(
    inside,
    `update membership set status = 'active', accepted_at = now(), version = version + 1 where id = ?`,
    [membership.id],
  )
  await audit(inside, {
    action: 'user.join',
    subjectType: 'User',
    subjectId: userId,
    changes: [{ field: 'status', before: 'invited', after: 'active' }],
  })
  const { propertyIds } = await readMember(inside, userId)
  await emit(inside, userJoined, {
    propertyId: null,
    id: userId,
    version: membership.version + 1,
    data: { userId, role: offer.role, propertyIds },
  })
  return { tenantId, email: offer.email }
}

/** Requires name and password of invited people without an account, and refuses them of existing users. 400. */
export const assertAccount = (exists: boolean, given: { name: boolean; password: boolean }): void => {
  const wrong = (['name', 'password'] as const).filter((field) => given[field] === exists)
  if (wrong.length === 0) return
  const message = exists
    ? 'must not be given: there is an account with this address'
    : 'is required: there is no account yet'
  throw invalid(wrong.map((field) => ({ field, message })))
}
