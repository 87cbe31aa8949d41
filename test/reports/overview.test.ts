import { expect } from 'chai'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { makeLateHouse, setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { makeBook } from './support.ts'

type Figures = Record<string, number | string | null>
type Row = Figures & { propertyId: string }

describe('an overview of houses of two currencies', () => {
  const world = useWorld()
  let home: House
  let abroad: string
  let fresh: House
  const names = ['available', 'sold', 'occupancy', 'adr', 'revpar', 'roomRevenue']

  /** Leaves facts of the day before today: units, one of which is out of order, and nights that were slept. */
  const left = (propertyId: string, unitTypeId: string, units: number, sold: number, revenue: number) =>
    inTenant(home.tenantId, async (trx) => {
      const day = home.day(-1)
      await sql(
        trx,
        `insert into property_day (property_id, date, unit_type_id, units, out_of_order, out_of_service) values (?, ?, ?, ?, 1, 0)`,
        [propertyId, day, unitTypeId, units],
      )
      await sql(
        trx,
        `insert into night_fact (property_id, business_date, stay_date, kind, source_type, source_id, unit_nights, adults, children, free, room_revenue, included_tax)
         values (?, ?, ?, 'night', 'test', gen_random_uuid(), ?, 1, 0, 'none', ?, 0)`,
        [propertyId, day, day, sold, revenue],
      )
    })

  before(async () => {
    await forgetLimits(world)
    home = await makeLateHouse(1, { units: 10 })
    await setDay(home, 0)
    fresh = await makeHouse({ units: 1, tenantId: home.tenantId })
    const other = await makeHouse({ units: 6, tenantId: home.tenantId })
    const { bookId } = await makeBook(home.tenantId, { currency: 'EUR' })
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(`update property set book_id = ?, currency = 'EUR' where id = ?`, [bookId, other.propertyId])
    })
    abroad = other.propertyId
    await left(home.propertyId, home.unitTypeId, 11, 2, 60_000)
    await left(abroad, other.unitTypeId, 6, 3, 30_001)
  })

  const ask = async (desk: Awaited<ReturnType<typeof openDesk>>, more = '') =>
    desk.get(`reports/financial-overview?startDate=${home.day(-1)}&endDate=${home.day(-1)}${more}`)

  it('asks for the rate, and then has all in one currency, sums before division, a house without a closed day beside', async () => {
    const owner = await openDesk(world, home, 'owner')
    const refused = await ask(owner)
    expect([refused.status, refused.body.code, refused.body.errors]).to.deep.equal([
      422,
      'rate_missing',
      [{ field: 'EUR/BRL', message: home.day(-1) }],
    ])
    await inTenant(home.tenantId, (trx) =>
      sql(
        trx,
        `insert into exchange_rate (tenant_id, from_currency, to_currency, date, rate) values (?, 'EUR', 'BRL', ?, 5.5)`,
        [home.tenantId, home.day(-3)],
      ),
    )
    const { status, body } = await ask(owner)
    expect(status, JSON.stringify(body)).to.equal(200)
    const told = (row: Figures | undefined) => names.map((name) => row?.[name])
    const rowOf = (propertyId: string) => (body.data as Row[]).find((row) => row.propertyId === propertyId)
    expect(told(rowOf(home.propertyId))).to.deep.equal([10, 2, '0.2000', 30_000, 6_000, 60_000])
    // 300.01 at 5.50 is 1,650.055: 1,650.06, over 3 nights and 5 units.
    expect(told(rowOf(abroad))).to.deep.equal([5, 3, '0.6000', 55_002, 33_001, 165_006])
    expect(told(rowOf(fresh.propertyId))).to.deep.equal([0, 0, null, null, null, 0])
    expect(told(body.totals as Figures)).to.deep.equal([15, 5, '0.3333', 45_001, 15_000, 225_006])
    // Amounts of every row are of the one currency, beside which they stand.
    expect(body.meta.currency).to.equal('BRL')
    expect((body.data as Row[]).map((row) => row['currency'])).to.deep.equal(['BRL', 'BRL', 'BRL'])
    expect(rowOf(abroad)?.['propertyCurrency']).to.equal('EUR')
    const inEuro = (await ask(owner, '&currency=EUR')).body
    expect((inEuro.data as Row[]).find((row) => row.propertyId === abroad)?.['roomRevenue']).to.equal(30_001)
    expect(inEuro.totals.roomRevenue).to.equal(30_001 + 10_909)
  })

  it('shows a member of some houses these alone, and needs no rate of the others', async () => {
    const part = await openDesk(world, home, 'manager', [home.propertyId, fresh.propertyId])
    const { body } = await ask(part)
    expect((body.data as Row[]).map(({ propertyId }) => propertyId)).to.have.members([
      home.propertyId,
      fresh.propertyId,
    ])
    expect(body.totals).to.include({ sold: 2, roomRevenue: 60_000 })
    const named = await ask(part, `&propertyId=${abroad}`)
    expect(named.status).to.be.oneOf([400, 403])
    const alone = await openDesk(world, home, 'manager', [abroad])
    const own = (await ask(alone)).body
    expect([own.meta.currency, own.totals.roomRevenue]).to.deep.equal(['EUR', 30_001])
  })
})
