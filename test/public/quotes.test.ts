import { expect } from 'chai'
import { claimsOf as claimsOfStay, priceStay } from '../../db/properties/index.ts'
import { verifyToken } from '../../config/tokens.ts'
import { roomsOfQuote } from '../../config/quote.ts'
import type { QuoteClaims } from '../../config/quote.ts'
import { sql } from '../../db/lib/connection.ts'
import { createPromoCode } from '../../db/properties/terms/promo-codes.ts'
import { changeSettings } from '../../db/properties/house/properties/settings.ts'
import { changePolicyRules } from '../../db/properties/terms/policies.ts'
import { checkSellable } from '../../db/properties/sale/sellable.ts'
import { neverRefunded } from '../support/factories.ts'
import { usePortal } from '../support/portal.ts'
import { writeRestrictions } from '../support/restrictions.ts'

describe('A quote', () => {
  const portal = usePortal()
  const claimsOf = async (token: string): Promise<QuoteClaims> => {
    const verified = await verifyToken('quote', token)
    if (!verified.ok) throw new Error('the quote does not verify')
    return verified.claims as unknown as QuoteClaims
  }

  it('is never of more than a hold takes', async () => {
    const { propertyId, unitTypeId, ratePlanId, day, inHouse } = portal.house
    const room = { unitTypeId, ratePlanId, adults: 2, childrenAges: [], extras: [] }
    const request = {
      propertyId,
      arrival: day(30),
      departure: day(32),
      rooms: [room, room],
      audience: 'portal' as const,
    }
    await inHouse(async (trx) => {
      const stay = await priceStay(trx, request)
      const dear = (total: number) => ({ ...stay, priced: stay.priced.map((one) => ({ ...one, total })) })
      expect(claimsOfStay(trx, dear(1_000)).total).to.equal(2_000)
      expect(() => claimsOfStay(trx, dear(Number.MAX_SAFE_INTEGER))).to.throw('more than can be booked')
    })
  })

  it('carries the price with every line, and no cache keeps it', async () => {
    const { status, body, headers } = await portal.quote()
    expect(status).to.equal(200)
    expect(headers['cache-control']).to.equal('no-store')
    const claims = await claimsOf(body.quote)
    expect(claims).to.include({
      tenantId: portal.house.tenantId,
      propertyId: portal.house.propertyId,
      total: 41_200,
      dueNow: 12_360,
      currency: 'BRL',
      locale: 'pt-BR',
    })
    const [room] = roomsOfQuote(claims)
    expect(room?.nights.map((night) => night.taxes.map((tax) => tax.amount))).to.deep.equal([
      [952, 600],
      [952, 600],
    ])
    expect(body.schedule.map((line: { amount: number }) => line.amount)).to.deep.equal([12_360, 28_840])
    expect(body.schedule[0].dueAt).to.equal(body.expiresAt)
    expect(body.policies.cancellation.tiers.map((tier: { fee: number }) => tier.fee)).to.deep.equal([0, 20_600, 41_200])
    expect(body.policies.noShow.fee).to.equal(41_200)
  })

  it('adds up several rooms, and asks for the units of all of them together', async () => {
    const room = {
      unitTypeId: portal.house.unitTypeId,
      ratePlanId: portal.house.ratePlanId,
      adults: 2,
      childrenAges: [],
      extras: [],
    }
    const suite = { ...room, unitTypeId: portal.house.suiteTypeId, ratePlanId: portal.house.saverPlanId }
    const { body } = await portal.quote({ rooms: [room, suite] })
    expect([body.total, body.dueNow]).to.deep.equal([41_200 + 73_200, 12_360 + 73_200])
    const twice = await portal.quote({ rooms: [suite, suite] })
    expect([twice.status, twice.body.code]).to.deep.equal([409, 'sold_out'])
    expect(twice.body.errors.map((entry: { field: string }) => entry.field)).to.deep.equal([
      `nights.${portal.house.day(30)}`,
      `nights.${portal.house.day(31)}`,
    ])
  })

  it('of the largest kind still fits its token', async () => {
    await portal.house.inHouse(async (trx) => {
      await changeSettings(trx, portal.house.propertyId, { portal: { maxRooms: 9, maxNights: 90 } })
      await sql(trx, `update pool_night set capacity = 20 where pool_id = ?`, [portal.house.poolId])
    })
    const room = {
      unitTypeId: portal.house.unitTypeId,
      ratePlanId: portal.house.ratePlanId,
      adults: 3,
      childrenAges: [4],
      extras: [],
    }
    const { status, body } = await portal.quote({
      rooms: Array.from({ length: 9 }, () => room),
      departure: portal.house.day(120),
    })
    expect(status).to.equal(200)
    expect(roomsOfQuote(await claimsOf(body.quote))).to.have.length(9)
  })

  it('is refused where it cannot be had, with what was wrong', async () => {
    await portal.house.inHouse(async (trx) => {
      await writeRestrictions(trx, portal.house.propertyId, [
        { date: portal.house.day(41), ratePlanId: portal.house.ratePlanId, stopSell: true },
      ])
      await sql(trx, `update unit_type set bookable = false where id = ?`, [portal.house.suiteTypeId])
    })
    const stopped = await portal.quote({ arrival: portal.house.day(40), departure: portal.house.day(42) })
    expect([stopped.status, stopped.body.code, stopped.body.errors[0].field]).to.deep.equal([
      422,
      'restriction_violated',
      `rooms.0.nights.${portal.house.day(41)}`,
    ])
    const derived = await portal.quote(
      { arrival: portal.house.day(40), departure: portal.house.day(42) },
      { ratePlanId: portal.house.saverPlanId },
    )
    expect(derived.body.code).to.equal('restriction_violated')
    expect((await portal.quote({}, { adults: 4 })).body.code).to.equal('occupancy_exceeded')
    expect((await portal.quote({}, { childrenAges: [18] })).body.code).to.equal('age_invalid')
    expect((await portal.quote({}, { unitTypeId: portal.house.propertyId })).status).to.equal(404)
    expect(
      (await portal.quote({}, { extras: [{ extraId: portal.house.propertyId, quantity: 1 }] })).body.code,
    ).to.equal('extra_unavailable')
    expect((await portal.quote({ promoCode: 'NONE' })).body.code).to.equal('promo_code_invalid')
    expect((await portal.quote({ total: 1 })).body.code).to.equal('validation_failed')
    const horizon = await portal.quote({ arrival: portal.house.day(600), departure: portal.house.day(602) })
    expect(horizon.body.errors[0].message).to.equal('portal_max_advance: is booked online at most 365 days ahead')
  })

  it('takes a promo code in any case, once it is in its scope', async () => {
    await portal.house.inHouse((trx) =>
      createPromoCode(trx, {
        propertyId: portal.house.propertyId,
        code: 'WELCOME',
        type: 'amount',
        value: 5_001,
        ratePlanIds: [portal.house.ratePlanId],
        maxRedemptions: 1,
      }),
    )
    const { body } = await portal.quote({ promoCode: 'welcome' })
    expect(body.total).to.equal(41_200 - 5_001)
    expect(await claimsOf(body.quote)).to.include({ promoCode: 'WELCOME' })
  })

  it('keeps its policies when they change, and is checked again for restrictions', async () => {
    const { body } = await portal.quote()
    const claims = await claimsOf(body.quote)
    const check = () =>
      portal.house.inHouse((trx) => checkSellable(trx, { ...claims, rooms: roomsOfQuote(claims), audience: 'portal' }))
    const policyId = await portal.house.inHouse(async (trx) => {
      const [policy] = await sql<{ id: string }>(trx, `select id from policy where code = 'FLEX'`)
      return policy?.id ?? ''
    })
    await portal.house.inHouse((trx) => changePolicyRules(trx, policyId, neverRefunded))
    const sellable = await check()
    expect(sellable.rooms[0]?.policies.cancellation.rules.tiers).to.have.length(2)
    expect(sellable.rooms[0]?.policies.cancellation.versionId).to.equal(claims.rooms[0]?.policies.cancellation)
    expect((await portal.quote()).body.policies.cancellation.tiers).to.have.length(1)
    expect(sellable.moves({ held: 1 })).to.deep.equal(
      [30, 31].map((day) => ({
        poolId: portal.house.poolId,
        night: portal.house.day(day),
        held: 1,
        sold: 0,
        allotted: 0,
      })),
    )
    await portal.house.inHouse((trx) =>
      writeRestrictions(trx, portal.house.propertyId, [{ date: portal.house.day(32), closedToDeparture: true }]),
    )
    const refused = await check().catch((error: { code: string }) => error.code)
    expect(refused).to.equal('restriction_violated')
  })
})
