import { expect } from 'chai'
import type { ReportKey } from '../../config/reports.ts'
import { report } from '../../db/reports/index.ts'
import { readsOf, rowsVisited } from '../lib/rows-visited.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { sumDays } from './recounts.ts'
import { fillYear } from './year-of-stays.ts'

/** Stays that arrive on a day of the quiet house, and of the busy one. */
const [few, many] = [2, 12]

describe('reports over closed days', function () {
  this.timeout(240_000)
  const world = useWorld()
  let quiet: House
  let busy: House

  const filled = async (perDay: number) => {
    const house = await makeHouse({ units: 2, suite: true, deposit: null })
    await fillYear(world.database.admin, house, { perDay, back: 40, ahead: 0 })
    return house
  }
  before(async () => {
    quiet = await filled(few)
    busy = await filled(many)
    for (const house of [quiet, busy]) await sumDays(house)
    await world.database.admin.raw(`vacuum analyze`)
  })

  const asked: { name: ReportKey; more?: Record<string, unknown> }[] = [
    ...(['channel', 'source', 'segment', 'ratePlan', 'unitType', 'company', 'agency', 'country'] as const).map(
      (by) => ({
        name: 'production' as const,
        more: { by },
      }),
    ),
    ...(['day', 'month', 'segment', 'unitType'] as const).map((by) => ({ name: 'occupancy' as const, more: { by } })),
    { name: 'financial_overview' },
    { name: 'taxes' },
  ]

  const visitsOf = async (
    house: House,
    read: (name: ReportKey, parameters: Record<string, unknown>) => Promise<void>,
  ) => {
    const visits = await rowsVisited(world.database)
    const found: Record<string, number> = {}
    const count = async (name: string, key: ReportKey, parameters: Record<string, unknown>) => {
      found[name] = await visits.of(
        house.tenantId,
        await readsOf(() => read(key, { propertyId: [house.propertyId], ...parameters })),
      )
    }
    try {
      for (const { name, more = {} } of asked)
        await count(`${name} ${Object.values(more).join()}`, name, {
          startDate: house.day(-38),
          endDate: house.day(-1),
          ...more,
        })
      await count('daily_revenue', 'daily_revenue', { date: house.day(-1) })
    } finally {
      await visits.end()
    }
    return found
  }
  const readIn = (house: House) => (name: ReportKey, parameters: Record<string, unknown>) =>
    house.inHouse(async (trx) => {
      const { rows } = await report(name).open(trx, parameters, { propertyIds: null }, null)
      for await (const _ of rows);
    })

  it('visit no more rows in a house with six times the stays', async () => {
    const [before, after] = [await visitsOf(quiet, readIn(quiet)), await visitsOf(busy, readIn(busy))]
    const growing = Object.entries(after).filter(([name, rows]) => rows > 2 * (before[name] ?? 0))
    expect(growing.map(([name, rows]) => [name, before[name], rows])).to.deep.equal([])
    // Without the sums it visits them all.
    await world.database.admin.raw(`delete from stay_sum_day`)
    const without = await visitsOf(busy, readIn(busy))
    for (const name of ['production source', 'occupancy day', 'taxes '])
      expect(without[name], name).to.be.greaterThan(2 * (after[name] ?? 0))
  })
})
