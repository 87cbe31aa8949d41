import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createPromoCode } from '../../db/properties/terms/promo-codes.ts'
import { createRatePlan } from '../../db/properties/rates/rate-plans/create.ts'
import { searchOffers } from '../../db/properties/sale/search.ts'
import type { SearchRequest } from '../../db/properties/sale/search.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'

describe('Offers', () => {
  useDatabase()

  it('are found by four statements, and are 200 at most, however many types, plans and nights there are', async function () {
    this.timeout(120_000)
    const large = await makeHouse({ units: 2 })
    const statements = async (request: Partial<SearchRequest>) => {
      const seen: string[] = []
      const note = ({ sql: text }: { sql: string }) => {
        // Not what the transaction itself begins with.
        if (!/^(begin|set |select set_config)/.test(text)) seen.push(text)
      }
      return large.inHouse(async (trx) => {
        // Of this transaction alone: the pool serves others beside it.
        trx.on('query', note)
        const found = await searchOffers(trx, {
          propertyId: large.propertyId,
          arrival: large.day(5),
          departure: large.day(6),
          rooms: [{ adults: 2, childrenAges: [] }],
          audience: 'staff',
          ...request,
        })
        return { seen: [...seen], found }
      })
    }
    const small = await statements({ promoCode: 'TWO' }).then(
      () => null,
      (error: { code: string }) => error.code,
    )
    expect(small).to.equal('promo_code_invalid')
    await large.inHouse(async (trx) => {
      await createPromoCode(trx, { propertyId: large.propertyId, code: 'TWO', type: 'percent', value: 200 })
      const [plan] = await sql<{ cancellationPolicyId: string; noShowPolicyId: string }>(
        trx,
        `select cancellation_policy_id, no_show_policy_id from rate_plan where id = ?`,
        [large.ratePlanId],
      )
      const types: string[] = []
      for (let index = 0; index < 8; index += 1) {
        const type = await createUnitType(trx, {
          propertyId: large.propertyId,
          code: `T${index}`,
          name: { 'pt-BR': 'Tipo', en: 'Type' },
          kind: 'private',
          baseOccupancy: 2,
          maxAdults: 2,
          maxChildren: 0,
          maxOccupancy: 2,
          pools: [{ poolId: large.poolId, quantity: 1 }],
        })
        types.push(type.id)
      }
      await createUnits(trx, { propertyId: large.propertyId, unitTypeId: types[0] ?? '', names: ['X1'] })
      for (let index = 0; index < 4; index += 1)
        await createRatePlan(trx, {
          propertyId: large.propertyId,
          code: `P${index}`,
          name: { 'pt-BR': 'Plano', en: 'Plan' },
          cancellationPolicyId: plan?.cancellationPolicyId ?? '',
          noShowPolicyId: plan?.noShowPolicyId ?? '',
          unitTypes: types.map((unitTypeId) => ({ unitTypeId, standardAmount: 10_000 + index })),
        })
    })
    const one = await statements({ promoCode: 'TWO', unitTypeIds: [large.unitTypeId], ratePlanIds: [large.ratePlanId] })
    expect(one.found.offers).to.have.length(1)
    expect(one.seen).to.have.length(4)
    const many = await statements({ promoCode: 'TWO', departure: large.day(35), flexibleDays: 7 })
    expect(many.found.offers).to.have.length(200)
    const totals = many.found.offers.map((offer) => offer.total)
    expect(totals).to.deep.equal(totals.toSorted((a, b) => a - b))
    // The catalogue is kept by now.
    expect(many.seen).to.have.length(3)
  })
})
