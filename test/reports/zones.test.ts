import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { closeOpenDay, makeLateHouse, makeStays, openDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

type Figures = Record<string, number | string | null>
type Answer = { meta: Record<string, unknown>; data: (Figures & { propertyId: string })[]; totals: Figures }

const compared = [
  'units', 'available', 'sold', 'adults', 'roomRevenue', 'includedTax', 'occupancy', 'adr', 'revpar', 'leadTime', 'lengthOfStay', 'cancellationRate',
  'outOfOrderRate',
] // prettier-ignore

describe('an overview of houses in zones fifteen hours apart', () => {
  const world = useWorld()
  let seoul: House
  let mexico: House
  let owner: Desk

  const inZone = async (house: House, timezone: string, confirmedAt: string) =>
    house.inHouse(async (trx) => {
      await sql(trx, `update property set timezone = ? where id = ?`, [timezone, house.propertyId])
      await sql(trx, `update reservation set confirmed_at = ?::timestamptz where property_id = ?`, [
        confirmedAt,
        house.propertyId,
      ])
    })
  const ask = async (report: string, query: Record<string, string>): Promise<Answer> => {
    const { status, body } = await owner.get(`reports/${report}?${new URLSearchParams(query).toString()}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as Answer
  }

  before(async () => {
    await forgetLimits(world)
    seoul = await makeLateHouse(2, { units: 3 })
    mexico = await makeLateHouse(2, { units: 5, tenantId: seoul.tenantId })
    owner = await openDesk(world, seoul, 'owner')
    await makeStays(seoul, 2, { from: -2, nights: 3, checkedIn: true })
    await makeStays(mexico, 3, { from: -2, nights: 3, checkedIn: true })
    // One instant: in the east it is the next day.
    const confirmedAt = `${seoul.day(-7)}T20:00:00Z`
    await inZone(seoul, 'Asia/Seoul', confirmedAt)
    await inZone(mexico, 'America/Mexico_City', confirmedAt)
    // The day of the east is over first.
    await closeOpenDay(seoul)
    await closeOpenDay(seoul)
    await closeOpenDay(mexico)
  })

  it('has each house by its own open day and clock, and sums of both in the totals', async () => {
    expect([await openDay(seoul), await openDay(mexico)]).to.deep.equal([seoul.day(0), seoul.day(-1)])
    const range = { startDate: seoul.day(-2), endDate: seoul.day(0) }
    const { meta, data, totals } = await ask('financial-overview', range)
    const rowOf = ({ propertyId }: House) => data.find((row) => row.propertyId === propertyId)
    expect(meta['provisional']).to.equal(true)
    expect(meta['openDays']).to.deep.equal([
      { propertyId: mexico.propertyId, date: seoul.day(-1) },
      { propertyId: seoul.propertyId, date: seoul.day(0) },
    ])
    // Confirmed on the evening of the seventh day before, which was the morning of the sixth in the east.
    expect([rowOf(seoul)?.['leadTime'], rowOf(mexico)?.['leadTime']]).to.deep.equal(['4.0000', '5.0000'])
    expect([rowOf(seoul)?.['sold'], rowOf(mexico)?.['sold'], totals['sold']]).to.deep.equal([6, 9, 15])
    expect(totals['leadTime']).to.equal('4.6000')
    for (const house of [seoul, mexico]) {
      const alone = await ask('occupancy', { ...range, propertyId: house.propertyId, by: 'day' })
      for (const key of compared) expect([key, rowOf(house)?.[key]]).to.deep.equal([key, alone.totals[key]])
      const open = await openDay(house)
      for (const { key, basis, sold } of alone.data as unknown as { key: string; basis: string; sold: number }[])
        expect([key, basis, sold]).to.deep.equal([
          key,
          key < open ? 'actual' : key === open ? 'open' : 'on_the_books',
          house === seoul ? 2 : 3,
        ])
    }
  })

  it('asks by default for the month up to the latest open day, and for each house what stands there', async () => {
    const { meta } = await ask('financial-overview', {})
    expect(meta['endDate']).to.equal(seoul.day(0))
    const both = await ask('occupancy', { startDate: seoul.day(-1), endDate: seoul.day(-1) })
    expect(both.data.map(({ basis }) => basis)).to.deep.equal(['open'])
    expect(both.totals['sold']).to.equal(5)
  })
})
