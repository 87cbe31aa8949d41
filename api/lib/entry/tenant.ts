import { invalid } from '../../../config/errors.ts'
import { isUuid } from '../../../config/validator.ts'
import { audit } from '../../../db/lib/audit.ts'
import { inTenant } from '../../../db/lib/connection.ts'
import type { Trx } from '../../../db/lib/connection.ts'
import { admit, ownTenant } from '../access/admission.ts'
import type { TenantAccess } from '../access/kinds.ts'
import type { Call, Entry } from './entry.ts'

/** Refuses a call for another tenant before anything of that tenant is read, and writes it to the trail of the caller's own. */
const refuseForeign = async ({ caller, context }: Call, tenantId: string): Promise<void> => {
  try {
    ownTenant(caller, tenantId)
  } catch (error) {
    const own = caller.kind === 'user' ? caller.activeTenantId : caller.kind === 'api_key' ? caller.tenantId : null
    if (own !== null)
      await inTenant(
        own,
        (trx) => audit(trx, { action: 'tenant.refused', subjectType: 'Tenant', subjectId: tenantId }),
        context,
      )
    throw error
  }
}

/** Users and API keys, in the tenant that the path names. */
export const tenantEntry = async (access: TenantAccess, call: Call): Promise<Entry<Trx>> => {
  const tenantId = (call.params.tenantId ?? '').toLowerCase()
  if (!isUuid(tenantId)) throw invalid([{ field: 'tenantId', message: 'must be a UUID version 4' }])
  await refuseForeign(call, tenantId)
  return {
    context: { tenantId },
    enter: (trx) => admit(trx, call.caller, access, tenantId),
    open: (work, options) => inTenant(tenantId, work, call.context, options),
  }
}
