import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { openDesk } from './support.ts'
import type { Desk } from './support.ts'

describe('Sets, taxes and codes of a house', () => {
  const world = useWorld()
  let house: House
  let owner: Desk

  beforeEach(async () => {
    house = await makeHouse({ units: 4, taxes: true })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })

  const ofHouse = (path: string) => `properties/${house.propertyId}/${path}`
  const quote = (more: Record<string, unknown> = {}, room: Record<string, unknown> = {}) =>
    world.request('POST', '/api/public/quotes', {
      body: {
        propertyId: house.propertyId,
        arrival: house.day(30),
        departure: house.day(31),
        rooms: [
          {
            unitTypeId: house.unitTypeId,
            ratePlanId: house.ratePlanId,
            adults: 2,
            childrenAges: [],
            extras: [],
            ...room,
          },
        ],
        ...more,
      },
    })
  const at = (version: unknown) => ({ headers: { 'if-match': `"${String(version)}"` } })

  it('replace age categories, keep what is kept by its id, and refuse to drop one that prices speak of', async () => {
    const { body, headers } = await owner.get(ofHouse('age-categories'))
    expect(body.data.map((one: { code: string }) => one.code)).to.deep.equal(['INFANT', 'CHILD', 'ADULT'])
    const [infant, child, adult] = body.data.map((one: object) => ({ ...one, name: { 'pt-BR': 'Idade' } }))
    // A child of 10 pays 3000, until it is counted as an adult.
    expect((await quote({}, { childrenAges: [10] })).body.rooms[0].nights[0].amount).to.equal(23_000)
    const set = [infant, { ...child, maxAge: 9 }, { ...adult, minAge: 10 }]
    const put = (ageCategories: unknown, version = headers.etag?.replaceAll('"', '')) =>
      owner.send('PUT', ofHouse('age-categories'), { ageCategories }, at(version))
    const replies = await Promise.all([put(set), put(set)])
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([200, 409])
    const now = (await owner.get(ofHouse('age-categories'))).body
    expect(now.data.map((one: { id: string }) => one.id)).to.deep.equal([infant.id, child.id, adult.id])
    expect((await quote({}, { childrenAges: [10] })).body.rooms[0].nights[0].amount).to.equal(25_000)
    for (const [wrong, status, code] of [
      [[infant, adult], 422, 'bands_not_contiguous'],
      [[infant, { ...child, maxAge: 0 }, { ...adult, minAge: 1 }], 422, 'bands_not_contiguous'],
      [
        [
          { ...child, minAge: 0, id: undefined, code: 'X' },
          { ...adult, minAge: 12 },
        ],
        422,
        'in_use',
      ],
      [[{ ...infant, id: house.propertyId }, child, adult], 422, 'reference_not_found'],
    ] as const) {
      const refused = await put(wrong, now.version)
      expect([refused.status, refused.body.code]).to.deep.equal([status, code])
    }
  })

  it('say once in an event that a set was replaced', async () => {
    for (const [set, path] of [
      ['ageCategories', 'age-categories'],
      ['seasons', 'seasons'],
      ['paymentMethods', 'payment-methods'],
    ] as const) {
      const { body, headers } = await owner.get(ofHouse(path))
      const { status } = await owner.send(
        'PUT',
        ofHouse(path),
        {
          [set]: body.data.map((entry: Record<string, unknown>) => ({
            ...entry,
            position: undefined,
            ...(set === 'ageCategories' ? { name: { 'pt-BR': 'Idade' } } : {}),
          })),
        },
        at(headers.etag?.replaceAll('"', '')),
      )
      expect(status, set).to.equal(200)
      const told = await house.inHouse((trx) =>
        sql(trx, `select 1 from event where type = 'property.changed' and changed -> 0 ->> 'field' = ?`, [set]),
      )
      expect(told, set).to.have.lengthOf(1)
    }
  })

  it('replace seasons, which never overlap and choose the days of a bulk change', async () => {
    const season = (code: string, from: number, to: number) => ({
      code,
      name: code,
      colour: '#aa3300',
      ranges: [{ from: house.day(from), to: house.day(to) }],
    })
    const put = (seasons: unknown) => owner.send('PUT', ofHouse('seasons'), { seasons })
    const crossed = await put([season('HIGH', 30, 40), season('LOW', 40, 50)])
    expect([crossed.status, crossed.body.code]).to.deep.equal([422, 'seasons_overlap'])
    const { status, body } = await put([season('HIGH', 30, 40), season('LOW', 41, 50)])
    expect([status, body.data.length]).to.deep.equal([200, 2])
    const [high, low] = body.data
    // Two seasons change places in one request.
    const swapped = await put([
      { ...high, ranges: low.ranges },
      { ...low, ranges: high.ranges, code: 'LOWER' },
    ])
    expect([swapped.status, swapped.body.data.map((one: { id: string }) => one.id)]).to.deep.equal([
      200,
      [high.id, low.id],
    ])
    const change = await owner.send('POST', 'rate-changes', {
      propertyId: house.propertyId,
      items: [
        { from: house.day(0), to: house.day(45), seasonIds: [high.id], ratePlanIds: [house.ratePlanId], amount: 1_000 },
      ],
    })
    expect([change.status, change.body.cellCount]).to.deep.equal([201, 5])
  })

  it('replace ways to pay by those that can be offered, and guests see them at once', async () => {
    const path = ofHouse('payment-methods')
    const { body } = await owner.get(path)
    const shown = async () =>
      (await world.request('GET', `/api/public/property/${house.propertyId}/payment-methods`)).body.methods.map(
        (one: { method: string }) => one.method,
      )
    expect(await shown()).to.deep.equal(['card', 'pix'])
    const [card] = body.data
    const put = (paymentMethods: unknown) => owner.send('PUT', path, { paymentMethods })
    const other = await makeHouse()
    for (const [wrong, status, field] of [
      [{ method: 'cash', offeredTo: 'both' }, 400, 'paymentMethods.0.offeredTo'],
      [{ method: 'pix', offeredTo: 'portal' }, 400, 'paymentMethods.0.gatewayAccountId'],
      [
        { method: 'boleto', offeredTo: 'both', gatewayAccountId: house.gatewayAccountId, minDaysBeforeArrival: 2 },
        400,
        'paymentMethods.0.minDaysBeforeArrival',
      ],
      [
        { method: 'pix', offeredTo: 'portal', gatewayAccountId: other.gatewayAccountId },
        422,
        'paymentMethods.0.gatewayAccountId',
      ],
    ] as const) {
      const refused = await put([wrong])
      expect([refused.status, refused.body.errors[0].field]).to.deep.equal([status, field])
    }
    const { position: _, ...kept } = card
    const done = await put([
      { method: 'pay_at_property', offeredTo: 'both' },
      { ...kept, offeredTo: 'portal' },
    ])
    expect(done.body.data.map((one: { id: string; method: string }) => one.method)).to.deep.equal([
      'pay_at_property',
      'card',
    ])
    expect(done.body.data[1].id).to.equal(card.id)
    expect(await shown()).to.deep.equal(['pay_at_property', 'card'])
    await owner.send('PATCH', `properties/${house.propertyId}`, { locales: ['pt-BR', 'en', 'es'] })
    await put([
      { method: 'pay_at_property', offeredTo: 'both', instructions: { en: 'By card', 'pt-BR': 'Com cartão' } },
    ])
    const spanish = await world.request('GET', `/api/public/property/${house.propertyId}/payment-methods?locale=es`)
    expect(spanish.body.methods[0].instructions, 'the first locale of the house').to.equal('Com cartão')
  })

  it('change an unused tax freely; of one that was applied the end alone', async () => {
    const rule = {
      propertyId: house.propertyId,
      code: 'ECO',
      name: { 'pt-BR': 'Eco' },
      kind: 'fee',
      basis: 'per_night',
      amount: 700,
      appliesTo: 'room',
      validFrom: house.today,
    }
    const wrong = await owner.send('POST', 'tax-rules', { ...rule, rate: 100 })
    expect([wrong.status, wrong.body.errors[0].field]).to.deep.equal([400, 'rate'])
    const { status, body } = await owner.send('POST', 'tax-rules', rule)
    expect(status).to.equal(201)
    const twice = await owner.send('POST', 'tax-rules', { ...rule, validFrom: house.day(10) })
    expect([twice.status, twice.body.code]).to.deep.equal([422, 'tax_rule_overlap'])
    const before = (await quote()).body.total
    expect((await owner.send('PATCH', `tax-rules/${body.id}`, { amount: 900 })).body.amount).to.equal(900)
    expect((await quote()).body.total).to.equal(before + 200)
    await makeHold(house, { from: 30 })
    const later = await owner.send('PATCH', `tax-rules/${body.id}`, { amount: 800 })
    expect([later.status, later.body.code, later.body.errors[0].field]).to.deep.equal([422, 'locked_field', 'amount'])
    const gone = await owner.send('DELETE', `tax-rules/${body.id}`)
    expect([gone.status, gone.body.code]).to.deep.equal([422, 'in_use'])
    const past = await owner.send('PATCH', `tax-rules/${body.id}`, { validTo: house.day(-1) })
    expect(past.status).to.be.oneOf([400, 422])
    expect((await owner.send('PATCH', `tax-rules/${body.id}`, { validTo: house.day(5) })).status).to.equal(200)
    expect((await quote()).body.total).to.equal(before - 700)
    const next = await owner.send('POST', 'tax-rules', { ...rule, amount: 100, validFrom: house.day(6) })
    expect(next.status).to.equal(201)
    expect((await owner.send('DELETE', `tax-rules/${next.body.id}`)).status).to.equal(200)
    const valid = await owner.get(`tax-rules?propertyId=${house.propertyId}&validOn=${house.day(5)}`)
    expect(valid.body.data.map((one: { code: string }) => one.code)).to.deep.equal(['ECO', 'ISS', 'TUR'])
  })

  it('keep a tax that an open quote promises', async () => {
    const make = async (code: string, given: object) => {
      const { body } = await owner.send('POST', 'tax-rules', {
        propertyId: house.propertyId,
        code,
        name: { 'pt-BR': code },
        kind: 'fee',
        validFrom: house.today,
        ...given,
      })
      return body.id as string
    }
    const refusals = async (id: string, change: object) => {
      const changed = await owner.send('PATCH', `tax-rules/${id}`, change)
      const gone = await owner.send('DELETE', `tax-rules/${id}`)
      return [changed.body.code, gone.body.code]
    }
    const room = {
      unitTypeId: house.unitTypeId,
      ratePlanId: house.ratePlanId,
      arrival: house.day(30),
      departure: house.day(31),
      adults: 2,
      childrenAges: [],
    }
    const eco = await make('ECO', { basis: 'per_night', amount: 700, appliesTo: 'room' })
    const quoted = await owner.send('POST', 'quotes', { propertyId: house.propertyId, rooms: [room] })
    expect(quoted.status).to.equal(201)
    expect(await refusals(eco, { amount: 900 })).to.deep.equal(['locked_field', 'in_use'])
  })

  it('give a code its scope and limits, and end it for all at once', async () => {
    const promo = { propertyId: house.propertyId, code: 'SUMMER', type: 'percent', value: 1_000 }
    const { status, body } = await owner.send('POST', 'promo-codes', { ...promo, maxRedemptions: 1 })
    expect([status, body.redeemed]).to.deep.equal([201, 0])
    expect((await owner.send('POST', 'promo-codes', promo)).body.code).to.equal('duplicate_code')
    const plain = (await quote()).body.total
    expect((await quote({ promoCode: 'summer' })).body.total).to.be.lessThan(plain)
    await owner.send('PATCH', `promo-codes/${body.id}`, { ratePlanIds: [house.saverPlanId] })
    expect((await quote({ promoCode: 'SUMMER' })).body.total).to.equal(plain)
    await owner.send('PATCH', `promo-codes/${body.id}`, { ratePlanIds: [] })
    await makeHold(house, { from: 30, promoCode: 'SUMMER' })
    expect((await quote({ promoCode: 'SUMMER' })).body.code).to.equal('promo_code_invalid')
    expect((await owner.get(`promo-codes?q=summ&propertyId=${house.propertyId}`)).body.data[0].redeemed).to.equal(1)
    expect((await owner.send('PATCH', `promo-codes/${body.id}`, { maxRedemptions: 5 })).status).to.equal(200)
    expect((await quote({ promoCode: 'SUMMER' })).status).to.equal(200)
    expect((await owner.send('POST', `promo-codes/${body.id}/archive`)).body.status).to.equal('archived')
    expect((await quote({ promoCode: 'SUMMER' })).body.code).to.equal('promo_code_invalid')
    const wrong = await owner.send('POST', 'promo-codes', { ...promo, code: 'WRONG', unitTypeIds: [house.ratePlanId] })
    expect([wrong.status, wrong.body.errors[0].field]).to.deep.equal([422, 'unitTypeIds.0'])
  })
})
