import { Instant, Nullable, Obj, OneOf } from '../schema.ts'
import { Code, event } from './event.ts'
import type { Event } from './event.ts'

const entitlementData = {
  key: Code,
  source: OneOf(['PLAN_DEFAULT', 'STORE_PURCHASE', 'N1_GRANT']),
  expiresAt: Nullable(Instant),
}
const entitlement = { entity: 'entitlement', subject: 'Tenant', data: Obj(entitlementData) } as const
export const entitlementGranted = event({ type: 'entitlement.granted', ...entitlement })
export const entitlementEnded = event({
  type: 'entitlement.ended',
  ...entitlement,
  data: Obj({ ...entitlementData, endCause: Code }),
})

export const adminEvents: Event[] = [entitlementGranted, entitlementEnded]
