import { apiKeyLimits } from '../../config/limits.ts'
import { forbidden, invalid } from '../../config/errors.ts'
import { Bool, Instant, Int, List, Nullable, Obj, OneOf, Opt, Text, Uuid, Words } from '../../config/schema.ts'
import { scopes } from '../../config/scopes.ts'
import { changeApiKey, listApiKeys, makeApiKey, readApiKey, revokeApiKey, rotateApiKey } from '../../db/auth/index.ts'
import { onCommit } from '../../db/lib/connection.ts'
import { holdsScope } from '../../db/lib/ability.ts'
import { can } from '../lib/access/kinds.ts'
import { isNetwork } from '../lib/address.ts'
import { requireOwn, requireRecent } from '../lib/access/admission.ts'
import type { Admission } from '../lib/caller.ts'
import { keys } from '../lib/key-cache.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'

const Status = OneOf(['active', 'revoked', 'expired'])
const Name = Words(1, 80)
const Scopes = List(OneOf([...scopes]), { min: 1, max: 60 }, { uniqueItems: true })
const PropertyIds = Nullable(List(Uuid, { min: 1, max: 200 }, { uniqueItems: true }))
const Cidrs = List(Text(2, 43), { max: 20 }, { uniqueItems: true })

const fields = {
  id: Uuid,
  name: Name,
  keyId: Text(8, 8),
  hint: Text(1, 40),
  status: Status,
  scopes: List(Text(1, 60), { max: 60 }),
  propertyIds: Nullable(List(Uuid, { max: 200 })),
  cidrs: Cidrs,
  expiresAt: Instant,
  createdAt: Instant,
  createdBy: Nullable(Uuid),
  revokedAt: Nullable(Instant),
  revokedBy: Nullable(Uuid),
  replacesId: Nullable(Uuid),
  isReplaced: Bool,
  lastUsedAt: Nullable(Instant),
  lastUsedIp: Nullable(Text(2, 45)),
  version: Int(1, 2_147_483_647),
}
const ApiKey = Obj(fields, { title: 'ApiKey' })
/** With the key itself, this once: a repeated request is answered without it. */
const NewApiKey = Obj({ ...fields, key: Nullable(Text(1, 80)) }, { title: 'NewApiKey' })

const checkNetworks = (cidrs: readonly string[] | undefined) => {
  const errors = (cidrs ?? []).flatMap((cidr, index) =>
    isNetwork(cidr)
      ? []
      : [
          {
            field: `cidrs.${index}`,
            message: 'must be an address or a network such as 192.0.2.0/24, its other bits zero',
          },
        ],
  )
  if (errors.length > 0) throw invalid(errors)
}

const expiry = (given: string | undefined, now: Date): Date | undefined => {
  if (given === undefined) return undefined
  const at = new Date(given)
  if (at <= now || at.getTime() > now.getTime() + apiKeyLimits.longestDays * 86_400_000)
    throw invalid([{ field: 'expiresAt', message: 'must lie ahead, by two years at most' }])
  return at
}

/** A key never gets scopes or properties that its maker lacks. */
const checkGiver = (
  { ability, propertyIds: own }: Admission,
  { scopes: given, propertyIds }: { scopes: readonly string[]; propertyIds: readonly string[] | null | undefined },
) => {
  if (given.some((scope) => !holdsScope(ability, scope)))
    throw forbidden('forbidden', 'Insufficient permissions: a key cannot have a scope beyond your own rights')
  if (own !== null && propertyIds === null)
    throw forbidden('forbidden', 'Insufficient permissions: name properties of yours that the key is for')
}

const apiKeys = resource({
  name: 'apiKeys',
  subject: 'ApiKey',
  table: 'api_key',
  path: '/api/tenants/:tenantId/api-keys',
  param: 'apiKeyId',
  record: ApiKey,
  read: readApiKey,
})

const list = apiKeys.list({
  summary: 'List API keys',
  query: { status: Opt(Status) },
  example: { status: 'active' },
  find: ({ trx, admission, filter }) => listApiKeys(trx, { ...filter, reach: admission.propertyIds }),
})

const create = route({
  id: 'apiKeys.create',
  method: 'POST',
  path: '/api/tenants/:tenantId/api-keys',
  summary: 'Create an API key, shown once',
  description:
    'The key is in this reply alone. Without expiresAt it lives a year; cidrs empty or left out: any address.',
  status: 201,
  access: can('create', 'ApiKey'),
  errors: ['reauthentication_required', 'duplicate_name', 'reference_not_found'],
  body: Obj({
    name: Name,
    scopes: Scopes,
    propertyIds: Opt(PropertyIds),
    cidrs: Opt(Cidrs),
    expiresAt: Opt(Instant),
  }),
  example: { name: 'Booking engine', scopes: ['units:read'], cidrs: ['192.0.2.0/24'] },
  returns: NewApiKey,
  keep: (made) => ({ ...made, key: null }),
  handle: ({ trx, caller, admission, body, request }) => {
    requireOwn(caller)
    requireRecent(caller, request.receivedAt)
    checkNetworks(body.cidrs)
    const expiresAt = expiry(body.expiresAt, request.receivedAt)
    checkGiver(admission, { scopes: body.scopes, propertyIds: body.propertyIds ?? null })
    return makeApiKey(trx, { ...body, expiresAt })
  },
})

const update = apiKeys.change({
  summary: 'Change name, scopes, addresses or expiry of a key',
  description: 'What is taken away is gone within a second. To give more, or for longer, prove your identity again.',
  errors: ['reauthentication_required', 'duplicate_name', 'invalid_transition', 'reference_not_found'],
  body: Obj({
    name: Opt(Name),
    scopes: Opt(Scopes),
    propertyIds: Opt(PropertyIds),
    cidrs: Opt(Cidrs),
    expiresAt: Opt(Instant),
  }),
  example: { name: 'Booking site', scopes: ['units:read'] },
  command: async ({ trx, id, caller, admission, body, request }) => {
    requireOwn(caller)
    checkNetworks(body.cidrs)
    const expiresAt = expiry(body.expiresAt, request.receivedAt)
    checkGiver(admission, { scopes: body.scopes ?? [], propertyIds: body.propertyIds })
    const changed = await changeApiKey(
      trx,
      id,
      { ...body, expiresAt },
      { reach: admission.propertyIds, prove: () => requireRecent(caller, request.receivedAt) },
    )
    onCommit(trx, () => void keys.forget([changed.keyId]))
    return changed
  },
})

const rotate = route({
  id: 'apiKeys.rotate',
  method: 'POST',
  path: `${apiKeys.one}/rotate`,
  summary: 'Replace a key, the old one ending later',
  description:
    'The new key has the same rights and is in this reply alone. The old one works for overlapHours more, 24 by default.',
  access: can('update', 'ApiKey'),
  record: apiKeys.lock,
  errors: ['reauthentication_required', 'invalid_transition'],
  body: Obj({ overlapHours: Opt(Int(0, apiKeyLimits.mostOverlapHours)) }),
  example: { overlapHours: 48 },
  returns: NewApiKey,
  keep: (made) => ({ ...made, key: null }),
  handle: async ({ trx, caller, admission, params, body, request }) => {
    requireOwn(caller)
    requireRecent(caller, request.receivedAt)
    const { old, made } = await rotateApiKey(trx, params.apiKeyId, {
      overlapHours: body.overlapHours ?? apiKeyLimits.overlapHours,
      reach: admission.propertyIds,
    })
    onCommit(trx, () => void keys.forget([old.keyId]))
    return made
  },
})

const revoke = apiKeys.act('revoke', {
  summary: 'End an API key at once',
  action: 'delete',
  command: async ({ trx, id, caller, admission }) => {
    requireOwn(caller)
    const revoked = await revokeApiKey(trx, id, caller.userId, admission.propertyIds)
    onCommit(trx, () => void keys.bury([revoked.keyId]))
    return revoked
  },
})

export const routes = [list, create, update, rotate, revoke]
