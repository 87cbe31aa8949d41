import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { cancelBlock, endBlock } from '../../db/units/blocks/end.ts'
import { changeBlock } from '../../db/units/blocks/change.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { changeUnit } from '../../db/units/units/change.ts'
import { archiveUnit } from '../../db/units/units/status.ts'
import { moveStay } from '../../db/reservations/index.ts'
import { recountNights } from '../../db/units/recount.ts'
import type { Reply } from '../support/client.ts'
import { waitsForLock } from '../support/deadlocks.ts'
import { makeHouse } from '../support/factories.ts'
import { countersOf, eventsOf, holdQuote, makeHold, quotedClaims } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useUnits } from './owner.ts'
import { arrive } from './stays.ts'

describe('Units that change what can be sold', () => {
  const units = useUnits()
  const { answer, archive, capacity, endRow, make, miscounts, patch, setRow, stay } = units
  const somebodyWaits = () => waitsForLock(units.world.database.admin)

  it('do not leave nights that are sold: each is named', async () => {
    const free = await makeHouse({
      tenantId: units.house.tenantId,
      units: 2,
      deposit: null,
      settings: { portal: { holdShare: 10_000 } },
    })
    const [first = ''] = free.unitIds
    await makeHold(free, { from: 10, nights: 2, rooms: 2 })
    for (const body of [{ activeUntil: free.day(11) }, { activeFrom: free.day(11) }]) {
      const refused = await patch(first, body)
      expect(answer(refused)).to.deep.equal([409, 'capacity_in_use'])
      expect(refused.body.errors.map((error: { field: string }) => error.field)).to.deep.equal([
        `nights.${free.day('activeUntil' in body ? 11 : 10)}`,
      ])
    }
    expect((await archive(first)).body.errors).to.have.length(2)
    expect((await patch(first, { activeUntil: free.day(12) })).status).to.equal(200)
    expect((await countersOf(free, 11)).capacity).to.equal(2)
    expect((await countersOf(free, 12)).capacity).to.equal(1)
    expect((await patch(first, { activeUntil: null, activeFrom: free.day(4) })).status).to.equal(200)
    expect((await countersOf(free, 12)).capacity).to.equal(2)
    expect((await countersOf(free, 3)).capacity).to.equal(1)
    for (const body of [{ activeUntil: free.day(4) }, { activeUntil: free.day(-1), activeFrom: free.day(-9) }])
      expect(answer(await patch(first, body))).to.deep.equal([422, 'date_out_of_range'])
    expect(await free.inHouse((trx) => recountNights(trx, free.propertyId, free.today, free.day(30)))).to.deep.equal([])
  })

  it('go elsewhere with what was proposed for them, and stay where they are promised or blocked', async () => {
    const [from, to] = [await make(), await make({ activeFrom: units.house.day(60) })]
    const reservationId = await stay(61, 2)
    await setRow(from.id, reservationId, 'locked', 61, 63)
    for (const reply of [await archive(from.id), await patch(from.id, { activeUntil: units.house.day(62) })]) {
      expect(answer(reply)).to.deep.equal([409, 'unit_conflict'])
      expect(JSON.stringify(reply.body.errors)).to.contain(reservationId)
    }
    await units.house.inHouse((trx) =>
      sql(trx, `update unit_assignment set status = 'proposed' where unit_id = ?`, [from.id]),
    )
    const gone = await archive(from.id)
    expect([gone.status, gone.body.status]).to.deep.equal([200, 'archived'])
    const [row] = await units.house.inHouse((trx) =>
      sql<{ unitId: string; status: string }>(
        trx,
        `select unit_id, status from unit_assignment where reservation_id = ? and status <> 'released'`,
        [reservationId],
      ),
    )
    expect(row?.status).to.equal('proposed')
    expect(row?.unitId).to.not.equal(from.id)
    await endRow(to.id)
    expect(await miscounts()).to.deep.equal([])
  })

  it('come back with their capacity, unless another has their name', async () => {
    const unit = await make({ activeUntil: units.house.day(20) })
    const before = await capacity(30)
    await archive(unit.id)
    expect((await archive(unit.id)).body.version).to.equal(2)
    expect((await units.owner.get('units?status=archived')).body.data.map((one: { id: string }) => one.id)).to.include(
      unit.id,
    )
    const heir = await make({ name: unit.name })
    expect(answer(await units.owner.send('POST', `units/${unit.id}/restore`))).to.deep.equal([409, 'duplicate_name'])
    await archive(heir.id)
    const back = await units.owner.send('POST', `units/${unit.id}/restore`)
    expect([back.status, back.body.status, back.body.activeUntil]).to.deep.equal([200, 'active', null])
    expect(await capacity(30)).to.equal(before + 1)
    expect((await units.owner.send('POST', `units/${unit.id}/restore`)).body.version).to.equal(3)
    const types = (await eventsOf(units.house, 'unit.restored')).map((event) => event.data.unitId)
    expect(types).to.deep.equal([unit.id])
    expect(await miscounts()).to.deep.equal([])
  })

  it('take their capacity, and their blocks, to the pool of another type', async () => {
    const unit = await make()
    const suite = { unitTypeId: units.house.suiteTypeId }
    const block = await units.house.inHouse((trx) =>
      createBlock(trx, {
        propertyId: units.house.propertyId,
        unitIds: [unit.id],
        kind: 'out_of_order',
        reason: 'renovation',
        from: units.house.day(3),
        to: units.house.day(5),
      }),
    )
    expect(block.id).to.be.a('string')
    const pools = [units.house.poolId, units.house.suitePoolId ?? '']
    const all = (day: number) => Promise.all(pools.map((poolId) => countersOf(units.house, day, poolId)))
    const before = await all(4)
    const moved = await patch(unit.id, suite)
    expect([moved.status, moved.body.unitPoolId]).to.deep.equal([200, units.house.suitePoolId])
    const after = await all(4)
    expect(after.map((row, index) => row.capacity - before[index]!.capacity)).to.deep.equal([-1, 1])
    expect(after.map((row) => row.blocked)).to.deep.equal([0, 1])
    expect(answer(await patch(unit.id, { unitPoolId: units.house.poolId }))).to.deep.equal([422, 'unit_type_mismatch'])
    const reservationId = await stay(70, 1, { unitTypeId: units.house.suiteTypeId })
    await setRow(unit.id, reservationId, 'locked', 70, 71)
    expect(answer(await patch(unit.id, { unitTypeId: units.house.unitTypeId }))).to.deep.equal([409, 'unit_conflict'])
    expect(await miscounts()).to.deep.equal([])
  })

  it('give a block back its nights where they are now, though it is changed or ended while they move', async () => {
    const { house } = units
    const suite = { unitTypeId: house.suiteTypeId ?? '' }
    const turns: { from: number; work: (trx: Trx, id: string) => Promise<unknown> }[] = [
      { from: 0, work: (trx, id) => endBlock(trx, id, 'dirty', null) },
      { from: 1, work: (trx, id) => cancelBlock(trx, id, null, null) },
      { from: 1, work: (trx, id) => changeBlock(trx, id, { to: house.day(2) }, null) },
    ]
    for (const { from, work } of turns) {
      const unit = await make()
      const { id } = await house.inHouse((trx) =>
        createBlock(trx, {
          propertyId: house.propertyId,
          unitIds: [unit.id],
          kind: 'out_of_order',
          reason: 'renovation',
          from: house.day(from),
          to: house.day(4),
        }),
      )
      let release: () => void = () => {}
      const released = new Promise<void>((resolve) => (release = resolve))
      let isMoved = false
      const moving = house.inHouse(async (trx) => {
        await changeUnit(trx, unit.id, suite, null)
        isMoved = true
        await released
      })
      await until(() => isMoved)
      const working = house.inHouse((trx) => work(trx, id))
      await until(somebodyWaits)
      release()
      await Promise.all([moving, working])
      expect(await miscounts()).to.deep.equal([])
    }
  })

  it('take no guest who was to move into them when their days, their pool or they themselves were gone', async () => {
    const { house } = units
    const changes: ((trx: Trx, id: string) => Promise<unknown>)[] = [
      (trx, id) => changeUnit(trx, id, { activeFrom: house.day(2) }, null),
      (trx, id) => changeUnit(trx, id, { activeUntil: house.day(1) }, null),
      (trx, id) => archiveUnit(trx, id, null),
    ]
    for (const change of changes) {
      const [here, there] = [await make(), await make()]
      const reservationId = await stay(0, 3)
      await endRow(here.id)
      await setRow(here.id, reservationId, 'locked', 0, 3)
      await arrive(house, reservationId)
      let release: () => void = () => {}
      const released = new Promise<void>((resolve) => (release = resolve))
      let isChanged = false
      const changing = house.inHouse(async (trx) => {
        await change(trx, there.id)
        isChanged = true
        await released
      })
      await until(() => isChanged)
      const moving = house
        .inHouse((trx) => moveStay(trx, reservationId, { unitId: there.id, reason: 'noise' }))
        .then(
          () => 'moved',
          (error: { code?: string }) => error.code,
        )
      await until(somebodyWaits)
      release()
      await changing
      expect(await moving).to.equal('unit_conflict')
      expect(
        await house.inHouse((trx) =>
          sql(trx, `select unit_id from unit_assignment where reservation_id = ? and status = 'occupied'`, [
            reservationId,
          ]),
        ),
      ).to.deep.equal([{ unitId: here.id }])
    }
  })

  it('are gone or sold, never both, however archiving, dates, pools and holds come together', async () => {
    const rush = await makeHouse({
      tenantId: units.house.tenantId,
      units: 2,
      suite: true,
      deposit: null,
      settings: { portal: { holdShare: 10_000 } },
    })
    const [unit = ''] = rush.unitIds
    const turns: ((from: number) => Promise<Reply>)[] = [
      (from) => patch(unit, { activeUntil: rush.day(from + 1) }),
      () => archive(unit),
      () => patch(unit, { unitTypeId: rush.suiteTypeId }),
      () => patch(unit, { activeFrom: rush.day(400) }),
    ]
    const outcomes = new Set<string>()
    for (const [round, turn] of [...turns, ...turns].entries()) {
      const from = 20 + round * 4
      const claims = await Promise.all([0, 1, 2].map(() => quotedClaims(rush, { from, nights: 2 })))
      const [changed, ...held] = await Promise.allSettled([turn(from), ...claims.map((one) => holdQuote(rush, one))])
      const isChanged = changed?.status === 'fulfilled' && changed.value.status === 200
      const sold = held.filter((one) => one.status === 'fulfilled').length
      expect(sold, `round ${round}`).to.equal(isChanged ? 1 : 2)
      outcomes.add(`${isChanged}`)
      const back = { activeFrom: rush.today, activeUntil: null, unitTypeId: rush.unitTypeId }
      if (isChanged) {
        await units.owner.send('POST', `units/${unit}/restore`)
        expect((await patch(unit, back)).status).to.equal(200)
      }
    }
    expect(
      await rush.inHouse((trx) => recountNights(trx, rush.propertyId, rush.today, rush.day(60))),
      [...outcomes].join(),
    ).to.deep.equal([])
  })
})
