import { expect } from 'chai'
import { writePrices } from '../../db/properties/rates/rate-cells.ts'
import { makeHouse } from '../support/factories.ts'
import { useRates } from './rates.ts'

describe('Rate plans of a house', () => {
  const rates = useRates()
  const { amounts, change, count, days, item, lower, newPlan, policies, quote } = rates

  it('derive over three steps, each rounded, alike in the calendar and in a quote', async () => {
    const second = await newPlan('SECOND', { parentId: rates.house.saverPlanId, derivation: lower(-333) })
    const third = await newPlan('THIRD', {
      parentId: second.body.id,
      derivation: { type: 'amount', value: 55, roundTo: 10, mode: 'up' },
    })
    expect([second.status, third.status]).to.deep.equal([201, 201])
    // 20000 − 10 % to a hundred = 18000; − 3.33 % = 17400.6 → 17401; + 55 = 17456, up to ten = 17460.
    expect(await amounts(third.body.id, 30, 31)).to.deep.equal([17_460, 17_460])
    expect((await quote(30, 1, third.body.id)).body.rooms[0].nights[0].amount).to.equal(17_460)
    const fourth = await newPlan('FOURTH', { parentId: third.body.id, derivation: lower(-1) })
    expect([fourth.status, fourth.body.code]).to.deep.equal([422, 'derivation_too_deep'])
    const moved = await rates.owner.send('PATCH', `rate-plans/${rates.house.ratePlanId}`, {
      parentId: third.body.id,
      derivation: lower(-1),
    })
    expect([moved.status, moved.body.code]).to.deep.equal([422, 'derivation_cycle'])
  })

  it('never close a circle, though two changes would do so at once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const [a, b] = [await newPlan(`A${round}`), await newPlan(`B${round}`)]
      const replies = await Promise.all([
        rates.owner.send('PATCH', `rate-plans/${a.body.id}`, { parentId: b.body.id, derivation: lower(-100) }),
        rates.owner.send('PATCH', `rate-plans/${b.body.id}`, { parentId: a.body.id, derivation: lower(-100) }),
      ])
      expect(replies.map(({ status }) => status).sort((x, y) => x - y)).to.deep.equal([200, 422])
      expect(replies.find(({ status }) => status === 422)?.body.code).to.equal('derivation_cycle')
    }
  })

  it('keep their prices when they stop deriving, and give them up when they begin to', async () => {
    await change([item(40, 40, { ratePlanIds: [rates.house.ratePlanId], amount: 30_000 })])
    expect(await amounts(rates.house.saverPlanId, 39, 41)).to.deep.equal([18_000, 27_000, 18_000])
    const { status, body } = await rates.owner.send('PATCH', `rate-plans/${rates.house.saverPlanId}`, {
      parentId: null,
    })
    expect([status, body.parentId, body.derivation]).to.deep.equal([200, null, null])
    expect((await days(rates.house.saverPlanId, 39, 41)).map(({ amount, source }) => [amount, source])).to.deep.equal([
      [18_000, 'cell'],
      [27_000, 'cell'],
      [18_000, 'cell'],
    ])
    await change([item(40, 40, { ratePlanIds: [rates.house.ratePlanId], amount: 50_000 })])
    expect(await amounts(rates.house.saverPlanId, 40, 40)).to.deep.equal([27_000])
    const again = await rates.owner.send('PATCH', `rate-plans/${rates.house.saverPlanId}`, {
      parentId: rates.house.ratePlanId,
      derivation: lower(-5_000),
    })
    expect(again.status).to.equal(200)
    expect(await amounts(rates.house.saverPlanId, 39, 40)).to.deep.equal([10_000, 25_000])
    expect(await count('rate_cell', `rate_plan_id = '${rates.house.saverPlanId}'`)).to.equal(0)
  })

  it('name records of their own house alone, and have no price of their own below another', async () => {
    const other = await makeHouse({ tenantId: rates.house.tenantId })
    for (const [more, code, field] of [
      [{ unitTypes: [{ unitTypeId: other.unitTypeId }] }, 'reference_not_found', 'unitTypes.0.unitTypeId'],
      [{ noShowPolicyId: (await policies()).cancellationPolicyId }, 'reference_not_found', 'noShowPolicyId'],
      [{ parentId: other.ratePlanId, derivation: lower(-1) }, 'reference_not_found', 'parentId'],
      [
        {
          parentId: rates.house.ratePlanId,
          derivation: lower(-1),
          unitTypes: [{ unitTypeId: rates.house.unitTypeId, standardAmount: 1 }],
        },
        'rate_plan_derived',
        'unitTypes',
      ],
    ] as const) {
      const { status, body } = await newPlan('WRONG', more)
      expect([status, body.code, body.errors[0].field]).to.deep.equal([422, code, field])
    }
    const crossed = await newPlan('WRONG', { minNights: 5, maxNights: 3 })
    expect([crossed.status, crossed.body.errors[0].field]).to.deep.equal([400, 'maxNights'])
    const named = { extraId: other.unitTypeId, quantity: 1 }
    const child = { ageCategoryId: other.unitTypeId, type: 'free', value: 0 }
    const twice = await newPlan('WRONG', {
      includedExtras: [named, named],
      unitTypes: [{ unitTypeId: rates.house.unitTypeId, children: [child, child] }],
    })
    expect([twice.status, twice.body.errors.map(({ field }: { field: string }) => field)]).to.deep.equal([
      400,
      ['includedExtras', 'unitTypes.0.children'],
    ])
  })

  it('keep a unit type that was archived, unsold, and are changed all the same', async () => {
    const { owner, house } = rates
    const { body: type } = await owner.send('POST', 'unit-types', {
      propertyId: house.propertyId,
      code: 'LOFT',
      name: { 'pt-BR': 'Sótão' },
      kind: 'private',
      baseOccupancy: 1,
      maxAdults: 1,
      maxChildren: 0,
      maxOccupancy: 1,
    })
    const { body: plan } = await newPlan('LOFTS', {
      unitTypes: [{ unitTypeId: type.id, standardAmount: 9_000 }],
    })
    expect((await owner.send('POST', `unit-types/${type.id}/archive`)).body.status).to.equal('archived')
    const changes = [{ minNights: 2 }, { unitTypes: plan.unitTypes }]
    for (const change of changes)
      expect((await owner.send('PATCH', `rate-plans/${plan.id}`, change)).status).to.equal(200)
    const { status, body } = await newPlan('ATTIC', { unitTypes: plan.unitTypes })
    expect([status, body.code]).to.deep.equal([422, 'reference_not_found'])
  })

  it('without a price on some nights keep a house from going live: each stretch of nights is named once', async () => {
    const house = await makeHouse({ tenantId: rates.house.tenantId, draft: true, pricedNights: 1 })
    const priced = (day: number) => ({
      ratePlanId: house.ratePlanId,
      unitTypeId: house.unitTypeId,
      date: house.day(day),
      amount: 1,
    })
    await house.inHouse((trx) => writePrices(trx, house.propertyId, [0, 1, 3, 89].map(priced)))
    const { body } = await rates.owner.get(`properties/${house.propertyId}/readiness`)
    const gaps = body.blockers.map(({ code, message }: { code: string; message: string }) => [code, message])
    const stretches = [`on ${house.day(2)}`, `from ${house.day(4)} to ${house.day(88)}`]
    expect(gaps).to.deep.equal(
      stretches.flatMap((when) =>
        ['FLEX', 'SAVER'].map((plan) => ['price_missing', `${plan} has no price for STD ${when}`]),
      ),
    )
    const later = body.warnings.find(({ code }: { code: string }) => code === 'price_missing_later')
    expect(later.message).to.equal(`FLEX has no price for STD from ${house.day(90)} to ${house.day(365)}`)
  })

  it('are retired from the leaves, and restored only with what they need', async () => {
    const parent = await rates.owner.send('POST', `rate-plans/${rates.house.ratePlanId}/archive`)
    expect([parent.status, parent.body.code, parent.body.errors[0].message]).to.deep.equal([422, 'in_use', 'SAVER'])
    expect((await quote(30, 1, rates.house.saverPlanId)).status).to.equal(200)
    for (const id of [rates.house.saverPlanId, rates.house.ratePlanId])
      expect((await rates.owner.send('POST', `rate-plans/${id}/archive`)).body.status).to.equal('archived')
    expect((await quote(30, 1, rates.house.saverPlanId)).status).to.equal(404)
    const early = await rates.owner.send('POST', `rate-plans/${rates.house.saverPlanId}/restore`)
    expect([early.status, early.body.errors[0].field]).to.deep.equal([422, 'parentId'])
    for (const id of [rates.house.ratePlanId, rates.house.saverPlanId])
      expect((await rates.owner.send('POST', `rate-plans/${id}/restore`)).body.status).to.equal('active')
    expect((await quote(30, 1, rates.house.saverPlanId)).status).to.equal(200)
  })
})
