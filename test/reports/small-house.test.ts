import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { createUnitType } from '../../db/units/unit-types/create.ts'

import { closeOpenDay, makeLateHouse, makeStays, setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

type Row = Record<string, unknown> & { key: string }

/** A night that was slept, or what came to its price: unit-nights, guests, whether it was free, revenue and the tax in it, in minor units. */
type Fact = {
  kind?: 'night' | 'adjustment'
  free?: string
  unitNights: number
  guests?: number
  revenue: number
  tax?: number
}

describe('the figures of a small house, reckoned by hand', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  before(async () => {
    house = await makeLateHouse(1, { units: 10 })
    owner = await openDesk(world, house, 'owner')
    await setDay(house, 0)
  })

  const occupancy = async (
    startDate: string,
    endDate = startDate,
    by = 'day',
  ): Promise<{ rows: Row[]; totals: Row }> => {
    const { status, body } = await owner.get(`reports/occupancy?startDate=${startDate}&endDate=${endDate}&by=${by}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return { rows: body.data, totals: body.totals }
  }

  /** Leaves facts of a closed day: ten units, so many of them out of order, and facts of its nights. */
  const left = (day: string, outOfOrder: number, facts: readonly Fact[]) =>
    house.inHouse(async (trx) => {
      await sql(
        trx,
        `insert into property_day (property_id, date, unit_type_id, units, out_of_order, out_of_service) values (?, ?, ?, 10, ?, 0)`,
        [house.propertyId, day, house.unitTypeId, outOfOrder],
      )
      for (const { kind = 'night', free = 'none', unitNights, guests = 0, revenue, tax = 0 } of facts)
        await sql(
          trx,
          `insert into night_fact (property_id, business_date, stay_date, kind, source_type, source_id, unit_nights, adults, children, free, room_revenue, included_tax)
           values (?, ?, ?, ?, 'test', gen_random_uuid(), ?, ?, 0, ?, ?, ?)`,
          [house.propertyId, day, day, kind, unitNights, guests, free, revenue, tax],
        )
    })

  it('are null where there was nothing to divide by, and sums come before division', async () => {
    const [allBlocked, empty, onlyFree, late, allowance] = [-6, -5, -4, -3, -2].map(house.day) as [
      string,
      string,
      string,
      string,
      string,
    ]
    await left(allBlocked, 10, [])
    await left(empty, 0, [])
    await left(onlyFree, 4, [
      { free: 'complimentary', unitNights: 2, guests: 4, revenue: 0 },
      { free: 'house_use', unitNights: 1, guests: 1, revenue: 0 },
    ])
    // A night of before, charged late: revenue, and no unit-night.
    await left(late, 0, [
      { unitNights: 1, guests: 2, revenue: 20_001, tax: 1_000 },
      { unitNights: 0, revenue: 10_000, tax: 500 },
    ])
    await left(allowance, 0, [
      { unitNights: 3, guests: 5, revenue: 60_000, tax: 3_000 },
      { kind: 'adjustment', unitNights: 0, revenue: -75_000, tax: -3_750 },
    ])
    const { rows, totals } = await occupancy(allBlocked, allowance)
    const told = (row: Row | undefined) =>
      [
        'available',
        'sold',
        'occupancy',
        'occupancyWithFree',
        'adr',
        'adrNet',
        'revpar',
        'guestsPerUnit',
        'outOfOrderRate',
      ].map((name) => row?.[name])
    expect(rows.map(told)).to.deep.equal([
      [0, 0, null, null, null, null, null, null, '1.0000'],
      [10, 0, '0.0000', '0.0000', null, null, 0, null, '0.0000'],
      [6, 0, '0.0000', '0.5000', null, null, 0, '1.6667', '0.4000'],
      [10, 1, '0.1000', '0.1000', 30_001, 28_501, 3_000, '2.0000', '0.0000'],
      [10, 3, '0.3000', '0.3000', -5_000, -4_750, -1_500, '1.6667', '0.0000'],
    ])
    // 15,001 over 4 nights and 36 units; 14 of 50 units out of order.
    expect(told(totals)).to.deep.equal([36, 4, '0.1111', '0.1944', 3_750, 3_563, 417, '1.7143', '0.2800'])
  })

  it('count the beds of a dormitory one by one, and all of them for who takes it whole', async () => {
    await setDay(house, -1)
    const { propertyId } = house
    const [bed, whole] = await house.inHouse(async (trx) => {
      const type = {
        propertyId,
        kind: 'shared' as const,
        baseOccupancy: 2,
        maxAdults: 8,
        maxChildren: 0,
        maxOccupancy: 8,
      }
      const ofBed = await createUnitType(trx, { ...type, code: 'BED', name: { 'pt-BR': 'Cama' } })
      const poolId = ofBed.pools[0]?.poolId ?? ''
      const pools = [{ poolId, quantity: 8 }]
      const ofWhole = await createUnitType(trx, { ...type, code: 'DORM', name: { 'pt-BR': 'Dormitório' }, pools })
      await createUnits(trx, { propertyId, unitTypeId: ofBed.id, names: ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] })
      await sql(trx, `update unit set active_from = ?, condition = 'inspected' where unit_type_id = ?`, [
        house.day(-20),
        ofBed.id,
      ])
      for (const unitTypeId of [ofBed.id, ofWhole.id])
        await sql(
          trx,
          `insert into rate_plan_unit_type (rate_plan_id, unit_type_id, standard_amount) values (?, ?, 5000)`,
          [house.ratePlanId, unitTypeId],
        )
      await sql(trx, `update property set public_version = public_version + 1 where id = ?`, [propertyId])
      return [ofBed.id, ofWhole.id]
    })
    await makeStays(house, 1, { from: -1, nights: 1, unitTypeId: whole ?? '', checkedIn: true })
    await closeOpenDay(house)
    await makeStays(house, 3, { from: 0, nights: 1, unitTypeId: bed ?? '' })
    const { rows } = await occupancy(house.day(-1), house.day(0))
    const told = rows.map(({ units, sold, occupancy: share, basis }) => ({ units, sold, share, basis }))
    expect(told).to.deep.equal([
      { units: 18, sold: 8, share: '0.4444', basis: 'actual' },
      { units: 18, sold: 3, share: '0.1667', basis: 'open' },
    ])
    const byType = await occupancy(house.day(-1), house.day(0), 'unitType')
    const soldOf = (id: string | undefined) => byType.rows.find(({ key }) => key === id)?.['sold']
    expect([soldOf(bed), soldOf(whole)]).to.deep.equal([3, 8])
  })
})
