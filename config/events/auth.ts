import { Instant, List, Nullable, Obj, Uuid } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const user = {
  entity: 'user',
  subject: 'User',
  data: Obj({ userId: Uuid, role: Code, propertyIds: Nullable(List(Uuid, { max: 200 })) }),
} as const
export const userInvited = event({ type: 'user.invited', ...user })
export const userJoined = event({ type: 'user.joined', ...user })
export const userRoleChanged = event({ type: 'user.role_changed', ...user })
export const userDeactivated = event({ type: 'user.deactivated', ...user })
export const userReactivated = event({ type: 'user.reactivated', ...user })

const role = { entity: 'role', subject: 'Role', data: Obj({ roleId: Uuid, key: Code }) } as const
export const roleCreated = event({ type: 'role.created', ...role })
export const roleChanged = event({ type: 'role.changed', ...role })
export const roleDeleted = event({ type: 'role.deleted', ...role })

const apiKey = {
  entity: 'api_key',
  subject: 'ApiKey',
  data: Obj({ apiKeyId: Uuid, keyId: Code, scopes: List(Code, { max: 50 }), expiresAt: Instant }),
} as const
export const apiKeyCreated = event({ type: 'api_key.created', ...apiKey })
export const apiKeyRotated = event({ type: 'api_key.rotated', ...apiKey })
export const apiKeyRevoked = event({ type: 'api_key.revoked', ...apiKey })
export const apiKeyExpiryNeared = event({ type: 'api_key.expiry_neared', ...apiKey })

export const sessionRevoked = event({
  type: 'session.revoked',
  entity: 'session',
  subject: 'User',
  data: Obj({ userId: Uuid, reason: Code }),
})

export const authEvents: Event[] = [
  userInvited,
  userJoined,
  userRoleChanged,
  userDeactivated,
  userReactivated,
  roleCreated,
  roleChanged,
  roleDeleted,
  apiKeyCreated,
  apiKeyRotated,
  apiKeyRevoked,
  apiKeyExpiryNeared,
  sessionRevoked,
]
