import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { expireHold } from '../../db/reservations/expire.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'
import { useDatabase } from '../support/database.ts'
import { deadlocks } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { outcomes, refusal, tally } from '../support/refusals.ts'
import {
  countersOf,
  eventsOf,
  holdQuote,
  makeHold,
  miscounted,
  outlive,
  quotedClaims,
  readBooking,
} from '../support/stay.ts'

describe('Holding a stay', () => {
  useDatabase()
  let house: House

  beforeEach(async () => {
    house = await makeHouse({ units: 4, suite: true })
  })

  it('takes the counters and writes nights, totals, policies and installments as quoted', async () => {
    const claims = await quotedClaims(house, { nights: 3 })
    const { bookingId } = await holdQuote(house, claims)
    const booking = await readBooking(house, bookingId)
    expect(booking.number).to.match(/^[0-9A-HJKMNP-TV-Z]{8}$/)
    expect(booking.rooms).to.have.length(1)
    expect(booking.rooms[0]).to.include({
      status: 'held',
      total: claims.total,
      arrival: claims.arrival,
      departure: claims.departure,
    })
    expect(booking.holdKind).to.equal('checkout')
    expect(await countersOf(house, 30)).to.include({ held: 1, sold: 0 })
    expect(await countersOf(house, 33)).to.include({ held: 0 })
    expect(await miscounted(house)).to.deep.equal([])
    const deposits = await house.inHouse((trx) => sql<{ amount: number }>(trx, `select amount from deposit`))
    expect(deposits.map((one) => one.amount)).to.deep.equal([claims.dueNow])
    expect((await eventsOf(house, 'reservation.held'))[0]?.data).to.include({ bookingId, total: claims.total })
    const jobs = await house.inHouse((trx) =>
      sql<{ runAt: Date }>(trx, `select run_at from jobs where kind = 'inventory.expire-hold'`),
    )
    expect(jobs[0]?.runAt.getTime()).to.equal(booking.holdExpiresAt?.getTime())
  })

  it('keeps the quoted price when the rate rises, and refuses when sales stop', async () => {
    const claims = await quotedClaims(house)
    await house.inHouse((trx) =>
      sql(
        trx,
        `update rate_plan_unit_type set standard_amount = standard_amount * 2 where standard_amount is not null`,
      ),
    )
    await house.inHouse((trx) => sql(trx, `update property set public_version = public_version + 1`))
    const booking = await readBooking(house, (await holdQuote(house, claims)).bookingId)
    expect(booking.rooms[0]?.total).to.equal(claims.total)
    const other = await quotedClaims(house)
    await house.inHouse((trx) =>
      sql(trx, `insert into restriction_cell (property_id, date, stop_sell) values (?, ?, true)`, [
        house.propertyId,
        house.day(31),
      ]),
    )
    const error = await refusal(holdQuote(house, other))
    expect(error).to.include({ status: 422, code: 'restriction_violated' })
    expect(error.errors?.[0]?.field).to.equal(`rooms.0.nights.${house.day(31)}`)
  })

  it('gives the last unit to one of 60 who want it at the same instant', async () => {
    const claims = await Promise.all(
      Array.from({ length: 60 }, () => quotedClaims(house, { unitTypeId: house.suiteTypeId ?? '' })),
    )
    const results = await outcomes(claims.map((one) => holdQuote(house, one)))
    expect(tally(results)).to.deep.equal({ held: 1, sold_out: 59 })
    expect(await countersOf(house, 30, house.suitePoolId ?? '')).to.include({ held: 1 })
    expect(await miscounted(house)).to.deep.equal([])
    expect(await eventsOf(house, 'reservation.held')).to.have.length(1)
    expect(await deadlocks()).to.equal(0)
  }).timeout(60_000)

  it('makes one booking of the same hold sent 20 times at once', async () => {
    const claims = await quotedClaims(house)
    const who = { email: 'same@example.com', address: '203.0.113.9/32' }
    const held = await Promise.all(Array.from({ length: 20 }, () => holdQuote(house, claims, who)))
    expect(new Set(held.map((one) => one.bookingId)).size).to.equal(1)
    expect(held.filter((one) => !one.repeated)).to.have.length(1)
    expect(await countersOf(house, 30)).to.include({ held: 1 })
    expect(await refusal(holdQuote(house, claims, { email: 'other@example.com' }))).to.include({
      status: 409,
      code: 'quote_used',
    })
  })

  it('lets one of two e-mails use a quote that both send at once', async () => {
    const claims = await quotedClaims(house)
    const results = await outcomes(Array.from({ length: 6 }, () => holdQuote(house, claims)))
    expect(tally(results)).to.deep.equal({ held: 1, quote_used: 5 })
    expect(await miscounted(house)).to.deep.equal([])
  })

  it('takes all rooms or none', async () => {
    const claims = await quotedClaims(house, { rooms: 4 })
    await makeHold(house)
    const error = await refusal(holdQuote(house, claims))
    expect(error).to.include({ status: 409, code: 'sold_out' })
    expect(error.errors?.map((one) => one.field)).to.deep.equal([`nights.${house.day(30)}`, `nights.${house.day(31)}`])
    expect(await countersOf(house, 30)).to.include({ held: 1 })
    expect(await house.inHouse((trx) => sql(trx, `select id from booking`))).to.have.length(1)
  })

  it('holds at most three stays per address, and two per e-mail and property, however many ask at once', async () => {
    const roomy = await makeHouse({ units: 60 })
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) => quotedClaims(roomy, { from: 10 + index })),
    )
    expect(
      tally(await outcomes(claims.map((one) => holdQuote(roomy, one, { address: '192.0.2.1/32' })))),
    ).to.deep.equal({ held: 3, hold_limit: 17 })
    const others = await Promise.all(
      Array.from({ length: 20 }, (_, index) => quotedClaims(roomy, { from: 40 + index })),
    )
    expect(
      tally(await outcomes(others.map((one) => holdQuote(roomy, one, { email: 'one@example.com' })))),
    ).to.deep.equal({ held: 2, hold_limit: 18 })
    const error = await refusal(holdQuote(roomy, await quotedClaims(roomy, { from: 70 }), { email: 'ONE@example.com' }))
    expect(error.retryAfterSeconds).to.be.within(1, 600)
  })

  it('lets unpaid holds take no more than their share of a night, with as many addresses and e-mails as one likes', async () => {
    const roomy = await makeHouse({ units: 20 })
    const claims = await Promise.all(Array.from({ length: 12 }, () => quotedClaims(roomy)))
    const results = await outcomes(claims.map((one) => holdQuote(roomy, one)))
    // 30 % of 20
    expect(tally(results)).to.deep.equal({ held: 6, hold_limit: 6 })
    expect(await countersOf(roomy, 30)).to.include({ held: 6 })
    const unitTypeId = await roomy.inHouse(async (trx) => {
      const { id } = await createUnitType(trx, {
        propertyId: roomy.propertyId,
        code: 'TWO',
        name: { en: 'Two at once', 'pt-BR': 'Dois de uma vez' },
        kind: 'private',
        baseOccupancy: 2,
        maxAdults: 4,
        maxChildren: 0,
        maxOccupancy: 4,
        pools: [{ poolId: roomy.poolId, quantity: 2 }],
      })
      await sql(
        trx,
        `insert into rate_plan_unit_type (rate_plan_id, unit_type_id, standard_amount) values (?, ?, 5000)`,
        [roomy.ratePlanId, id],
      )
      await sql(trx, `update property set public_version = public_version + 1`)
      return id
    })
    const twos = await Promise.all(Array.from({ length: 5 }, () => quotedClaims(roomy, { from: 40, unitTypeId })))
    expect(tally(await outcomes(twos.map((one) => holdQuote(roomy, one))))).to.deep.equal({ held: 3, hold_limit: 2 })
    expect(await countersOf(roomy, 40)).to.include({ held: 6 })
  })

  it('refuses an e-mail whose holds ended unpaid three times within a day', async () => {
    const who = { email: 'idle@example.com' }
    for (let n = 0; n < 3; n += 1) {
      const id = await makeHold(house, who)
      await outlive(house, id)
      expect(await house.inHouse((trx) => expireHold(trx, id))).to.equal('expired')
    }
    const error = await refusal(makeHold(house, who))
    expect(error).to.include({ status: 429, code: 'hold_limit' })
    expect(error.retryAfterSeconds).to.be.within(86_000, 86_400)
    await makeHold(house)
    await house.inHouse((trx) => sql(trx, `delete from hold_strike`))
    await makeHold(house, who)
  })

  it('refuses a booker whose document is barred, and says no more', async () => {
    const { createGuest } = await import('../../db/guests/create.ts')
    await house.inHouse(async (trx) => {
      const guestId = await createGuest(trx, {
        firstName: 'Barred',
        lastName: 'One',
        language: null,
        source: 'staff',
        document: { kind: 'passport', countryCode: 'PT', number: 'AB-123456' },
      })
      await sql(
        trx,
        `insert into guest_block (guest_id, level, starts_on, sealed, created_by) values (?, 'refuse', ?, 'x', gen_random_uuid())`,
        [guestId, house.today],
      )
    })
    const words = (number: string) => ({
      words: {
        booker: {
          firstName: 'New',
          lastName: 'Name',
          email: 'new@example.com',
          document: { type: 'passport' as const, number },
        },
      },
    })
    expect(await refusal(makeHold(house, words('ab123456')))).to.include({ status: 422, code: 'booking_refused' })
    await makeHold(house, words('ZZ999999'))
  })
})
