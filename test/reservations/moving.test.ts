import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createUnits } from '../../db/units/units/create.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { payAll, setDay } from '../night-audit/support.ts'
import { countersOf, eventsOf, miscounted, readBooking } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { drift, rowsOf } from '../units/stays.ts'

describe('The desk moves and takes back', () => {
  const world = useWorld()
  let house: House
  let reception: Desk
  let manager: Desk
  const override = { rules: ['early_check_in', 'unit_condition'], reason: 'the guest waits' }

  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeHouse({ units: 3, suite: true, deposit: null, settings: { frontDesk: { noShowFrom: '00:00' } } })
    reception = await openDesk(world, house, 'receptionist')
    manager = await openDesk(world, house, 'manager')
  })
  afterEach(async () => {
    expect(await miscounted(house)).to.deep.equal([])
    expect(await drift(house)).to.deep.equal([])
  })
  const send = (id: string, verb: string, body: object = {}, by = reception) =>
    by.send('POST', `reservations/${id}/${verb}`, body)
  const book = async (from = 0, nights = 2, change: object = {}) => {
    const { status, body } = await reception.send('POST', 'bookings', {
      propertyId: house.propertyId,
      source: 'phone',
      booker: { firstName: 'Bia', email: 'bia@example.com' },
      rooms: [
        {
          unitTypeId: house.unitTypeId,
          ratePlanId: house.ratePlanId,
          arrival: house.day(from),
          departure: house.day(from + nights),
          adults: 2,
          childrenAges: [],
          ...change,
        },
      ],
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.reservations[0].id as string
  }
  const [one, two] = [0, 1]
  const codes = (reply: { body: { errors?: { field: string }[] } }) =>
    (reply.body.errors ?? []).map(({ field }) => field)

  it('gives units: best fit, named, for a part of the stay, locked, and takes them away', async () => {
    const id = await book(5, 4)
    expect((await send(id, 'assign')).status).to.equal(200)
    const [first] = await rowsOf(house, id)
    expect(first?.status).to.equal('proposed')
    const other = house.unitIds.find((unit) => unit !== first?.unitId) ?? ''
    const part = await send(id, 'assign', { unitId: other, from: house.day(7), to: house.day(8), lock: true })
    expect(part.status, JSON.stringify(part.body)).to.equal(200)
    expect(
      (await rowsOf(house, id)).map(({ unitId, status, from, to }) => [unitId, status, from, to]),
    ).to.have.deep.members([
      [first?.unitId, 'proposed', house.day(5), house.day(7)],
      [other, 'locked', house.day(7), house.day(8)],
      [first?.unitId, 'proposed', house.day(8), house.day(9)],
    ])
    expect((await send(id, 'unassign')).status).to.equal(200)
    expect(await rowsOf(house, id)).to.deep.equal([])
    expect((await send(id, 'assign', { unitId: other, from: house.day(2) })).body.code).to.equal('validation_failed')
    const elsewhere = await makeHouse({ tenantId: house.tenantId })
    expect((await send(id, 'assign', { unitId: elsewhere.unitIds[0] })).body.code).to.equal('unit_not_in_property')
  })

  it('gives a part of the stay the best fit where it lacks a unit then, and promises that part alone', async () => {
    const id = await book(15, 4)
    await send(id, 'unassign')
    const [from, to] = [house.day(16), house.day(18)]
    const stay = async () => (await rowsOf(house, id)).map((row) => [row.status, row.from, row.to])
    expect((await send(id, 'assign', { from, to })).status).to.equal(200)
    expect(await stay()).to.deep.equal([['proposed', from, to]])
    expect((await send(id, 'assign', { from: house.day(17), lock: true })).status).to.equal(200)
    const rows = await stay()
    expect(rows).to.have.deep.members([
      ['proposed', from, house.day(17)],
      ['locked', house.day(17), to],
      ['locked', to, house.day(19)],
    ])
    const reversed = await send(id, 'assign', { from: to, to: from })
    expect([reversed.status, codes(reversed)]).to.deep.equal([400, ['to']])
    expect(await stay()).to.deep.equal(rows)
  })

  it('takes a check-in back on its day: the unit is dirty and promised, the folio waits again, and the guest may come once more', async () => {
    const id = await book()
    await payAll(house, id)
    expect((await send(id, 'check-in', { unitId: house.unitIds[one], override })).status).to.equal(200)
    const back = await send(id, 'revert-check-in', { reason: 'the wrong key' })
    expect([back.status, back.body.status, back.body.folioSummary.folios[0].stage]).to.deep.equal([
      200,
      'confirmed',
      'deposit',
    ])
    expect(await rowsOf(house, id)).to.deep.equal([
      { status: 'locked', unitId: house.unitIds[one], from: house.today, to: house.day(2) },
    ])
    expect((await send(id, 'revert-check-in', { reason: 'once more' })).status).to.equal(200)
    expect(await eventsOf(house, 'reservation.check_in_reverted')).to.have.lengthOf(1)
    expect((await send(id, 'check-in', { override })).status).to.equal(200)
    await setDay(house, 1)
    expect(codes(await send(id, 'revert-check-in', { reason: 'too late' }))).to.deep.equal([
      'blockers.business_date_passed',
    ])
  })

  it('moves a guest to a unit of another type, which takes its own nights at the price that was agreed', async () => {
    const id = await book()
    await send(id, 'check-in', { unitId: house.unitIds[one], override })
    const { body: before } = await reception.get(`reservations/${id}`)
    const { body: suites } = await reception.get(`units?propertyId=${house.propertyId}&unitTypeId=${house.suiteTypeId}`)
    const moved = await send(id, 'move', { unitId: suites.data[0].id, reason: 'maintenance', override })
    expect([moved.status, moved.body.total], JSON.stringify(moved.body)).to.deep.equal([200, before.total])
    for (const night of [0, 1]) {
      expect(await countersOf(house, night)).to.include({ sold: 0 })
      expect(await countersOf(house, night, house.suitePoolId ?? '')).to.include({ sold: 1 })
    }
    const { body: left } = await reception.get(`units/${house.unitIds[one]}`)
    expect([left.condition, left.occupancy]).to.deep.equal(['dirty', 'vacant'])
    expect((await eventsOf(house, 'reservation.moved')).map(({ data }) => data['fromUnitId'])).to.deep.equal([
      house.unitIds[one],
    ])
    const tomorrow = await send(id, 'move', { unitId: house.unitIds[two], from: house.day(1), reason: 'guest_request' })
    expect(tomorrow.status, JSON.stringify(tomorrow.body)).to.equal(200)
    expect(
      (await rowsOf(house, id)).filter((row) => row.status !== 'ended').map(({ status, to }) => [status, to]),
    ).to.have.deep.members([
      ['locked', house.day(2)],
      ['occupied', house.day(1)],
    ])
    expect(await countersOf(house, 1)).to.include({ sold: 1 })
    const full = await book()
    await send(full, 'check-in', { unitId: house.unitIds[one], override })
    expect((await send(id, 'move', { unitId: house.unitIds[one], reason: 'other' })).body.code).to.equal(
      'unit_occupied',
    )
  })

  it('lets a guest into no unit that is dirty, as a check-in does, unless the desk says so', async () => {
    const id = await book()
    await send(id, 'check-in', { unitId: house.unitIds[one], override })
    const unitId = house.unitIds[two]
    const move = (more: object = {}) => send(id, 'move', { unitId, reason: 'noise', ...more })
    const refused = await move({ override: { rules: ['early_check_in'], reason: 'the guest waits' } })
    expect([refused.status, codes(refused)]).to.deep.equal([422, ['blockers.unit_condition_not_allowed']])
    expect((await rowsOf(house, id)).map((row) => [row.unitId, row.status])).to.deep.equal([
      [house.unitIds[one], 'occupied'],
    ])
    // A later night only promises the unit: it is cleaned by then.
    expect((await move({ from: house.day(1) })).status).to.equal(200)
    await house.inHouse((trx) => sql(trx, `update unit set condition = 'clean' where id = ?`, [unitId]))
    expect((await move()).status).to.equal(200)
    const back = await send(id, 'move', { unitId: house.unitIds[one], reason: 'noise', override })
    expect(back.status, JSON.stringify(back.body)).to.equal(200)
    const { body } = await reception.get(`reservations/${id}/history`)
    const used = (body.data as { command: string; override: { rules: string[] } | null }[]).filter(
      ({ command }) => command === 'move',
    )
    expect(used.map(({ override: by }) => by?.rules ?? [])).to.have.deep.members([[], [], ['unit_condition']])
  })

  it('counts every pool of the type that a guest moves to', async () => {
    // The suite is sold with the room beside it.
    await house.inHouse((trx) =>
      sql(trx, `insert into unit_type_pool (unit_type_id, unit_pool_id, quantity) values (?, ?, 1)`, [
        house.suiteTypeId,
        house.poolId,
      ]),
    )
    const id = await book()
    await send(id, 'check-in', { unitId: house.unitIds[one], override })
    const { body: suites } = await reception.get(`units?propertyId=${house.propertyId}&unitTypeId=${house.suiteTypeId}`)
    const moved = await send(id, 'move', { unitId: suites.data[0].id, reason: 'upgrade', override })
    expect(moved.status, JSON.stringify(moved.body)).to.equal(200)
    expect(await countersOf(house, 1)).to.include({ sold: 1 })
    expect(await countersOf(house, 1, house.suitePoolId ?? '')).to.include({ sold: 1 })
  })

  it('takes a check-out back on its day with nights, extras and fee, unless the unit is given away', async () => {
    const id = await book(0, 3)
    await send(id, 'check-in', { unitId: house.unitIds[one], override })
    const early = { early: true, override: { rules: ['balance'], reason: 'pays later' } }
    expect((await send(id, 'check-out', early, manager)).status).to.equal(200)
    expect(await countersOf(house, 1)).to.include({ sold: 0 })
    const { body: gone } = await reception.get(`reservations/${id}`)
    expect(gone.folioSummary.balance).to.equal(20_000)
    const back = await send(id, 'revert-check-out', { reason: 'came back' })
    expect(
      [back.status, back.body.status, back.body.total, back.body.folioSummary.balance],
      JSON.stringify(back.body),
    ).to.deep.equal([200, 'checked_in', 60_000, 0])
    expect(await countersOf(house, 1)).to.include({ sold: 1 })
    expect((await send(id, 'revert-check-out', { reason: 'once more' })).status).to.equal(200)
    expect((await send(id, 'check-out', early, manager)).status).to.equal(200)
    const next = await book()
    await send(next, 'check-in', { unitId: house.unitIds[one], override })
    const late = await send(id, 'revert-check-out', { reason: 'too late' })
    expect([late.status, late.body.code]).to.deep.equal([409, 'unit_conflict'])
  })

  it('takes no check-out back into a unit that is not in the house any more, and says so before', async () => {
    const id = await book(0, 3)
    await send(id, 'check-in', { unitId: house.unitIds[one], override })
    await send(id, 'check-out', { early: true, override: { rules: ['balance'], reason: 'pays later' } }, manager)
    const shown = async () => {
      const { body } = await reception.get(`reservations/${id}/transitions`)
      const [command] = body.commands as { allowed: boolean; blockers: { code: string }[] }[]
      return [command?.allowed, command?.blockers.map(({ code }) => code)]
    }
    expect(await shown()).to.deep.equal([true, []])
    const archived = await manager.send('POST', `units/${house.unitIds[one]}/archive`, {})
    expect(archived.status, JSON.stringify(archived.body)).to.equal(200)
    expect(await shown()).to.deep.equal([false, ['unit_conflict']])
    const before = (await reception.get(`reservations/${id}`)).body
    const back = await send(id, 'revert-check-out', { reason: 'came back' })
    expect([back.status, back.body.code]).to.deep.equal([409, 'unit_conflict'])
    expect((await reception.get(`reservations/${id}`)).body).to.deep.equal(before)
  })

  it('takes a check-out back into the unit that it left alone, not into one that the guest had moved out of', async () => {
    const id = await book(0, 3)
    await send(id, 'check-in', { unitId: house.unitIds[one], override })
    await send(id, 'move', { unitId: house.unitIds[two], reason: 'noise', override })
    await send(id, 'check-out', { early: true, override: { rules: ['balance'], reason: 'pays later' } }, manager)
    // The move had begun after the check-out, which waited for it.
    await world.database.admin.transaction(async (trx) => {
      await sql(trx, `set local session_replication_role = replica`)
      await sql(trx, `update unit_assignment set updated_at = now() where reservation_id = ? and unit_id = ?`, [
        id,
        house.unitIds[one],
      ])
    })
    const back = await send(id, 'revert-check-out', { reason: 'came back' })
    expect(back.status, JSON.stringify(back.body)).to.equal(200)
    const inside = (await rowsOf(house, id)).filter((row) => row.status === 'occupied')
    expect(inside.map(({ unitId }) => unitId)).to.deep.equal([house.unitIds[two]])
  })

  it('offers a guest who was moved to another type its units, and exchanges them with its guests', async () => {
    const { propertyId, suiteTypeId: unitTypeId } = house
    await house.inHouse((trx) => createUnits(trx, { propertyId, unitTypeId: unitTypeId ?? '', names: ['202'] }))
    const [guest, neighbour, other] = [await book(), await book(), await book(0, 2, { unitTypeId })]
    for (const id of [guest, neighbour, other])
      expect((await send(id, 'check-in', { override })).status, 'check-in').to.equal(200)
    const [suite] = await rowsOf(house, other)
    const offered = async (search: string) =>
      (await reception.get(`units/available?propertyId=${propertyId}&${search}`)).body.data as { unitId: string }[]
    const [free] = await offered(`unitTypeId=${unitTypeId}&from=${house.day(0)}&to=${house.day(2)}`)
    const moved = await send(guest, 'move', { unitId: free?.unitId, reason: 'upgrade', override }, manager)
    expect(moved.status, JSON.stringify(moved.body)).to.equal(200)
    expect((await offered(`reservationId=${guest}`)).map((one) => one.unitId)).to.deep.equal([free?.unitId])
    const swap = (reservationIds: string[]) => manager.send('POST', 'unit-assignments/swap', { reservationIds })
    expect((await swap([guest, neighbour])).body.code).to.equal('unit_type_mismatch')
    expect((await swap([guest, other])).status).to.equal(200)
    const inside = async (id: string) =>
      (await rowsOf(house, id)).filter(({ status }) => status === 'occupied').map(({ unitId }) => unitId)
    expect([await inside(guest), await inside(other)]).to.deep.equal([[suite?.unitId], [free?.unitId]])
  })

  it('brings a no-show and a cancelled stay back by those who may, with the fee taken back or its nights paid for', async () => {
    const id = await book(0, 3)
    expect((await send(id, 'no-show')).status).to.equal(200)
    expect((await reception.get(`reservations/${id}`)).body.folioSummary.balance).to.equal(60_000)
    expect((await send(id, 'reinstate', { reason: 'a late bus' })).status).to.equal(403)
    const back = await send(id, 'reinstate', { reason: 'a late bus' }, manager)
    expect(
      [back.status, back.body.status, back.body.total, back.body.folioSummary.balance],
      JSON.stringify(back.body),
    ).to.deep.equal([200, 'confirmed', 60_000, 0])
    await send(id, 'no-show')
    const kept = await send(id, 'reinstate', { reason: 'a late bus', fee: 'keep' }, manager)
    expect(kept.body.nights.map((night: { status: string }) => night.status)).to.deep.equal([
      'waived',
      'waived',
      'waived',
    ])
    expect([kept.body.total, kept.body.folioSummary.balance]).to.deep.equal([0, 60_000])

    const other = await book(20, 2)
    await send(other, 'cancel', { reason: 'changed_plans', acceptedFee: 0 })
    const again = await send(other, 'reinstate', { reason: 'plans changed back', policy: 'new' }, manager)
    expect([again.status, again.body.status, again.body.total]).to.deep.equal([200, 'confirmed', 40_000])
    expect((await readBooking(house, again.body.bookingId)).folios[0]).to.include({ status: 'open', stage: 'deposit' })
    expect(await eventsOf(house, 'reservation.reinstated')).to.have.lengthOf(3)
  })

  it('takes no nights for a stay that comes back where they are sold by now', async () => {
    const id = await book(30, 2)
    await send(id, 'cancel', { reason: 'changed_plans', acceptedFee: 0 })
    for (let sold = 0; sold < 3; sold += 1) await book(31, 1)
    const back = await send(id, 'reinstate', { reason: 'plans changed back' }, manager)
    expect([back.status, back.body.code]).to.deep.equal([409, 'sold_out'])
    expect((await reception.get(`reservations/${id}`)).body.status).to.equal('cancelled')
  })
})
