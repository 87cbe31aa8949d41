import { createApiKey } from '../../db/auth/api-keys.ts'
import { inTenant } from '../../db/lib/connection.ts'

/** API keys of a tenant, so many that no limit of a key is met. */
export const keysOf = (tenantId: string): Promise<string[]> =>
  inTenant(tenantId, async (trx) => {
    const made: string[] = []
    for (let index = 0; index < 40; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read', 'write'] })).key)
    return made
  })
