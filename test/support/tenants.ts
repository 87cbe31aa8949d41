import { randomUUID } from 'node:crypto'
import { inTenant } from '../../db/connection.ts'
import { provisionBook } from '../../db/financial/index.ts'

export type TenantOptions = { plan?: 'Starter' | 'Professional' | 'Enterprise'; currency?: string; name?: string }

/** A tenant with its book. */
export const makeTenant = async ({ currency = 'BRL', name = 'House' }: TenantOptions = {}): Promise<string> => {
  const tenantId = randomUUID()
  await inTenant(tenantId, (trx) => provisionBook(trx, { name, countryCode: 'BR', currency, timeZone: 'America/Sao_Paulo', locale: 'pt-BR' }))
  return tenantId
}
