import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { createTaxRule } from '../../db/properties/terms/tax-rules.ts'
import { amendReservation } from '../../db/reservations/amend.ts'
import type { StayChange } from '../../db/reservations/amend.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import type { ReservationNightRow } from '../../db/rows.ts'
import { recountNights } from '../../db/units/recount.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'

describe('What an amended stay costs', () => {
  useDatabase()
  let house: House
  let id = ''
  beforeEach(async () => {
    house = await makeHouse({ units: 2, suite: true, deposit: null })
    await house.inHouse(async (trx) => {
      await createTaxRule(trx, {
        propertyId: house.propertyId,
        code: 'STAY',
        name: { en: 'Of the stay', 'pt-BR': 'Da estadia' },
        kind: 'fee',
        basis: 'per_stay',
        amount: 777,
        included: false,
        appliesTo: 'room',
        validFrom: house.day(-30),
      })
      await createTaxRule(trx, {
        propertyId: house.propertyId,
        code: 'FIRST',
        name: { en: 'Of two nights', 'pt-BR': 'De duas noites' },
        kind: 'fee',
        basis: 'per_night',
        amount: 100,
        included: false,
        appliesTo: 'room',
        maxNights: 2,
        validFrom: house.day(-30),
      })
      await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId])
    })
    const bookingId = await makeHold(house, { from: 10, nights: 3 })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    const [room] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from reservation where booking_id = ?`, [bookingId]),
    )
    id = room?.id ?? ''
  })
  afterEach(async () => {
    const wrong = await house.inHouse((trx) => recountNights(trx, house.propertyId, house.day(0), house.day(30)))
    expect(wrong, 'counters equal a recount').to.deep.equal([])
  })
  const amend = (change: StayChange) => house.inHouse((trx) => amendReservation(trx, id, change))
  const nights = () =>
    house.inHouse((trx) =>
      sql<ReservationNightRow>(trx, `select * from reservation_night where reservation_id = ? order by date`, [id]),
    )
  const taxes = async () =>
    (await nights()).map((night) => (night.taxes as { amount: number }[]).reduce((sum, tax) => sum + tax.amount, 0))
  const suites = async () => (await nights()).map((night) => night.unitTypeId === house.suiteTypeId)

  it('has each tax of a stay once, and those of its first nights on its first nights, wherever it begins', async () => {
    expect(await taxes()).to.deep.equal([877, 100, 0])
    await amend({ arrival: house.day(9) })
    expect(await taxes()).to.deep.equal([877, 100, 0, 0])
    const amended = await amend({ arrival: house.day(11) })
    expect(await taxes()).to.deep.equal([877, 100])
    expect(amended?.reservation.taxTotal).to.equal(977)
  })

  it('is that of the types and plans which its nights have: a change of the party moves nobody to another room', async () => {
    const suite = house.suiteTypeId ?? ''
    await amend({ unitTypeId: suite, from: house.day(11) })
    expect(await suites()).to.deep.equal([false, true, true])
    await amend({ adults: 1 })
    expect(await suites()).to.deep.equal([false, true, true])
    expect((await nights()).map((night) => night.amount)).to.deep.equal([18_000, 36_000, 36_000])
    await amend({ departure: house.day(14), arrival: house.day(9) })
    expect(await suites()).to.deep.equal([false, false, true, true, true])
    await amend({ unitTypeId: house.unitTypeId })
    expect(await suites()).to.deep.equal([false, false, false, false, false])
  })

  it('of nights before the change of type stays theirs, also when the party changes with it', async () => {
    await amend({ unitTypeId: house.suiteTypeId ?? '', from: house.day(11), adults: 1 })
    expect((await nights()).map((night) => night.amount)).to.deep.equal([18_000, 36_000, 36_000])
  })

  it('of an upgrade to another day at the same price has the tax of the stay once, on its first night', async () => {
    const suite = house.suiteTypeId ?? ''
    const amended = await amend({ unitTypeId: suite, arrival: house.day(11), departure: house.day(14), price: 'keep' })
    expect(await suites()).to.deep.equal([true, true, true])
    // Two nights stand at their old price; the third is sold as a suite of today.
    expect((await nights()).map((night) => night.amount)).to.deep.equal([20_000, 20_000, 40_000])
    expect(await taxes()).to.deep.equal([877, 100, 0])
    expect(amended?.reservation.taxTotal).to.equal(977)
  })

  it('of a night at a price of the desk has taxes and components of that price, also where the plan has none', async () => {
    await house.inHouse(async (trx) => {
      const breakfast = await createExtra(trx, {
        propertyId: house.propertyId,
        code: 'BREAKFAST',
        name: { en: 'Breakfast', 'pt-BR': 'Café' },
        category: 'meal',
        revenueGroup: 'food',
        amount: 1_500,
        basis: 'per_person_per_night',
      })
      await sql(trx, `update rate_plan set included_extras = ?::jsonb where id = ?`, [
        JSON.stringify([{ extraId: breakfast, quantity: 1 }]),
        house.ratePlanId,
      ])
      await createTaxRule(trx, {
        propertyId: house.propertyId,
        code: 'CITY',
        name: { en: 'City', 'pt-BR': 'Cidade' },
        kind: 'tax',
        basis: 'percent',
        rate: 500,
        included: true,
        appliesTo: 'both',
        validFrom: house.day(-30),
      })
      await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId])
    })
    const parts = async () =>
      (await nights()).map(({ amount, taxes: of, components }) => [
        amount,
        (of as { code: string; amount: number }[]).find((one) => one.code === 'CITY')?.amount ?? null,
        (components as { amount: number }[]).map((one) => one.amount),
      ])
    await amend({ manualNights: [{ date: house.day(11), amount: 2_100 }] })
    expect(await parts()).to.deep.equal([
      [20_000, null, []],
      [2_100, 100, [2_100]],
      [20_000, null, []],
    ])
    // The breakfast of two is 3,000: more than that night costs.
    await amend({ manualNights: [{ date: house.day(11), amount: 6_300 }] })
    expect((await parts())[1]).to.deep.equal([6_300, 300, [3_000]])
    await house.inHouse((trx) =>
      sql(trx, `update rate_plan_unit_type set standard_amount = null where rate_plan_id = ?`, [house.ratePlanId]),
    )
    await house.inHouse((trx) =>
      sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId]),
    )
    await amend({ departure: house.day(14), manualNights: [{ date: house.day(13), amount: 4_200 }] })
    expect((await parts())[3]).to.deep.equal([4_200, 200, [3_000]])
  })
})
