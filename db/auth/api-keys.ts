import { conflict, notFound, unprocessable } from '../../config/errors.ts'
import { apiKeyCreated, apiKeyRevoked, apiKeyRotated } from '../../config/events/auth.ts'
import { apiKeyLimits } from '../../config/limits.ts'
import { scopesAllow } from '../../config/scopes.ts'
import { actionsOf, subjects } from '../../config/subjects.ts'
import { audit } from '../lib/audit.ts'
import type { Condition } from '../lib/conditions.ts'
import { contextOf, sql, sqlOne } from '../lib/connection.ts'
import type { Trx } from '../lib/connection.ts'
import { emit } from '../lib/events.ts'
import { lifecycle } from '../lib/lifecycle.ts'
import { allOf, inScope, readPage, where } from '../lib/paging.ts'
import type { Page, Paging } from '../lib/paging.ts'
import { newKey, storedKey } from './keys.ts'

export type KeyStatus = 'active' | 'revoked' | 'expired'
export type ApiKey = {
  id: string
  name: string
  keyId: string
  hint: string
  status: KeyStatus
  scopes: string[]
  propertyIds: string[] | null
  cidrs: string[]
  expiresAt: Date
  createdAt: Date
  createdBy: string | null
  revokedAt: Date | null
  revokedBy: string | null
  replacesId: string | null
  isReplaced: boolean
  lastUsedAt: Date | null
  lastUsedIp: string | null
  version: number
}

/** Properties of the caller; null = all. Keys that reach beyond them are left out. */
type Reach = readonly string[] | null

const status = `case when k.revoked_at is not null then 'revoked' when k.expires_at <= now() then 'expired' else 'active' end`
const columns = `k.id, k.name, k.key_id, k.hint, ${status} as status, k.scopes, k.cidrs::text[] as cidrs,
  case when k.all_properties then null else
    coalesce((select array_agg(p.property_id order by p.property_id) from api_key_property p where p.api_key_id = k.id), '{}') end as property_ids,
  k.expires_at, k.created_at, k.created_by, k.revoked_at, k.revoked_by, k.replaces_id, k.name_released_at is not null as is_replaced,
  k.last_used_at, host(k.last_used_ip) as last_used_ip, k.version`
const within = (reach: Reach) =>
  where(
    `(not k.all_properties and not exists (
      select from api_key_property p where p.api_key_id = k.id and p.property_id <> all(?::uuid[])))`,
    reach,
  )

export const listApiKeys = (
  trx: Trx,
  {
    status: wanted,
    reach,
    scope,
    ...paging
  }: Paging & { status?: KeyStatus | undefined; reach: Reach; scope: Condition },
): Promise<Page<ApiKey>> => {
  const conditions = [...inScope(scope, { propertyId: null }), ...within(reach), ...where(`${status} = ?`, wanted)]
  return readPage<ApiKey>(trx, { columns, from: 'api_key k', conditions, order: 'k.created_at desc, k.id' }, paging)
}

/** Locks a key until the end of the command. 404 if it is beyond the caller's reach. */
const lockKey = async (trx: Trx, id: string, reach: Reach): Promise<ApiKey> => {
  const { text, values } = allOf([...where('k.id = ?', id), ...within(reach)])
  const row = await sqlOne<ApiKey>(trx, `select ${columns} from api_key k where ${text} for no key update`, values)
  if (!row) throw notFound()
  return row
}

/** An API key, without the key itself. 404 where there is none. */
export const readApiKey = async (trx: Trx, id: string): Promise<ApiKey> => {
  const row = await sqlOne<ApiKey>(trx, `select ${columns} from api_key k where k.id = ?`, [id])
  if (!row) throw notFound()
  return row
}

const setProperties = async (trx: Trx, id: string, propertyIds: readonly string[] | null): Promise<void> => {
  await sql(trx, `delete from api_key_property where api_key_id = ?`, [id])
  if (propertyIds === null) return
  const made = await sql(
    trx,
    `insert into api_key_property (api_key_id, property_id) select ?, p.id from property p where p.id = any(?::uuid[]) returning property_id`,
    [id, propertyIds],
  )
  if (made.length < new Set(propertyIds).size)
    throw unprocessable('reference_not_found', 'A property that the request names does not exist')
}

type NewKey = {
  name: string
  scopes: readonly string[]
  propertyIds?: readonly string[] | null | undefined
  cidrs?: readonly string[] | undefined
  expiresAt?: Date | undefined
  /** A composed key instead of a new random one. */
  key?: string
}
type Made = { apiKeyId: string; keyId: string; key: string }

const write = async (trx: Trx, given: NewKey, replacesId: string | null): Promise<Made> => {
  const { name, scopes, propertyIds = null, cidrs = [], expiresAt } = given
  const key = given.key ?? newKey()
  const stored = storedKey(key)
  const { actor } = contextOf(trx)
  // The name of a key that has expired is free.
  await sql(
    trx,
    `update api_key set name_released_at = now() where name = ? and expires_at <= now() and revoked_at is null and name_released_at is null`,
    [name],
  )
  const row = await sqlOne<{ id: string }>(
    trx,
    `insert into api_key (name, key_id, hint, hash, pepper_id, scopes, all_properties, cidrs, expires_at, created_by, replaces_id)
     values (:name, :keyId, :hint, :hash, :pepperId, :scopes, :all, :cidrs::cidr[], coalesce(:expiresAt::timestamptz, now() + interval '1 year'), :createdBy, :replacesId)
     returning id`,
    {
      ...stored,
      name,
      scopes,
      all: propertyIds === null,
      cidrs,
      expiresAt: expiresAt?.toISOString() ?? null,
      createdBy: actor.type === 'user' ? actor.id : null,
      replacesId,
    },
  )
  const apiKeyId = row?.id ?? ''
  await setProperties(trx, apiKeyId, propertyIds)
  return { apiKeyId, keyId: stored.keyId, key }
}

/** Emits an event about a key, without the key. */
export const tellOfKey = async (trx: Trx, id: string, event: typeof apiKeyCreated): Promise<void> => {
  const { keyId, scopes, expiresAt, version } = await readApiKey(trx, id)
  await emit(trx, event, {
    propertyId: null,
    id,
    version,
    data: { apiKeyId: id, keyId, scopes, expiresAt: expiresAt.toISOString() },
  })
}

/** Makes a key; the only time that it is seen whole. Default life: a year. 409 `duplicate_name` among live ones. */
export const createApiKey = async (trx: Trx, given: NewKey): Promise<Made> => {
  const made = await write(trx, given, null)
  await audit(trx, {
    action: 'api_key.create',
    subjectType: 'ApiKey',
    subjectId: made.apiKeyId,
    changes: [
      { field: 'scopes', after: given.scopes },
      { field: 'propertyIds', after: given.propertyIds ?? null },
      { field: 'cidrs', after: given.cidrs ?? [] },
    ],
  })
  await tellOfKey(trx, made.apiKeyId, apiKeyCreated)
  return made
}

/** Creates an API key, and answers its record with the key itself, which is shown this once. */
export const makeApiKey = async (trx: Trx, given: NewKey): Promise<ApiKey & { key: string }> => {
  const { apiKeyId, key } = await createApiKey(trx, given)
  return { ...(await readApiKey(trx, apiKeyId)), key }
}

const isWider = async (trx: Trx, key: ApiKey, change: KeyChange): Promise<boolean> => {
  const { scopes, propertyIds, cidrs, expiresAt } = change
  const beyond = (scope: string) =>
    Object.keys(subjects).some((subject) =>
      actionsOf(subject).some(
        (action) => scopesAllow([scope], action, subject) && !scopesAllow(key.scopes, action, subject),
      ),
    )
  if (scopes?.some(beyond)) return true
  if (propertyIds !== undefined && key.propertyIds !== null) {
    const own = new Set(key.propertyIds)
    if (propertyIds === null || propertyIds.some((id) => !own.has(id))) return true
  }
  if (expiresAt && expiresAt > key.expiresAt) return true
  if (cidrs === undefined || key.cidrs.length === 0) return false
  if (cidrs.length === 0) return true
  const row = await sqlOne<{ inside: boolean }>(
    trx,
    `select bool_and(exists (select from unnest(?::cidr[]) o where n <<= o)) as inside from unnest(?::cidr[]) n`,
    [key.cidrs, cidrs],
  )
  return row?.inside !== true
}

const apiKeyLifecycle = lifecycle<KeyStatus>('An API key')({
  changed: { from: ['active'] },
  rotated: { from: ['active'] },
  revoked: { from: ['active', 'expired'], to: 'revoked' },
})

export type KeyChange = {
  name?: string | undefined
  scopes?: readonly string[] | undefined
  propertyIds?: readonly string[] | null | undefined
  cidrs?: readonly string[] | undefined
  expiresAt?: Date | undefined
}

/**
 * Changes what is given of an active key. `prove` is called, and may throw, where it could do more, or longer, than before. 409
 * `invalid_transition`, `duplicate_name`.
 */
export const changeApiKey = async (
  trx: Trx,
  id: string,
  change: KeyChange,
  { reach, prove }: { reach: Reach; prove: () => void },
): Promise<ApiKey> => {
  const key = await lockKey(trx, id, reach)
  apiKeyLifecycle.allow('changed', key.status)
  if (await isWider(trx, key, change)) prove()
  const { name, scopes, propertyIds, cidrs, expiresAt } = change
  const changes = (['name', 'scopes', 'propertyIds', 'cidrs', 'expiresAt'] as const)
    .filter((field) => change[field] !== undefined)
    .map((field) => ({ field, before: key[field], after: change[field] }))
  if (changes.length === 0) return key
  if (propertyIds !== undefined) await setProperties(trx, id, propertyIds)
  await sql(
    trx,
    `update api_key set name = coalesce(:name, name), scopes = coalesce(:scopes::text[], scopes), cidrs = coalesce(:cidrs::cidr[], cidrs),
       expires_at = coalesce(:expiresAt::timestamptz, expires_at), all_properties = :all, changed_at = clock_timestamp() where id = :id`,
    {
      id,
      name: name ?? null,
      scopes: scopes ?? null,
      cidrs: cidrs ?? null,
      expiresAt: expiresAt?.toISOString() ?? null,
      all: (propertyIds === undefined ? key.propertyIds : propertyIds) === null,
    },
  )
  await audit(trx, { action: 'api_key.update', subjectType: 'ApiKey', subjectId: id, changes })
  return readApiKey(trx, id)
}

/**
 * A new key in place of an active one, with the same rights and as long a life; the old one ends after `overlapHours`, or when it would
 * have ended anyway. 409 `invalid_transition` for one that is over, or replaced.
 */
export const rotateApiKey = async (
  trx: Trx,
  id: string,
  { overlapHours, reach }: { overlapHours: number; reach: Reach },
): Promise<{ old: ApiKey; made: ApiKey & { key: string } }> => {
  const old = await lockKey(trx, id, reach)
  apiKeyLifecycle.allow('rotated', old.status)
  if (old.isReplaced) throw conflict('invalid_transition', 'The key was replaced; rotate the one that replaces it')
  await sql(
    trx,
    `update api_key set expires_at = least(expires_at, now() + make_interval(hours => ?)), name_released_at = now() where id = ?`,
    [overlapHours, id],
  )
  const life = Math.min(old.expiresAt.getTime() - old.createdAt.getTime(), apiKeyLimits.longestDays * 86_400_000)
  const { apiKeyId, key } = await write(trx, { ...old, expiresAt: new Date(Date.now() + life) }, id)
  await audit(trx, {
    action: 'api_key.rotate',
    subjectType: 'ApiKey',
    subjectId: id,
    changes: [{ field: 'replacedBy', after: apiKeyId }],
  })
  await tellOfKey(trx, apiKeyId, apiKeyRotated)
  return { old, made: { ...(await readApiKey(trx, apiKeyId)), key } }
}

/** Ends a key for good; ended before, it is answered as it is. */
export const revokeApiKey = async (trx: Trx, id: string, by: string, reach: Reach): Promise<ApiKey> => {
  const key = await lockKey(trx, id, reach)
  if (!apiKeyLifecycle.isDue('revoked', key.status)) return key
  await sql(trx, `update api_key set revoked_at = now(), revoked_by = ? where id = ?`, [by, id])
  await audit(trx, { action: 'api_key.revoke', subjectType: 'ApiKey', subjectId: id })
  await tellOfKey(trx, id, apiKeyRevoked)
  return readApiKey(trx, id)
}
