import fc from 'fast-check'
import { createExtra } from '../../db/properties/charges.ts'
import { createPolicy } from '../../db/properties/policies.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import type { Known } from './inputs.ts'

const name = { 'pt-BR': 'Barco', en: 'Boat' }
const rules = {
  tiers: [],
  after: { type: 'full' as const, value: 0, of: 'total' as const },
  graceHoursAfterBooking: 0,
  earlyDeparture: { type: 'none' as const, value: 0, of: 'total' as const },
}

/** What the staff side of a house needs to be answered at all: records that can be retired, bodies that fit one another. */
export const ofProperties = async (house: House): Promise<{ known: Known; examples: Record<string, unknown[]> }> => {
  const { propertyId } = house
  const draft = await makeHouse({ tenantId: house.tenantId, draft: true, units: 0 })
  const stopped = await makeHouse({ tenantId: house.tenantId })
  const policy = (code: string) => ({ propertyId, code, name: 'Spare', kind: 'cancellation' as const, rules })
  const extra = (code: string) => ({
    propertyId,
    code,
    name,
    category: 'activity' as const,
    revenueGroup: 'tours' as const,
    amount: 5_000,
    basis: 'per_stay' as const,
  })
  const made = await house.inHouse(async (trx) => ({
    policyId: await createPolicy(trx, policy('SPARE')),
    gonePolicyId: await createPolicy(trx, policy('GONE')),
    extraId: await createExtra(trx, extra('BOAT')),
    goneExtraId: await createExtra(trx, extra('GONE')),
  }))
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const newProperty = (code: string) => ({
    code,
    slug: `fuzz-${code.toLowerCase()}`,
    name: 'A house',
    kind: 'inn',
    timezone: 'America/Sao_Paulo',
    currency: 'BRL',
    locales: ['pt-BR'],
  })
  return {
    known: {
      policyId: one(made.policyId),
      extraId: one(made.extraId),
      currency: one('BRL'),
      locales: one(['pt-BR'], ['pt-BR', 'en']),
      unitTypeIds: one([], [house.unitTypeId]),
      'policies.archive policyId': one(made.gonePolicyId),
      'extras.archive extraId': one(made.goneExtraId),
      'properties.suspend propertyId': one(stopped.propertyId),
      'properties.archive propertyId': one(draft.propertyId),
    },
    examples: {
      'properties.list': [{}, { q: 'House', sort: '-name' }],
      'properties.create': Array.from({ length: 20 }, (_, index) => newProperty(`FZ-${index}`)),
      'properties.update': [{ name: 'A name' }, { cleaningMinutes: 30 }, { description: { 'pt-BR': 'Casa' } }],
      'properties.updateSettings': [{ holds: { checkoutMinutes: 12 } }, { portal: { maxNights: 20 } }],
      'properties.suspend': [{ reason: 'a storm' }],
      'policies.create': Array.from({ length: 20 }, (_, index) => policy(`P-${index}`)),
      'policies.update': [{ name: 'Other' }, { rules }],
      'extras.create': Array.from({ length: 20 }, (_, index) => extra(`E-${index}`)),
      'extras.update': [{ amount: 6_000 }, { dailyLimit: 5 }, { dailyLimit: null }],
    },
  }
}
