import { randomUUID } from 'node:crypto'
import type { Plan } from '../../config/plans.ts'
import { createTenant } from '../../db/admin/index.ts'
import { inPlatform } from '../../db/lib/connection.ts'

export type TenantOptions = { plan?: Plan; currency?: string; name?: string }

/** A tenant with the features of its plan, its book and its message templates. */
export const makeTenant = ({
  plan = 'Enterprise',
  currency = 'BRL',
  name = 'House',
}: TenantOptions = {}): Promise<string> =>
  inPlatform(async (trx) => {
    const { tenantId } = await createTenant(trx, {
      name,
      billingEmail: `owner-${randomUUID().slice(0, 8)}@house.example`,
      country: 'BR',
      currency,
      timeZone: 'America/Sao_Paulo',
      locale: 'pt-BR',
      plan,
    })
    return tenantId
  })
