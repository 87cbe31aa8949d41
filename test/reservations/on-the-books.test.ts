import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { amendReservation } from '../../db/reservations/amend.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { arrive, makeLateHouse, makeStays, readStay, setDay } from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { deskOf } from './desk.ts'

type Night = { stayDate: string; units: number; revenue: number }

describe('On the books', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 4 })
  })
  const { leave, miss } = deskOf(() => house)

  /** The units and revenue on the books for each night, as known at the end of a day. */
  const books = (asOf = house.day(60)) =>
    house.inHouse((trx) =>
      sql<Night>(
        trx,
        `select stay_date, sum(unit_nights)::int as units, sum(room_revenue)::bigint as revenue from on_the_books_change
         where property_id = ? and changed_on <= ? group by stay_date having sum(unit_nights) <> 0 or sum(room_revenue) <> 0 order by 1`,
        [house.propertyId, asOf],
      ),
    )
  /** The nights of the stays that count, read anew. */
  const counted = () =>
    house.inHouse((trx) =>
      sql<Night>(
        trx,
        `select n.date as stay_date, sum(p.quantity)::int as units,
           sum(n.amount - (select coalesce(sum((x ->> 'amount')::bigint), 0) from jsonb_array_elements(n.components) x))::bigint as revenue
         from reservation r join reservation_night n on n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.status <> 'released'
         join unit_type_pool p on p.tenant_id = n.tenant_id and p.unit_type_id = n.unit_type_id
         where r.property_id = ? and r.status in ('confirmed', 'checked_in', 'checked_out') group by 1 order by 1`,
        [house.propertyId],
      ),
    )
  const rows = async () =>
    (await house.inHouse((trx) => sql<{ count: number }>(trx, `select count(*) as count from on_the_books_change`)))[0]
      ?.count
  const again = (id: string) => house.inHouse((trx) => sql(trx, `select record_on_the_books(array[?]::uuid[])`, [id]))

  it('stand confirmed nights at their price without what is included, and held ones do not', async () => {
    await makeHold(house, { from: 40 })
    expect(await books()).to.deep.equal([])
    const [id = ''] = await makeStays(house, 1, { from: 40, nights: 2 })
    expect(await books()).to.deep.equal(await counted())
    expect((await books()).map((night) => night.stayDate)).to.deep.equal([40, 41].map(house.day))
    const before = await rows()
    await again(id)
    expect(await rows()).to.equal(before)
  })

  it('stays what was known on a day, whatever comes later', async () => {
    const [id = ''] = await makeStays(house, 1, { from: 40, nights: 2 })
    const known = await books()
    await setDay(house, 0)
    await house.inHouse((trx) => amendReservation(trx, id, { departure: house.day(45) }))
    expect(await books()).to.deep.equal(await counted())
    expect(await books(house.day(-1))).to.deep.equal(known)
    const { bookingId } = await readStay(house, id)
    await house.inHouse((trx) => cancelReservations(trx, bookingId, { reason: 'guest_request', terms: 'free' }))
    expect(await books()).to.deep.equal([])
    expect(await books(house.day(-1))).to.deep.equal(known)
  })

  it('a guest who leaves early or does not come leaves the nights that count', async () => {
    const [early = '', missing = ''] = await makeStays(house, 2, { from: -1, nights: 3 })
    // The stays were put on these days by hand.
    for (const id of [early, missing]) await again(id)
    expect(await books()).to.deep.equal(await counted())
    await arrive(house, early)
    expect(await books()).to.deep.equal(await counted())
    await setDay(house, 0)
    await leave(early, true, 'balance')
    await miss(missing)
    expect(await books()).to.deep.equal(await counted())
    expect((await books()).map((night) => [night.stayDate, night.units])).to.deep.equal([[house.day(-1), 1]])
  })
})
