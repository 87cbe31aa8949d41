import { expect } from 'chai'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { tapeItems, tapeUnassigned, tapeUnits } from '../../db/units/unit-calendar.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { always } from '../../db/lib/conditions.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { arrive, book, place, rollTo } from './stays.ts'

describe('The tape chart and free units', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeHouse({ units: 3, suite: true, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    owner = await openDesk(world, house, 'owner')
    await forgetLimits(world)
  })

  const unit = (index: number) => house.unitIds[index] ?? ''
  const chart = (from: number, to: number, more = '', desk = owner) =>
    desk.get(`unit-calendar?propertyId=${house.propertyId}&from=${house.day(from)}&to=${house.day(to)}${more}`)
  type Line = { unit: { id: string; name: string }; items: Record<string, unknown>[] }
  const lineOf = (units: Line[], id: string) => units.find((line) => line.unit.id === id)?.items ?? []
  const names = (units: Line[]) => units.map((line) => line.unit.name)

  it('show stays and blocks by unit, whom no unit was found for, and a guest who should have left', async () => {
    const overdue = await place(house, { from: 0, nights: 1, unitId: unit(0) })
    await arrive(house, overdue)
    const stay = await place(house, { from: 3, nights: 2, unitId: unit(1), locked: true })
    const without = await book(house, { from: 4, nights: 2 })
    await owner.send('POST', 'unit-blocks', {
      propertyId: house.propertyId,
      unitIds: [unit(2)],
      kind: 'out_of_service',
      reason: 'staff_use',
      from: house.day(4),
      to: house.day(6),
    })
    await rollTo(house, 1)
    await rollTo(house, 2)
    const { status, body } = await chart(2, 5)
    expect(status, JSON.stringify(body)).to.equal(200)
    expect(names(body.units)).to.deep.equal(['101', '201', '102', '103'])
    expect(lineOf(body.units, unit(0))[0]).to.include({ reservationId: overdue, status: 'occupied', to: house.day(1) })
    expect(lineOf(body.units, unit(1))[0]).to.include({
      reservationId: stay,
      kind: 'stay',
      status: 'locked',
      guestName: 'Ana Souza',
      from: house.day(3),
      to: house.day(5),
    })
    expect(lineOf(body.units, unit(2))[0]).to.include({ kind: 'block', status: 'blocked', from: house.day(4) })
    expect(lineOf(body.units, unit(2))[0]).not.to.have.any.keys('reservationId', 'guestName')
    expect(body.unassigned).to.deep.equal([
      {
        reservationId: without,
        unitTypeId: house.unitTypeId,
        from: house.day(4),
        to: house.day(6),
        status: 'confirmed',
        guestName: 'Ana Souza',
      },
    ])
    // The night of departure is not the stay's any more.
    expect(lineOf((await chart(5, 6)).body.units, unit(1))).to.deep.equal([])
    const suites = await chart(2, 5, `&unitTypeId=${house.suiteTypeId}`)
    expect([names(suites.body.units), suites.body.unassigned]).to.deep.equal([['201'], []])
  })

  it('name no guests to roles that see them masked, and show nothing of hidden houses and other tenants', async () => {
    await place(house, { from: 3, nights: 2, unitId: unit(1) })
    await book(house, { from: 3, nights: 2 })
    const auditor = await openDesk(world, house, 'auditor')
    const { body } = await chart(2, 5, '', auditor)
    const [item] = lineOf(body.units, unit(1))
    expect(item).to.include({ kind: 'stay' })
    expect([item, body.unassigned[0]].filter((one) => 'guestName' in (one ?? {}))).to.deep.equal([])
    const second = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const limited = await openDesk(world, house, 'manager', [second.propertyId])
    expect((await chart(2, 5, '', limited)).status).to.equal(403)
    expect((await chart(2, 5, '', await openDesk(world, house, 'housekeeper'))).status).to.equal(403)
    const stranger = await openDesk(world, await makeHouse({ units: 1 }), 'owner')
    expect((await chart(2, 5, '', stranger)).status).to.equal(404)
  })

  it('are three statements whatever the number of units, and no more than 62 days and 300 units', async () => {
    const { propertyId, unitTypeId } = house
    const range = { propertyId, from: house.day(0), to: house.day(31), scope: always }
    const statements: string[] = []
    await inTenant(house.tenantId, async (trx) => {
      // The statements that open the transaction go with its first statement.
      await sql(trx, 'select 1')
      trx.on('query', ({ sql: text }: { sql: string }) => statements.push(text))
      const units = await tapeUnits(trx, range, 300)
      await tapeItems(
        trx,
        units.map((one) => one.id),
        range.from,
        range.to,
      )
      await tapeUnassigned(trx, range)
    })
    expect(statements.filter((text) => /^select/i.test(text.trim()))).to.have.length(3)
    expect((await chart(0, 62)).status).to.equal(200)
    const long = await chart(0, 63)
    expect([long.status, long.body.code]).to.deep.equal([400, 'range_too_long'])
    expect((await chart(5, 5)).status).to.equal(400)
    for (const wing of ['N', 'S'])
      await house.inHouse((trx) =>
        createUnits(trx, {
          propertyId,
          unitTypeId,
          building: wing,
          names: Array.from({ length: 149 }, (_, index) => `${wing}${index}`),
        }),
      )
    const many = await chart(0, 31)
    expect([many.status, many.body.errors?.[0]?.field]).to.deep.equal([400, 'unitTypeId'])
    expect((await chart(0, 31, '&building=N')).body.units).to.have.length(149)
  })

  it('find the items of a unit by their days, not by looking through its past', async () => {
    const stay = await place(house, { from: 3, nights: 2, unitId: unit(1) })
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into unit_assignment (unit_id, reservation_id, status, during)
         select u, ?, 'ended', daterange(current_date - n, current_date - n + 1) from unnest(?::uuid[]) u, generate_series(2, 2000) n`,
        [stay, house.unitIds],
      ),
    )
    await sql(world.database.admin, `analyze unit_assignment`)
    const plan = await house.inHouse((trx) =>
      sql(
        trx,
        `explain select 1 from unit_assignment a where a.unit_id = any(?::uuid[]) and a.status <> 'released' and a.ends_on > ?::date and a.starts_on < ?::date`,
        [house.unitIds, house.day(0), house.day(31)],
      ),
    )
    const text = JSON.stringify(plan)
    expect(text).to.contain('unit_assignment_place')
    expect(text).to.match(/Index Cond: [^"]*ends_on/)
  })

  it('list free units, the best fit first, of the type first, and for a stay as if it had none', async () => {
    const free = (query: string, desk = owner) => desk.get(`units/available?propertyId=${house.propertyId}&${query}`)
    const range = (from: number, to: number) => `from=${house.day(from)}&to=${house.day(to)}`
    const found = async (query: string) =>
      (await free(query)).body.data.map((one: Record<string, unknown>) => [one.name, one.gapBefore, one.gapAfter])
    const stay = await place(house, { from: 10, nights: 2, unitId: unit(2), locked: true })
    await place(house, { from: 14, nights: 2, unitId: unit(2), locked: true })
    await place(house, { from: 5, nights: 2, unitId: unit(1), locked: true })
    expect(await found(`${range(12, 14)}&unitTypeId=${house.unitTypeId}`)).to.deep.equal([
      ['103', 0, 0],
      ['102', 5, null],
      ['101', null, null],
    ])
    expect((await found(range(12, 14))).map(([name]: [string]) => name)).to.deep.equal(['103', '102', '101', '201'])
    expect(
      (await found(`${range(11, 13)}&unitTypeId=${house.unitTypeId}`)).map(([name]: [string]) => name),
    ).to.deep.equal(['102', '101'])
    expect(await found(`reservationId=${stay}`)).to.deep.equal([
      ['103', null, 2],
      ['102', 3, null],
      ['101', null, null],
    ])
    await house.inHouse((trx) => sql(trx, `update unit set condition = 'inspected' where id = ?`, [unit(0)]))
    const ready = await free(`${range(12, 14)}&condition=inspected`)
    expect(ready.body.data).to.have.length(1)
    expect(ready.body.data[0]).to.include({ unitId: unit(0), ready: true })
    for (const [query, status] of [
      [range(14, 12), 400],
      [`from=${house.day(1)}`, 400],
      [`reservationId=${house.propertyId}`, 422],
      [`${range(1, 2)}&unitTypeId=${house.propertyId}`, 422],
    ] as const)
      expect((await free(query)).status, query).to.equal(status)
    const stranger = await openDesk(world, await makeHouse({ units: 1 }), 'owner')
    expect((await free(range(12, 14), stranger)).status).to.equal(404)
  })
})
