import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createExtra } from '../../db/properties/terms/extras.ts'
import { amendReservation } from '../../db/reservations/amend.ts'
import type { StayChange } from '../../db/reservations/amend.ts'
import { projectionOf } from '../../db/reservations/folio/outlook.ts'
import { advanceNightAudit } from '../../db/night-audit/advance.ts'
import { recountNights } from '../../db/units/recount.ts'
import {
  closeOpenDay,
  linesOf,
  makeLateHouse,
  makeStays,
  readAudit,
  readStay,
  request,
  runAudit,
  setDay,
  unposted,
} from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { deskOf } from './desk.ts'

describe('Extras of a guest in the house', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(2, { units: 3 })
    await house.inHouse(async (trx) => {
      const extra = {
        propertyId: house.propertyId,
        mandatory: true,
        category: 'meal' as const,
        revenueGroup: 'food' as const,
      }
      await createExtra(trx, {
        ...extra,
        code: 'DINNER',
        name: { en: 'Dinner', 'pt-BR': 'Jantar' },
        amount: 3_001,
        basis: 'per_person_per_night',
        dailyLimit: 9,
      })
      await createExtra(trx, {
        ...extra,
        code: 'BOOK',
        name: { en: 'Guide', 'pt-BR': 'Guia' },
        amount: 701,
        basis: 'per_person',
      })
      await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId])
      await sql(
        trx,
        `insert into pool_night (pool_id, night, capacity)
         select p.id, d.day::date, 9 from unit_pool p cross join lateral generate_series(?::date::timestamp, ?::date::timestamp, interval '1 day') as d (day)
         where p.property_id = ? and p.kind = 'extra' on conflict do nothing`,
        [house.day(-5), house.day(-1), house.propertyId],
      )
      await sql(
        trx,
        `update pool_night n set capacity = 9 from unit_pool p where p.id = n.pool_id and p.property_id = ? and p.kind = 'extra'`,
        [house.propertyId],
      )
    })
  })
  const { leave, folioOf, change } = deskOf(() => house)
  const amend = (id: string, to: StayChange) => house.inHouse((trx) => amendReservation(trx, id, to))
  const dinners = async (id: string) =>
    (await linesOf(house, [id]))
      .filter((line) => line.category === 'food' && line.amount % 3_001 === 0)
      .map((line) => [line.key, line.amount])
  const wrong = async () => ({
    counters: await house.inHouse((trx) => recountNights(trx, house.propertyId, house.day(-5), house.day(5))),
    postings: await unposted(house),
  })
  const none = { counters: [], postings: [] }

  it('stand as they were charged when the party changes, and later days cost what they cost then', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 4, checkedIn: true })
    await closeOpenDay(house)
    const before = await readStay(house, id)
    await amend(id, { adults: before.adults + 1 })
    const stay = await readStay(house, id)
    // Three nights of dinner and parking for three, all else as it was.
    expect(stay.extrasTotal - before.extrasTotal).to.equal(3 * 3_001)
    expect(stay.postedTotal).to.equal(before.postedTotal)
    await closeOpenDay(house)
    await amend(id, { departure: house.day(4) })
    await amend(id, { adults: before.adults })
    await setDay(house, 4)
    expect(await leave(id, false, 'balance')).to.equal('checked_out')
    expect(await dinners(id)).to.deep.equal([
      [house.day(-2), 6_002],
      [house.day(-1), 9_003],
      ...[0, 1, 2, 3].map((day) => [house.day(day), 6_002]),
    ])
    const gone = await readStay(house, id)
    expect(gone.postedTotal).to.equal(gone.total)
    expect(gone.total).to.equal(gone.postedTotal)
    const folio = await folioOf(id)
    expect((await house.inHouse((trx) => projectionOf(trx, folio))).projected).to.equal(folio.balance)
    expect(await wrong()).to.deep.equal(none)
  })

  it('that do not change keep their taxes, whatever the rules are by now', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 3, checkedIn: true })
    const before = await readStay(house, id)
    await change(`update tax_rule set rate = rate * 2 where property_id = ? and rate is not null`, [house.propertyId])
    await change(`update property set public_version = public_version + 1 where id = ?`, [house.propertyId])
    const extraTax = () =>
      change(`select name, taxes from reservation_extra where reservation_id = ? order by name`, [id])
    const taxes = await extraTax()
    await amend(id, { childrenAges: [1] })
    expect(await extraTax()).to.deep.equal(taxes)
    expect((await readStay(house, id)).extrasTotal).to.equal(before.extrasTotal)
  })

  it('that are in the price of the night are part of nights that are added or priced anew', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 2, checkedIn: true })
    const parts = async () =>
      (
        await house.inHouse((trx) =>
          sql<{ amount: number | null }>(
            trx,
            `select (components -> 0 ->> 'amount')::int as amount from reservation_night where reservation_id = ? order by date`,
            [id],
          ),
        )
      ).map((night) => night.amount)
    expect(await parts()).to.deep.equal([3_002, 3_002])
    await amend(id, { departure: house.day(1) })
    expect(await parts()).to.deep.equal([3_002, 3_002, 3_002])
    await closeOpenDay(house)
    await amend(id, { adults: 3 })
    expect(await parts()).to.deep.equal([3_002, 4_503, 4_503])
  })

  it('are charged by their whole name, in whatever script', async () => {
    const name = `a${'🏖'.repeat(199)}`
    await change(
      `update extra set name = jsonb_build_object('en', ?::text) where property_id = ? and code = 'DINNER'`,
      [name, house.propertyId],
    )
    await change(`update property set public_version = public_version + 1 where id = ?`, [house.propertyId])
    const [id = ''] = await makeStays(house, 1, { from: -2, checkedIn: true })
    await closeOpenDay(house)
    const lines = await change(`select description from folio_line where amount = 6002 and description = ?`, [name])
    expect(lines).to.have.lengthOf(1)
    expect(await dinners(id)).to.deep.equal([[house.day(-2), 6_002]])
  })

  it('that were charged for a day are not given back by who leaves on it', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -2, nights: 4, checkedIn: true })
    const { id: audit } = await request(house, house.day(-2))
    for (let at = ''; at !== 'snapshot';) {
      await house.inHouse((trx) => advanceNightAudit(trx, audit, audit))
      at = (await readAudit(house, audit)).step ?? ''
    }
    expect(await leave(id, true, 'balance')).to.equal('checked_out')
    await runAudit(house, audit, { runner: audit })
    // The night after it was slept too, by the calendar.
    expect(await dinners(id)).to.deep.equal([
      [house.day(-2), 6_002],
      [house.day(-1), 6_002],
    ])
    const gone = await readStay(house, id)
    expect(gone.postedTotal).to.equal(gone.total)
    expect(await wrong()).to.deep.equal(none)
  })
})
