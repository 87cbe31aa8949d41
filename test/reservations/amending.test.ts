import { expect } from 'chai'
import type { ApiError } from '../../config/errors.ts'
import { daysIn } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { amendReservation } from '../../db/reservations/amend.ts'
import type { StayChange } from '../../db/reservations/amend.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import type { ReservationNightRow, ReservationRow } from '../../db/rows.ts'
import { recountNights } from '../../db/units/recount.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { refusal } from '../support/refusals.ts'
import { changeRatePlan } from '../../db/properties/rates/rate-plans/change.ts'
import { writeRestrictions } from '../support/restrictions.ts'
import { makeHold } from '../support/stay.ts'
import { arrive, drift, place, unitsOf } from '../units/stays.ts'

describe('Amending a stay', () => {
  useDatabase()
  let house: House
  let week = 0

  before(async () => {
    house = await makeHouse({ units: 2, suite: true, deposit: null, taxes: true })
  })
  // Each test has days of its own.
  beforeEach(() => void (week += 1))
  const day = (days: number) => house.day(week * 20 + days)

  const stayOf = async (bookingId: string): Promise<ReservationRow> => {
    const [row] = await house.inHouse((trx) =>
      sql<ReservationRow>(trx, `select * from reservation where booking_id = ? order by position`, [bookingId]),
    )
    if (!row) throw new Error('the booking has no reservation')
    return row
  }
  const held = async (from: number, nights = 2) => stayOf(await makeHold(house, { from: week * 20 + from, nights }))
  const confirmed = async (from: number, nights = 2) => {
    const bookingId = await makeHold(house, { from: week * 20 + from, nights })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    await drain({ kinds: ['inventory.assign'] })
    return stayOf(bookingId)
  }
  const amend = (stay: ReservationRow, change: StayChange, terms = {}) =>
    house.inHouse((trx) => amendReservation(trx, stay.id, change, terms))
  const nightsOf = (stay: ReservationRow) =>
    house.inHouse((trx) =>
      sql<ReservationNightRow>(trx, `select * from reservation_night where reservation_id = ? order by date`, [
        stay.id,
      ]),
    )
  const counted = async (counter: 'held' | 'sold', poolId = house.poolId) =>
    (
      await house.inHouse((trx) =>
        sql<{ night: string }>(
          trx,
          `select night from pool_night where pool_id = ? and ${counter} > 0 and night >= ? and night < ? order by night`,
          [poolId, day(0), day(20)],
        ),
      )
    ).map((row) => row.night)
  afterEach(async () => {
    const wrong = await house.inHouse((trx) => recountNights(trx, house.propertyId, day(0), day(20)))
    expect(wrong, 'counters equal a recount').to.deep.equal([])
  })

  it('by one day moves over its own nights in a house that is full without it, and keeps the price of the nights that stay', async () => {
    await confirmed(10, 3)
    const stay = await confirmed(10, 2)
    const amended = await amend(stay, { arrival: day(11), departure: day(13) })
    expect(amended?.reservation).to.include({
      arrival: day(11),
      departure: day(13),
      version: stay.version + 1,
    })
    const nights = await nightsOf(stay)
    expect(nights.map((night) => night.date)).to.deep.equal([day(11), day(12)])
    expect(amended?.difference).to.equal(0)
    expect(await counted('sold')).to.deep.equal(daysIn(day(10), day(13)))
  })

  it('takes its unit along where that is free, and another is looked for where it is not', async () => {
    const first = await confirmed(10, 2)
    const second = await confirmed(12, 2)
    const unitOf = async (stay: ReservationRow) =>
      (
        await house.inHouse((trx) =>
          sql<{ unitId: string; during: string }>(
            trx,
            `select unit_id, during::text from unit_assignment where reservation_id = ? and status in ('proposed', 'locked')`,
            [stay.id],
          ),
        )
      )[0]
    const mine = await unitOf(first)
    const theirs = await unitOf(second)
    await amend(first, { arrival: day(9) })
    expect(await unitOf(first)).to.deep.equal({ unitId: mine?.unitId, during: `[${day(9)},${day(12)})` })
    await amend(first, { departure: day(13) })
    if (mine?.unitId === theirs?.unitId) expect(await unitOf(first)).to.equal(undefined)
    await drain({ kinds: ['inventory.assign'] })
    const found = await unitOf(first)
    expect(found?.during).to.equal(`[${day(9)},${day(13)})`)
    expect(found?.unitId).to.not.equal(theirs?.unitId)
  })

  it('of the type from the middle moves those nights alone, at the price of the new type', async () => {
    const stay = await confirmed(5, 3)
    const amended = await amend(stay, { unitTypeId: house.suiteTypeId ?? '', from: day(6) })
    const nights = await nightsOf(stay)
    expect(nights.map((night) => night.unitTypeId)).to.deep.equal([
      house.unitTypeId,
      house.suiteTypeId,
      house.suiteTypeId,
    ])
    expect(nights.map((night) => night.amount)).to.deep.equal([20_000, 40_000, 40_000])
    expect(amended?.difference).to.equal(40_000)
    expect(amended?.reservation.unitTypeId, 'as first booked').to.equal(house.unitTypeId)
    expect(await counted('sold')).to.deep.equal([day(5)])
    expect(await counted('sold', house.suitePoolId ?? '')).to.deep.equal([day(6), day(7)])
  })

  it('of a held stay moves what it holds', async () => {
    const stay = await held(15, 2)
    await amend(stay, { departure: day(19) })
    expect(await counted('held')).to.deep.equal(daysIn(day(15), day(19)))
    expect(await counted('sold')).to.deep.equal([])
  })

  it('is refused where a night is sold out, and changes nothing', async () => {
    await confirmed(12, 1)
    await confirmed(12, 1)
    const stay = await confirmed(10, 2)
    const error = await refusal(amend(stay, { departure: day(13) }))
    expect(error).to.include({ status: 409, code: 'sold_out' })
    expect(await stayOf(stay.bookingId)).to.deep.equal(stay)
  })

  it('forced takes what is not there, and says that the stay is overbooked', async () => {
    await confirmed(12, 1)
    await confirmed(12, 1)
    const stay = await confirmed(10, 2)
    const amended = await amend(stay, { departure: day(13) }, { force: true })
    expect(amended?.reservation.overbooked).to.equal(true)
    await amend(stay, { departure: day(12) }, { force: true })
    const forced = await house.inHouse((trx) =>
      sql(trx, `select night from pool_night where pool_id = ? and forced > 0 and night >= ?`, [house.poolId, day(0)]),
    )
    expect(forced).to.deep.equal([])
  })

  it('asks the restrictions of the nights that are added alone, as they are now', async () => {
    const stay = await confirmed(10, 2)
    await house.inHouse((trx) =>
      writeRestrictions(trx, house.propertyId, [
        { date: day(10), stopSell: true },
        { date: day(12), stopSell: true },
      ]),
    )
    expect(await refusal(amend(stay, { departure: day(13) }))).to.include({ code: 'restriction_violated' })
    expect((await amend(stay, { departure: day(11) }))?.reservation.departure).to.equal(day(11))
  })

  it('asks the limits of the plan for nights that come to it: its season, and its length where that changes', async () => {
    const limits = (change: Record<string, unknown>) =>
      house.inHouse((trx) => changeRatePlan(trx, house.ratePlanId, change))
    const refused = async (stay: ReservationRow, change: StayChange) =>
      ((await refusal(amend(stay, change))).errors ?? []).map(({ field, message }) => [field, message.split(':')[0]])
    const stay = await confirmed(10, 2)
    await limits({ stayUntil: day(11), minAdvanceDays: 700 })
    expect(await refused(stay, { departure: day(13) })).to.deep.equal([['ratePlanId', 'plan_stay_until']])
    await limits({ stayUntil: null, minNights: 3, maxNights: 4 })
    expect(await refused(stay, { departure: day(15) })).to.deep.equal([['ratePlanId', 'plan_max_nights']])
    expect(await refused(stay, { arrival: day(13), departure: day(14) })).to.deep.equal([
      ['ratePlanId', 'plan_min_nights'],
    ])
    const longer = await amend(stay, { departure: day(13) })
    expect(longer?.reservation.departure).to.equal(day(13))
    expect((await amend(longer!.reservation, { departure: day(11) }))?.reservation.departure).to.equal(day(11))
    await limits({ minNights: null, maxNights: null, minAdvanceDays: null })
  })

  it('never changes a night that was charged', async () => {
    const stay = await confirmed(10, 3)
    await house.inHouse((trx) =>
      sql(trx, `update reservation_night set status = 'charged' where reservation_id = ? and date = ?`, [
        stay.id,
        day(11),
      ]),
    )
    const error = await refusal(amend(stay, { departure: day(11) }))
    expect(error).to.include({ status: 422, code: 'transition_blocked' })
    expect(error.errors?.map((entry) => entry.field)).to.deep.equal(['blockers.nights_charged'])
    const amended = await amend(stay, { adults: 3 })
    expect((await nightsOf(stay)).map((night) => night.amount)).to.deep.equal([25_000, 20_000, 25_000])
    expect(amended?.difference).to.equal(10_000 + 2 * 300)
  })

  it('is made by one of two who saw the same version, and never deadlocks with one the other way round', async () => {
    const stay = await confirmed(10, 2)
    const results = await Promise.allSettled([
      amend(stay, { departure: day(13) }, { version: stay.version }),
      amend(stay, { arrival: day(9) }, { version: stay.version }),
    ])
    const failed = results.filter((result) => result.status === 'rejected')
    expect(failed.map((result) => (result.reason as ApiError).code)).to.deep.equal(['amendment_stale'])
  })

  it('of a guest in the house keeps him in his unit: who was proposed for it goes elsewhere, and who was promised it stands in the way', async () => {
    const home = await makeHouse({ units: 2, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    const inside = await place(home, { from: 0, nights: 1 })
    await arrive(home, inside)
    const [unitId = ''] = await unitsOf(home, inside)
    const next = await place(home, { from: 1, nights: 2, unitId })
    const stayUntil = (day: number) =>
      home.inHouse((trx) => amendReservation(trx, inside, { departure: home.day(day) }))
    await stayUntil(2)
    expect(await unitsOf(home, inside)).to.deep.equal([unitId])
    expect(await unitsOf(home, next)).to.deep.equal(home.unitIds.filter((id) => id !== unitId))
    await place(home, { from: 3, nights: 1, unitId, locked: true })
    expect((await refusal(stayUntil(4))).code).to.equal('unit_conflict')
    expect(await drift(home)).to.deep.equal([])
  })
})
