import { expect } from 'chai'
import { sql } from '../../db/connection.ts'
import { confirmBooking } from '../../db/reservations/confirm.ts'
import { createBlock } from '../../db/units/blocks.ts'
import { recountNights } from '../../db/units/recount.ts'
import { sealRefusal } from '../../db/units/refusals.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { countersOf, eventsOf, holdQuote, makeHold, quotedClaims, readBooking } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

describe('Units', () => {
  const world = useWorld()
  let house: House
  let owner: Desk

  before(async () => {
    house = await makeHouse({ units: 3, suite: true, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(() => forgetLimits(world))

  let names = 0
  const make = async (more: object = {}) => {
    const body = { propertyId: house.propertyId, unitTypeId: house.unitTypeId, name: `N${(names += 1)}`, ...more }
    const made = await owner.send('POST', 'units', body)
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    return made.body as { id: string; name: string; version: number; [field: string]: unknown }
  }
  const patch = (id: string, body: object, version?: number): Promise<Reply> =>
    owner.send('PATCH', `units/${id}`, body, version === undefined ? {} : { headers: { 'if-match': `"${version}"` } })
  const archive = (id: string) => owner.send('POST', `units/${id}/archive`)
  const answer = ({ status, body }: Reply) => [status, (body as { code?: string }).code]
  const capacity = async (day: number, poolId = house.poolId) => (await countersOf(house, day, poolId)).capacity
  const miscounts = () => house.inHouse((trx) => recountNights(trx, house.propertyId, house.today, house.day(731)))
  const setRow = (unitId: string, reservationId: string, status: string, from: number, to: number) =>
    house.inHouse((trx) =>
      sql(
        trx,
        `insert into unit_assignment (unit_id, reservation_id, during, status) values (?, ?, daterange(?::date, ?::date), ?)`,
        [unitId, reservationId, house.day(from), house.day(to), status],
      ),
    )
  const endRow = (unitId: string) =>
    house.inHouse((trx) => sql(trx, `update unit_assignment set status = 'released' where unit_id = ?`, [unitId]))
  /** A confirmed stay without a unit. */
  const stay = async (from: number, nights: number, more: object = {}) => {
    const bookingId = await makeHold(house, { from, nights, ...more })
    await house.inHouse((trx) => confirmBooking(trx, bookingId))
    return (await readBooking(house, bookingId)).rooms[0]?.id ?? ''
  }

  it('count from the business date on, and are dirty and vacant', async () => {
    const before = await capacity(0)
    const unit = await make({ floor: 2, building: 'Annex', attributes: ['sea_view'], credits: 3 })
    expect(unit).to.deep.include({
      activeFrom: house.today,
      activeUntil: null,
      condition: 'dirty',
      occupancy: 'vacant',
      service: 'in_service',
      ready: false,
      discrepancy: null,
      status: 'active',
      unitPoolId: house.poolId,
      version: 1,
    })
    expect(await capacity(0)).to.equal(before + 1)
    expect((await owner.get(`units/${unit.id}`)).body).to.deep.equal(unit)
    const later = await make({ activeFrom: house.day(5), activeUntil: house.day(7), condition: 'clean' })
    expect(later.ready).to.equal(true)
    expect(await Promise.all([4, 5, 6, 7].map((day) => capacity(day)))).to.deep.equal(
      [1, 2, 2, 1].map((more) => before + more),
    )
    await archive(unit.id)
    await archive(later.id)
  })

  it('come up to 200 at once by names or a pattern, all or none', async () => {
    const bulk = (more: object) =>
      owner.send('POST', 'units/bulk', { propertyId: house.propertyId, unitTypeId: house.unitTypeId, ...more })
    const before = await capacity(1)
    const pattern = { prefix: 'B', first: 8, last: 11, digits: 3 }
    const made = await bulk({ pattern, floor: 4 })
    expect(made.body.data.map((unit: { name: string }) => unit.name)).to.deep.equal(['B008', 'B009', 'B010', 'B011'])
    expect(await capacity(1)).to.equal(before + 4)
    const again = await bulk({ names: ['B007', 'B008', 'B012', 'B012'] })
    expect(answer(again)).to.deep.equal([409, 'duplicate_name'])
    expect(again.body.errors.map((error: { field: string }) => error.field)).to.deep.equal(['names.1', 'names.3'])
    expect(await capacity(1)).to.equal(before + 4)
    for (const wrong of [
      {},
      { names: ['X'], pattern },
      { pattern: { ...pattern, last: 7 } },
      { pattern: { ...pattern, last: 208 } },
      { names: Array.from({ length: 201 }, (_, index) => `Y${index}`) },
    ])
      expect((await bulk(wrong)).status, JSON.stringify(wrong).slice(0, 60)).to.equal(400)
    for (const { id } of made.body.data) await archive(id)
  })

  it('are found by what they are and where they are, and say what they are now', async () => {
    const [inside, out, ready] = [
      await make({ floor: 7 }),
      await make({ floor: 7 }),
      await make({ floor: 7, building: 'Tower' }),
    ]
    const reservationId = await stay(40, 1)
    await setRow(inside.id, reservationId, 'occupied', -1, 1)
    await house.inHouse((trx) =>
      createBlock(trx, {
        propertyId: house.propertyId,
        unitIds: [out.id],
        kind: 'out_of_service',
        reason: 'damage',
        from: house.day(0),
        to: house.day(2),
      }),
    )
    await house.inHouse((trx) =>
      sql(
        trx,
        `update unit set condition = 'clean', observed_occupancy = 'occupied', observed_at = now() where id = ?`,
        [ready.id],
      ),
    )
    await house.inHouse((trx) =>
      sql(
        trx,
        `update unit set condition = 'clean', observed_occupancy = 'vacant', observed_at = now() + interval '1 second' where id = any(?::uuid[])`,
        [[inside.id, out.id]],
      ),
    )
    const ids = async (query: string) =>
      (await owner.get(`units?floor=7&${query}`)).body.data.map((unit: { id: string }) => unit.id)
    expect(await ids('')).to.have.deep.members([inside.id, out.id, ready.id])
    expect(await ids('occupancy=occupied')).to.deep.equal([inside.id])
    expect(await ids('service=out_of_service')).to.deep.equal([out.id])
    expect(await ids('service=in_service&occupancy=vacant')).to.deep.equal([ready.id])
    expect(await ids('building=Tower&condition=clean')).to.deep.equal([ready.id])
    expect(await ids(`q=${ready.name}`)).to.deep.equal([ready.id])
    expect(await ids(`unitPoolId=${house.suitePoolId}`)).to.deep.equal([])
    expect(await ids('sort=-name')).to.deep.equal(
      [inside, out, ready].sort((a, b) => (a.name < b.name ? 1 : -1)).map((unit) => unit.id),
    )
    const state = async (id: string) => {
      const { ready: isReady, discrepancy, occupancy, service } = (await owner.get(`units/${id}`)).body
      return { isReady, discrepancy, occupancy, service }
    }
    expect(await state(inside.id)).to.deep.equal({
      isReady: false,
      discrepancy: 'skip',
      occupancy: 'occupied',
      service: 'in_service',
    })
    expect(await state(out.id)).to.include({ isReady: false, discrepancy: null, service: 'out_of_service' })
    expect(await state(ready.id)).to.include({ isReady: true, discrepancy: 'sleep', occupancy: 'vacant' })
    // A house that inspects takes clean for not ready yet, and what was seen before the guest came says nothing.
    await owner.send('PATCH', `properties/${house.propertyId}/settings`, { housekeeping: { inspection: true } })
    expect(await state(ready.id)).to.include({ isReady: false })
    await owner.send('PATCH', `properties/${house.propertyId}/settings`, { housekeeping: { inspection: false } })
    await house.inHouse((trx) =>
      sql(trx, `update unit set observed_at = now() - interval '1 hour' where id = ?`, [inside.id]),
    )
    expect(await state(inside.id)).to.include({ discrepancy: null })
    // Past the last night, and still in it.
    await house.inHouse((trx) =>
      sql(trx, `update unit_assignment set during = daterange(?::date, ?::date) where unit_id = ?`, [
        house.day(-2),
        house.day(0),
        inside.id,
      ]),
    )
    expect(await state(inside.id)).to.include({ occupancy: 'occupied' })
    expect(answer(await archive(inside.id))).to.deep.equal([409, 'unit_conflict'])
  })

  it('change by version, and keep a name of their own', async () => {
    const [unit, other] = [await make(), await make()]
    const changed = await patch(unit.id, { notes: 'creaks', floor: null }, 1)
    expect([changed.status, changed.body.version, changed.body.notes]).to.deep.equal([200, 2, 'creaks'])
    expect(answer(await patch(unit.id, { notes: 'x' }, 1))).to.deep.equal([409, 'version_conflict'])
    expect(answer(await patch(unit.id, { activeUntil: house.day(90) }, 1))).to.deep.equal([409, 'version_conflict'])
    expect(answer(await patch(unit.id, { name: other.name }))).to.deep.equal([409, 'duplicate_name'])
    const both = await Promise.all([
      patch(unit.id, { floor: 1 }, 2),
      patch(unit.id, { activeUntil: house.day(300) }, 2),
    ])
    expect(both.map((reply) => reply.status).sort((a, b) => a - b)).to.deep.equal([200, 409])
    await archive(unit.id)
    expect(answer(await patch(unit.id, { notes: 'y' }))).to.deep.equal([409, 'invalid_transition'])
  })

  it('of others are not found, and are changed by managers alone', async () => {
    const other = await makeHouse({ tenantId: house.tenantId, units: 1 })
    const stranger = await makeHouse({ units: 1 })
    const hidden = other.unitIds[0] ?? ''
    const limited = await openDesk(world, house, 'manager', [house.propertyId])
    for (const id of [hidden, stranger.unitIds[0] ?? ''])
      for (const [method, path] of [
        ['GET', `units/${id}`],
        ['PATCH', `units/${id}`],
        ['POST', `units/${id}/archive`],
        ['POST', `units/${id}/restore`],
      ] as const)
        expect((await limited.send(method, path, method === 'PATCH' ? { floor: 1 } : {})).status).to.equal(404)
    const seen = (await limited.get('units?limit=100')).body.data as { propertyId: string }[]
    expect(new Set(seen.map((unit) => unit.propertyId))).to.deep.equal(new Set([house.propertyId]))
    const into = (propertyId: string, unitTypeId: string) =>
      limited.send('POST', 'units', { propertyId, unitTypeId, name: 'Z' })
    expect((await into(other.propertyId, other.unitTypeId)).status).to.equal(403)
    expect(answer(await into(house.propertyId, other.unitTypeId))).to.deep.equal([422, 'reference_not_found'])
    const desk = await openDesk(world, house, 'receptionist')
    expect((await desk.get(`units/${house.unitIds[0]}`)).status).to.equal(200)
    expect((await desk.send('PATCH', `units/${house.unitIds[0]}`, { floor: 1 })).status).to.equal(403)
    const auditor = await openDesk(world, house, 'auditor')
    const [told = ''] = house.unitIds
    await house.inHouse(async (trx) => {
      const refusal = await sealRefusal(trx, told, { until: house.day(1), evidence: 'Ana said so' }, null)
      await sql(trx, `update unit set service_refused = ?::jsonb where id = ?`, [JSON.stringify(refusal), told])
    })
    const evidence = async (of: Desk) => (await of.get(`units/${told}`)).body.serviceRefused.evidence
    expect([await evidence(desk), await evidence(auditor)]).to.deep.equal(['Ana said so', null])
  })

  it('do not leave nights that are sold: each is named', async () => {
    const free = await makeHouse({
      tenantId: house.tenantId,
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
    const [from, to] = [await make(), await make({ activeFrom: house.day(60) })]
    const reservationId = await stay(61, 2)
    await setRow(from.id, reservationId, 'locked', 61, 63)
    for (const reply of [await archive(from.id), await patch(from.id, { activeUntil: house.day(62) })]) {
      expect(answer(reply)).to.deep.equal([409, 'unit_conflict'])
      expect(JSON.stringify(reply.body.errors)).to.contain(reservationId)
    }
    await house.inHouse((trx) =>
      sql(trx, `update unit_assignment set status = 'proposed' where unit_id = ?`, [from.id]),
    )
    const gone = await archive(from.id)
    expect([gone.status, gone.body.status]).to.deep.equal([200, 'archived'])
    const [row] = await house.inHouse((trx) =>
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
    const unit = await make({ activeUntil: house.day(20) })
    const before = await capacity(30)
    await archive(unit.id)
    expect((await archive(unit.id)).body.version).to.equal(2)
    expect((await owner.get('units?status=archived')).body.data.map((one: { id: string }) => one.id)).to.include(
      unit.id,
    )
    const heir = await make({ name: unit.name })
    expect(answer(await owner.send('POST', `units/${unit.id}/restore`))).to.deep.equal([409, 'duplicate_name'])
    await archive(heir.id)
    const back = await owner.send('POST', `units/${unit.id}/restore`)
    expect([back.status, back.body.status, back.body.activeUntil]).to.deep.equal([200, 'active', null])
    expect(await capacity(30)).to.equal(before + 1)
    expect((await owner.send('POST', `units/${unit.id}/restore`)).body.version).to.equal(3)
    const types = (await eventsOf(house, 'unit.restored')).map((event) => event.data.unitId)
    expect(types).to.deep.equal([unit.id])
    expect(await miscounts()).to.deep.equal([])
  })

  it('take their capacity, and their blocks, to the pool of another type', async () => {
    const unit = await make()
    const suite = { unitTypeId: house.suiteTypeId }
    const block = await house.inHouse((trx) =>
      createBlock(trx, {
        propertyId: house.propertyId,
        unitIds: [unit.id],
        kind: 'out_of_order',
        reason: 'renovation',
        from: house.day(3),
        to: house.day(5),
      }),
    )
    expect(block.id).to.be.a('string')
    const pools = [house.poolId, house.suitePoolId ?? '']
    const all = (day: number) => Promise.all(pools.map((poolId) => countersOf(house, day, poolId)))
    const before = await all(4)
    const moved = await patch(unit.id, suite)
    expect([moved.status, moved.body.unitPoolId]).to.deep.equal([200, house.suitePoolId])
    const after = await all(4)
    expect(after.map((row, index) => row.capacity - before[index]!.capacity)).to.deep.equal([-1, 1])
    expect(after.map((row) => row.blocked)).to.deep.equal([0, 1])
    expect(answer(await patch(unit.id, { unitPoolId: house.poolId }))).to.deep.equal([422, 'unit_type_mismatch'])
    const reservationId = await stay(70, 1, { unitTypeId: house.suiteTypeId })
    await setRow(unit.id, reservationId, 'locked', 70, 71)
    expect(answer(await patch(unit.id, { unitTypeId: house.unitTypeId }))).to.deep.equal([409, 'unit_conflict'])
    expect(await miscounts()).to.deep.equal([])
  })

  it('are gone or sold, never both, however archiving, dates, pools and holds come together', async () => {
    const rush = await makeHouse({
      tenantId: house.tenantId,
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
        await owner.send('POST', `units/${unit}/restore`)
        expect((await patch(unit, back)).status).to.equal(200)
      }
    }
    expect(
      await rush.inHouse((trx) => recountNights(trx, rush.propertyId, rush.today, rush.day(60))),
      [...outcomes].join(),
    ).to.deep.equal([])
  })
})
