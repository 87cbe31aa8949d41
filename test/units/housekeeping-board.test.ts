import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { readHousekeepingBoard } from '../../db/units/housekeeping-board.ts'
import { always } from '../../db/lib/conditions.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { beginDay, book, hire, moveIn, moveOut, outcome, tasksOf, tidy } from './housekeepers.ts'
import type { Stay, Worker } from './housekeepers.ts'

describe('The rooms of a house', () => {
  const world = useWorld()
  let house: House
  let manager: Worker
  let ana: Worker
  let first = ''

  before(async () => {
    house = await makeHouse({ units: 8, deposit: null })
    ;[manager, ana] = await Promise.all([hire(world, house, 'manager'), hire(world, house, 'housekeeper')])
  })
  beforeEach(async () => {
    await tidy(world, house)
    ;[first = ''] = house.unitIds
  })

  const inHouse = async (nights: number): Promise<Stay> => {
    const stay = await book(house, { from: 0, nights })
    await moveIn(house, stay)
    return stay
  }
  describe('set by hand', () => {
    const set = (items: object[], by = ana) =>
      by.send('POST', 'housekeeping/conditions', { propertyId: house.propertyId, items })

    it('changes all units or none, and the trail keeps the old ones', async () => {
      const items = house.unitIds.map((unitId) => ({ unitId, condition: 'clean' }))
      const { status, body } = await set(
        items.map((item, index) => (index === 0 ? { ...item, note: 'no lamp' } : item)),
      )
      expect(status).to.equal(200)
      expect(
        body.data.map((unit: { condition: string; ready: boolean }) => [unit.condition, unit.ready]),
      ).to.deep.equal(items.map(() => ['clean', true]))
      expect((await manager.get(`units/${first}`)).body.notes).to.equal('no lamp')
      const [entry] = await sql<{ changes: { field: string; before: string; after: string }[] }>(
        world.database.admin,
        `select changes from audit_entry where action = 'unit_condition.update' and tenant_id = ? order by at desc limit 1`,
        [house.tenantId],
      )
      expect(entry?.changes).to.have.deep.members(
        items.map(({ unitId }) => ({ field: unitId, before: 'dirty', after: 'clean' })),
      )

      const elsewhere = await makeHouse({ tenantId: house.tenantId })
      const wrong = items.map((item) => ({ ...item, condition: 'dirty' }))
      wrong[7] = { unitId: elsewhere.unitIds[0] ?? '', condition: 'dirty' }
      const refused = await set(wrong)
      expect([refused.status, refused.body.code, refused.body.errors[0].field]).to.deep.equal([
        422,
        'unit_not_in_property',
        'items.7.unitId',
      ])
      const cleaning = await set(
        items.map((item, index) =>
          index === 3 ? { ...item, condition: 'cleaning' } : { ...item, condition: 'dirty' },
        ),
      )
      expect([cleaning.status, cleaning.body.code, cleaning.body.errors]).to.deep.equal([
        422,
        'condition_not_allowed',
        [{ field: 'items.3.condition', message: 'is not set by hand: start a task' }],
      ])
      expect((await set([items[0], items[0]] as object[])).status).to.equal(400)
      const { body: after } = await manager.get(`units?propertyId=${house.propertyId}&condition=clean`)
      expect(after.meta.total).to.equal(8)
    })

    it('never calls an occupied unit inspected', async () => {
      const stay = await inHouse(1)
      expect(outcome(await set([{ unitId: stay.unitId, condition: 'inspected' }]))).to.deep.equal([
        422,
        'unit_occupied',
      ])
      expect(outcome(await set([{ unitId: stay.unitId, condition: 'clean' }]))).to.deep.equal([200, undefined])
    })

    it('takes 500 units at once, and one more is refused', async () => {
      const large = await makeHouse({ tenantId: house.tenantId, units: 500 })
      const items = large.unitIds.map((unitId) => ({ unitId, condition: 'inspected' }))
      const send = (list: object[]) =>
        manager.send('POST', 'housekeeping/conditions', { propertyId: large.propertyId, items: list })
      const { status, body } = await send(items)
      expect([status, body.data.length]).to.deep.equal([200, 500])
      expect((await send([...items, { unitId: first, condition: 'dirty' }])).status).to.equal(400)
    })

    it('is not for houses that one does not know', async () => {
      const abroad = await hire(world, await makeHouse(), 'owner')
      const item = { unitId: first, condition: 'dirty' }
      expect(outcome(await set([item], abroad))).to.deep.equal([404, 'not_found'])
      const next = await makeHouse({ tenantId: house.tenantId })
      expect(outcome(await set([item], await hire(world, house, 'manager', [next.propertyId])))).to.deep.equal([
        403,
        'forbidden',
      ])
      expect(outcome(await set([item], await hire(world, house, 'maintenance')))).to.deep.equal([403, 'forbidden'])
    })
  })

  describe('on the board', () => {
    const board = async (by: Worker, day: number, more = '') =>
      (await by.get(`housekeeping/board?propertyId=${house.propertyId}&date=${house.day(day)}${more}`)).body

    it('is who leaves, who comes and what is to be done in every unit, by name for the desk alone', async () => {
      const stay = await inHouse(2)
      const next = await book(house, { from: 2, nights: 1 })
      const later = await book(house, { from: 5, nights: 1 })
      await house.inHouse((trx) =>
        sql(trx, `update unit_assignment set unit_id = ? where reservation_id = any(?)`, [
          stay.unitId,
          [next.reservationId, later.reservationId],
        ]),
      )
      await beginDay(house, 1)
      await beginDay(house, 2)
      const line = async (by: Worker) =>
        (await board(by, 2)).data.find((one: { unit: { id: string } }) => one.unit.id === stay.unitId)
      const [task] = (await tasksOf(house, stay.unitId)).slice(-1)
      const arrival = { reservationId: next.reservationId, expectedAt: `${house.day(2)}T17:00:00.000Z` }
      expect(await line(manager)).to.deep.include({
        occupancy: 'occupied',
        condition: 'dirty',
        service: 'in_service',
        ready: false,
        discrepancy: null,
        flags: { doNotDisturb: false, makeUpRequested: false, serviceRefused: false },
        departure: { reservationId: stay.reservationId, dueAt: `${house.day(2)}T15:00:00.000Z`, done: false },
        arrival: { ...arrival, guestName: 'Ana Souza' },
        nextArrival: house.day(5),
        task: { id: task?.id, kind: 'departure', status: 'open', assigneeId: null, priority: 2 },
      })
      expect((await line(ana)).arrival).to.deep.equal(arrival)
      await moveOut(house, stay, 2)
      expect((await line(manager)).departure.done).to.equal(true)
      expect((await board(manager, 2, '&occupancy=occupied')).meta.total).to.equal(0)
      expect((await board(manager, 2, '&condition=dirty&limit=3')).data).to.have.length(3)
    })

    it('takes as many statements for a hundred units as for three', async () => {
      const counted = async (of: House) => {
        let statements = 0
        await of.inHouse(async (trx) => {
          // The statements that open the transaction go with its first statement.
          await sql(trx, 'select 1')
          trx.on('query', () => (statements += 1))
          const { rows } = await readHousekeepingBoard(trx, {
            propertyId: of.propertyId,
            date: of.day(0),
            page: 1,
            limit: 100,
            withNames: true,
            scope: always,
          })
          expect(rows).to.have.length(of.unitIds.length)
        })
        return statements
      }
      const [small, large] = [await makeHouse({ units: 3 }), await makeHouse({ units: 100 })]
      const few = await counted(small)
      expect(few).to.be.within(1, 4)
      expect(await counted(large)).to.equal(few)
    })
  })
})
