import { LRUCache } from 'lru-cache'
import { notFound } from '../../../config/errors.ts'
import { isUuid } from '../../../config/validator.ts'
import { database, inTenant } from '../../../db/lib/connection.ts'
import type { Trx } from '../../../db/lib/connection.ts'
import { tenantOfProperty } from '../../../db/properties/index.ts'
import { admitPublic, ownTenant } from '../access/admission.ts'
import type { PropertyAccess } from '../access/kinds.ts'
import { parseBody } from '../json.ts'
import type { AnyRoute } from '../route.ts'
import type { Call, Entry } from './entry.ts'

// A property never changes its tenant. Its own transaction finds out whether it still exists.
const tenants = new LRUCache<string, string>({ max: 10_000 })

const tenantOf = async (propertyId: string): Promise<string> => {
  const missing = notFound('There is no such property here', 'property_not_found')
  if (!isUuid(propertyId)) throw missing
  const known = tenants.get(propertyId)
  if (known !== undefined) return known
  const tenantId = await tenantOfProperty(database(), propertyId)
  if (tenantId === null) throw missing
  tenants.set(propertyId, tenantId)
  return tenantId
}

/** Public calls, in the tenant of the property that path or body names. */
export const propertyEntry = async (
  { property, feature }: PropertyAccess,
  route: AnyRoute,
  { caller, params, request, context }: Call,
): Promise<Entry<Trx>> => {
  const body = route.body && request.rawBody.length > 0 ? parseBody(request.rawBody) : undefined
  const propertyId = (await property({ params, body: body ?? {} })).toLowerCase()
  const tenantId = await tenantOf(propertyId)
  if (caller.kind === 'api_key') ownTenant(caller, tenantId)
  return {
    context: { tenantId, propertyId },
    enter: async (trx) => {
      await admitPublic(trx, feature)
      return undefined
    },
    open: (work) => inTenant(tenantId, work, context),
    body,
    keyAtOnce: true,
  }
}
