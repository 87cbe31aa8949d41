import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { createTaxRule } from '../../db/properties/terms/tax-rules.ts'
import type { House } from './factories.ts'

/** Makes a fee of 5.00 a night. Answers its id. */
export const makeFee = async (house: House, code: string): Promise<string> => {
  const id = randomUUID()
  await house.inHouse((trx) =>
    createTaxRule(trx, {
      id,
      propertyId: house.propertyId,
      code,
      name: { 'pt-BR': 'Taxa', en: 'Fee' },
      kind: 'fee',
      basis: 'per_night',
      amount: 500,
      appliesTo: 'room',
      validFrom: house.day(0),
    }),
  )
  return id
}

/** Makes fees that hang on the place of a night in its stay: 7.77 once a stay, and 1.00 for each of the first two nights. */
export const makeFirstNightFees = async (house: House): Promise<void> => {
  const { propertyId } = house
  const rule = {
    propertyId,
    kind: 'fee' as const,
    included: false,
    appliesTo: 'room' as const,
    validFrom: house.day(-30),
  }
  await house.inHouse(async (trx) => {
    const [once, first] = ['Of the stay', 'Of two nights'].map((name) => ({ en: name, 'pt-BR': name }))
    await createTaxRule(trx, { ...rule, code: 'STAY', name: once!, basis: 'per_stay', amount: 777 })
    await createTaxRule(trx, { ...rule, code: 'FIRST', name: first!, basis: 'per_night', amount: 100, maxNights: 2 })
    await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [propertyId])
  })
}
