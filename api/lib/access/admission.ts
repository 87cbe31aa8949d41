import { settings } from '../../../config/env.ts'
import { boundTenant } from '../../../db/lib/bound-tenant.ts'
import { forbidden, notFound } from '../../../config/errors.ts'
import { neverByKey } from '../../../config/scopes.ts'
import { subjectFacts } from '../../../config/subjects.ts'
import { database, preparedOne, sqlOne } from '../../../db/lib/connection.ts'
import type { Trx } from '../../../db/lib/connection.ts'
import { supportMay } from '../../../config/support.ts'
import { abilityOf, abilityOfKey } from '../../../db/lib/ability.ts'
import type { Ability } from '../../../db/lib/ability.ts'
import type { SuperuserAccess, TenantAccess } from './kinds.ts'
import { permitsOf } from './permits.ts'
import type { Admission, Caller, KeyCaller, UserCaller } from '../caller.ts'
import type { AnyRoute } from '../route.ts'

type TenantRow = { status: string; features: string[] }
type MemberRow = TenantRow & {
  membershipStatus: string | null
  role: string | null
  roleId: string | null
  customKey: string | null
  permissions: { subject: string; actions: string[] }[] | null
  roleVersion: number | null
  propertyIds: string[] | null
}

// An expiry holds from its instant on, also before anything has rewritten the row.
const features = `case when t.features_valid_until <= now() then active_features(t.id) else t.features end as features`

const notActive = () => forbidden('tenant_not_active', 'This tenant is not the active one of your session')
const suspended = () => forbidden('tenant_suspended', 'The tenant is suspended')
const notEnabled = (feature: string) =>
  forbidden('feature_not_enabled', 'The feature is not active for this tenant', [
    { field: 'feature', message: feature },
  ])

/** Throws before any transaction where the path's tenant is not the caller's: one answer for unknown tenants and those of others. */
export const ownTenant = (caller: Caller, tenantId: string): void => {
  if (caller.kind === 'user') {
    if (caller.activeTenantId === null)
      throw forbidden('tenant_context_required', 'Choose the active tenant with PUT /api/auth/tenant-context')
    if (caller.activeTenantId !== tenantId) throw notActive()
  } else if (caller.kind !== 'api_key' || caller.tenantId !== tenantId) throw notActive()
}

const open = (row: TenantRow | null, { subject, whileSuspended, withoutFeature }: TenantAccess) => {
  const { feature } = subjectFacts(subject)
  if (!row || row.status === 'deleted') throw notActive()
  if (row.status !== 'active' && !whileSuspended) throw suspended()
  if (feature !== null && !withoutFeature && !row.features.includes(feature)) throw notEnabled(feature)
}

/** Refuses what a support session may not do: by its mode, by the route, and by what is asked of which subject. */
export const assertSupport = (
  { support }: UserCaller,
  { method, support: rule, access }: Pick<AnyRoute, 'method' | 'support' | 'access'>,
): void => {
  if (!support || access.kind !== 'tenant') return
  if (rule === 'never' || !supportMay(access.action, access.subject))
    throw forbidden('forbidden', 'Insufficient permissions: this is never done in a support session')
  if (support.mode === 'read' && method !== 'GET')
    throw forbidden('forbidden', 'Insufficient permissions: this support session reads only')
}

/**
 * Lets a superuser into the tenant that a support session is for: as the member it names, else with the rights of an owner and personal data masked. The session
 * and the level hold at this moment, not only when it was opened.
 */
const admitSupport = async (
  trx: Trx,
  caller: UserCaller,
  access: TenantAccess,
  tenantId: string,
): Promise<Admission> => {
  const { support, userId } = caller
  const row = await preparedOne<MemberRow & { live: boolean }>(
    trx,
    `select t.status, ${features}, m.status as membership_status, m.role, r.id as role_id, r.key as custom_key, r.permissions, r.version as role_version,
       case when m.id is null or m.all_properties then null else
         coalesce((select array_agg(p.property_id) from membership_property p where p.membership_id = m.id), '{}') end as property_ids,
       exists (select from support_session x join superuser_account a on a.user_id = x.superuser_id and a.ended_at is null
         where x.id = ? and x.superuser_id = ? and x.tenant_id = t.id and x.ended_at is null and x.expires_at > now()
           and (a.level = 'N1' or x.mode = 'read')) as live
     from tenant t left join membership m on m.user_id = ? left join role r on r.id = m.role_id where t.id = ?`,
    [support?.id ?? null, userId, support?.asUserId ?? null, tenantId],
  )
  if (!row?.live) throw notActive()
  if (support?.asUserId && row.membershipStatus !== 'active') throw notActive()
  open(row, access)
  const key = support?.asUserId ? (row.customKey ?? row.role ?? '') : 'owner'
  const custom =
    support?.asUserId && row.roleId !== null && row.permissions
      ? { id: row.roleId, version: row.roleVersion ?? 0, permissions: row.permissions }
      : null
  const ability = maskedOf(abilityOf(key, custom, row.propertyIds))
  if (!ability.can(access.action, access.subject)) throw forbidden()
  return {
    tenantId,
    role: key,
    propertyIds: row.propertyIds,
    features: row.features,
    ...permitsOf(ability, row.propertyIds, support?.asUserId ?? userId),
  }
}

/** An ability for support sessions: personal data is masked in every subject. */
const maskedOf = (ability: Ability): Ability => ({ ...ability, isMasked: () => true })

const admitUser = async (trx: Trx, caller: UserCaller, access: TenantAccess, tenantId: string): Promise<Admission> => {
  const { action, subject } = access
  const row = await preparedOne<MemberRow>(
    trx,
    `select t.status, ${features}, m.status as membership_status, m.role, r.id as role_id, r.key as custom_key, r.permissions, r.version as role_version,
       case when m.all_properties then null else
         coalesce((select array_agg(p.property_id) from membership_property p where p.membership_id = m.id), '{}') end as property_ids
     from tenant t left join membership m on m.user_id = ? left join role r on r.id = m.role_id where t.id = ?`,
    [caller.userId, tenantId],
  )
  if (row?.membershipStatus !== 'active') throw notActive()
  open(row, access)
  const key = row.customKey ?? row.role ?? ''
  const custom =
    row.roleId !== null && row.permissions
      ? { id: row.roleId, version: row.roleVersion ?? 0, permissions: row.permissions }
      : null
  const ability = abilityOf(key, custom, row.propertyIds)
  if (!ability.can(action, subject)) throw forbidden()
  return {
    tenantId,
    role: key,
    propertyIds: row.propertyIds,
    features: row.features,
    ...permitsOf(ability, row.propertyIds, caller.userId),
  }
}

const admitKey = async (trx: Trx, caller: KeyCaller, access: TenantAccess, tenantId: string): Promise<Admission> => {
  const { action, subject } = access
  const row = await preparedOne<TenantRow>(trx, `select t.status, ${features} from tenant t where t.id = ?`, [tenantId])
  open(row, access)
  const has = row?.features ?? []
  const reads = action === 'read'
  if (!has.includes('api_write') && !(reads && has.includes('api_read')))
    throw notEnabled(reads ? 'api_read' : 'api_write')
  if (neverByKey.has(subject)) throw forbidden('key_not_allowed', 'An API key cannot do this; sign in')
  const ability = abilityOfKey(caller.scopes, caller.propertyIds)
  if (!ability.can(action, subject))
    throw forbidden('scope_missing', 'Insufficient permissions: the scopes of the key do not allow it')
  return {
    tenantId,
    role: null,
    propertyIds: caller.propertyIds,
    features: has,
    ...permitsOf(ability, caller.propertyIds, caller.apiKeyId),
  }
}

/**
 * Lets a caller into a tenant for one action, by the row of the tenant and of the membership as they stand now: status, then feature, then role.
 * Nothing of it is cached, so what changed counts from its commit on.
 */
export const admit = (trx: Trx, caller: Caller, access: TenantAccess, tenantId: string): Promise<Admission> => {
  if (caller.kind === 'user' && caller.sessionKind === 'support') return admitSupport(trx, caller, access, tenantId)
  if (caller.kind === 'user') return admitUser(trx, caller, access, tenantId)
  if (caller.kind === 'api_key') return admitKey(trx, caller, access, tenantId)
  throw notActive()
}

/** Public calls: a tenant that is not active has no portal; a feature that is not active is 403. */
export const admitPublic = async (trx: Trx, feature: string): Promise<void> => {
  const row = await preparedOne<TenantRow>(
    trx,
    `select t.status, ${features} from tenant t where t.id = ${boundTenant}`,
  )
  if (row?.status !== 'active') throw notFound('There is no such property here', 'property_not_found')
  if (!row.features.includes(feature)) throw notEnabled(feature)
}

/** Requires a user's own session: neither an API key nor the dashboard may act on a user's own account. */
export function requireSession(caller: Caller): asserts caller is UserCaller {
  if (caller.kind !== 'user') throw forbidden('key_not_allowed', 'An API key cannot do this; sign in')
}

/** Signing in, and what is mailed, is for people: no key is taken for one. */
export const refuseKey = (caller: Caller): void => {
  if (caller.kind === 'api_key') throw forbidden('key_not_allowed', 'An API key cannot do this; sign in')
}

/** Requires the owner of an account, signed in directly: support sessions may not change it. */
export function requireOwn(caller: Caller): asserts caller is UserCaller {
  requireSession(caller)
  if (caller.sessionKind !== 'api') throw forbidden()
}

/** The provider's staff, by the account as it stands now. N1 may do what N2 may. */
export const admitSuperuser = async (
  caller: Caller,
  access: SuperuserAccess,
): Promise<UserCaller & { level: 'N1' | 'N2' }> => {
  requireSession(caller)
  if (caller.sessionKind !== 'api') throw forbidden()
  const row = await sqlOne<{ level: 'N1' | 'N2' }>(
    database(),
    `select level from superuser_account where user_id = ? and ended_at is null`,
    [caller.userId],
  )
  if (!row) throw forbidden()
  if (settings.superuserMfa === 'required' && (!caller.mfaEnabled || caller.mfaAt === null))
    throw forbidden('mfa_required', 'Superusers sign in with a second factor')
  if (access.level === 'N1' && row.level !== 'N1')
    throw forbidden('level_required', 'Insufficient permissions: this needs level N1')
  return { ...caller, level: row.level }
}

const recentMs = 10 * 60_000

/** Sensitive steps ask for a proof of identity within the last ten minutes; signing in is one. */
export const requireRecent = (caller: Caller, now: Date): void => {
  if (
    caller.kind === 'user' &&
    caller.reauthenticatedAt &&
    now.getTime() - caller.reauthenticatedAt.getTime() <= recentMs
  )
    return
  throw forbidden('reauthentication_required', 'Prove your identity again: sign in or reauthenticate')
}
