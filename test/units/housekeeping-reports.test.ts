import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { eraseRefusals } from '../../jobs/units.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { eventsOf } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { beginDay, book, hire, moveIn, moveOut, outcome, putDate, summary, tasksOf, tidy } from './housekeepers.ts'
import type { Stay, Worker } from './housekeepers.ts'

describe('What housekeeping reports', () => {
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

  const observe = (unitId: string, body: object, by = ana) => by.send('POST', `units/${unitId}/observe`, body)
  const inHouse = async (nights: number): Promise<Stay> => {
    const stay = await book(house, { from: 0, nights })
    await moveIn(house, stay)
    return stay
  }
  /** As if it had been some time ago that anybody came or left. */
  const letPass = (minutes: number) =>
    world.database.admin.raw(
      `alter table unit_assignment disable trigger touch; update unit_assignment set updated_at = now() - make_interval(mins => ${minutes});
       alter table unit_assignment enable trigger touch`,
    )
  const discrepancies = async (unitId: string) =>
    (await eventsOf(house, 'unit.discrepancy_detected')).filter(({ data }) => data.unitId === unitId)

  describe('of a unit', () => {
    it('is what the unit shows from then on', async () => {
      const { status, body } = await observe(first, { occupancy: 'occupied', doNotDisturb: true, note: 'a dog barks' })
      expect(status).to.equal(200)
      expect(body).to.include({
        observedOccupancy: 'occupied',
        observedBy: ana.userId,
        doNotDisturb: true,
        notes: 'a dog barks',
        discrepancy: 'sleep',
      })
      expect((await observe(first, {})).status).to.equal(400)
      await manager.send('POST', `units/${first}/archive`)
      expect(outcome(await observe(first, { occupancy: 'vacant' }))).to.deep.equal([409, 'invalid_transition'])
      await manager.send('POST', `units/${first}/restore`)
    })

    it('raises a discrepancy once per business date, and not while somebody has just come or gone', async () => {
      const stay = await inHouse(2)
      const before = (await discrepancies(stay.unitId)).length
      const raised = async () => (await discrepancies(stay.unitId)).slice(before).map(({ data }) => data.discrepancy)
      const report = (occupancy: string) => observe(stay.unitId, { occupancy })
      expect((await report('vacant')).body.discrepancy).to.equal('skip')
      await letPass(29)
      await report('vacant')
      expect(await raised()).to.deep.equal([])
      await letPass(31)
      await report('occupied')
      expect(await raised()).to.deep.equal([])
      await Promise.all([report('vacant'), report('vacant'), report('vacant')])
      expect(await raised()).to.deep.equal(['skip'])
      await putDate(house, 1)
      await report('vacant')
      await report('vacant')
      expect(await raised()).to.deep.equal(['skip', 'skip'])
      await moveOut(house, stay, 1)
      // A report from before the departure no longer counts.
      expect((await manager.get(`units/${stay.unitId}`)).body.discrepancy).to.equal(null)
    })

    it('that service is refused skips the stayover of the day, also where it was begun, and no more is begun', async () => {
      const [open, begun] = [await inHouse(3), await inHouse(3)]
      await beginDay(house, 1)
      const tasks = await tasksOf(house)
      const of = (stay: Stay) => tasks.find((task) => task.unitId === stay.unitId)?.id ?? ''
      await ana.send('POST', `housekeeping/tasks/${of(begun)}/start`)
      const serviceRefused = { until: house.day(2), evidence: 'Mr Souza said so at the door' }
      for (const stay of [open, begun]) {
        const { status, body } = await observe(stay.unitId, { serviceRefused })
        expect([status, body.serviceRefused, body.condition]).to.deep.equal([200, serviceRefused, 'dirty'])
        expect(await summary(house, stay.unitId)).to.deep.equal([`${house.day(1)} stayover skipped refused`])
      }
      const { body: late } = await manager.send('POST', 'housekeeping/tasks', {
        unitId: open.unitId,
        date: house.day(1),
        kind: 'stayover',
      })
      expect(outcome(await ana.send('POST', `housekeeping/tasks/${late.id}/start`))).to.deep.equal([
        422,
        'do_not_disturb',
      ])
      await observe(open.unitId, { serviceRefused: null })
      expect((await ana.send('POST', `housekeeping/tasks/${late.id}/start`)).status).to.equal(200)
    })

    it('that service is refused needs evidence and a day to come; what was done before stays done', async () => {
      const stay = await inHouse(2)
      await beginDay(house, 1)
      const [task] = await tasksOf(house, stay.unitId)
      // On the day of departure there is no stayover.
      expect(task?.kind ?? 'stayover').to.equal('stayover')
      await ana.send('POST', `housekeeping/tasks/${task?.id}/complete`)
      const refuse = (until: string, evidence?: string) => observe(stay.unitId, { serviceRefused: { until, evidence } })
      expect((await refuse(house.day(1))).status).to.equal(400)
      expect((await refuse(house.day(1), 'no')).status).to.equal(400)
      expect(outcome(await refuse(house.day(0), 'a note'))).to.deep.equal([422, 'date_out_of_range'])
      expect(outcome(await refuse(house.day(90), 'a note'))).to.deep.equal([422, 'date_out_of_range'])
      expect((await refuse(house.day(1), 'a note')).body.condition).to.equal('clean')
      expect(await summary(house, stay.unitId)).to.deep.equal([`${house.day(1)} stayover done`])
    })

    it('of a wish to have the room made up makes the stayover of the day, once, and is fulfilled by it', async () => {
      const stay = await inHouse(2)
      expect(
        (await observe(first === stay.unitId ? (house.unitIds[1] ?? '') : first, { makeUpRequested: true })).status,
      ).to.equal(200)
      for (const _ of [1, 2]) await observe(stay.unitId, { makeUpRequested: true })
      const tasks = await tasksOf(house)
      expect(tasks.map(({ unitId, kind, reservationId }) => [unitId, kind, reservationId])).to.deep.equal([
        [stay.unitId, 'stayover', stay.reservationId],
      ])
      await ana.send('POST', `housekeeping/tasks/${tasks[0]?.id}/complete`)
      expect((await manager.get(`units/${stay.unitId}`)).body.makeUpRequested).to.equal(false)
    })

    it('of how a refusal is known is sealed, and erased 90 days after its last day', async () => {
      const evidence = 'Mr Souza said so at the door'
      const [kept = '', erased = ''] = house.unitIds
      for (const unitId of [kept, erased]) await observe(unitId, { serviceRefused: { until: house.day(1), evidence } })
      const stored = () =>
        sql<{ id: string; text: string | null }>(
          world.database.admin,
          `select id, service_refused::text as text from unit where id = any(?)`,
          [[kept, erased]],
        )
      for (const { text } of await stored()) expect(text).to.be.a('string').that.does.not.include('Souza')
      const end = (unitId: string, days: number) =>
        world.database.admin.raw(
          `update unit set service_refused = jsonb_set(service_refused, '{until}', to_jsonb(to_char(current_date - ?::int, 'YYYY-MM-DD'))) where id = ?`,
          [days, unitId],
        )
      await end(kept, 90)
      await end(erased, 91)
      await inPlatform((trx) => enqueue(trx, eraseRefusals, {}))
      await world.drain()
      expect(new Map((await stored()).map(({ id, text }) => [id, text !== null]))).to.deep.equal(
        new Map([
          [kept, true],
          [erased, false],
        ]),
      )
      const { body } = await manager.get(`units/${kept}`)
      expect(body.serviceRefused.evidence).to.equal(evidence)
      const auditor = await hire(world, house, 'auditor')
      expect((await auditor.get(`units/${kept}`)).body.serviceRefused.evidence).to.equal(null)
    })
  })
})
