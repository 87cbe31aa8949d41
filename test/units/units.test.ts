import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { createBlock } from '../../db/units/blocks/create.ts'
import { sealRefusal } from '../../db/units/refusals.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import { useUnits } from './owner.ts'

describe('Units', () => {
  const units = useUnits()
  const { answer, archive, capacity, make, patch, setRow, stay, world } = units

  it('count from the business date on, and are dirty and vacant', async () => {
    const before = await capacity(0)
    const unit = await make({ floor: 2, building: 'Annex', attributes: ['sea_view'], credits: 3 })
    expect(unit).to.deep.include({
      activeFrom: units.house.today,
      activeUntil: null,
      condition: 'dirty',
      occupancy: 'vacant',
      service: 'in_service',
      ready: false,
      discrepancy: null,
      status: 'active',
      unitPoolId: units.house.poolId,
      version: 1,
    })
    expect(await capacity(0)).to.equal(before + 1)
    expect((await units.owner.get(`units/${unit.id}`)).body).to.deep.equal(unit)
    const later = await make({ activeFrom: units.house.day(5), activeUntil: units.house.day(7), condition: 'clean' })
    expect(later.ready).to.equal(true)
    expect(await Promise.all([4, 5, 6, 7].map((day) => capacity(day)))).to.deep.equal(
      [1, 2, 2, 1].map((more) => before + more),
    )
    await archive(unit.id)
    await archive(later.id)
  })

  it('are made for days to come, and keep within the round of their house', async () => {
    const { propertyId, unitTypeId } = units.house
    const past = await units.owner.send('POST', 'units', {
      propertyId,
      unitTypeId,
      name: 'Gone',
      activeFrom: units.house.day(-9),
      activeUntil: units.house.day(-2),
    })
    expect([...answer(past), past.body.errors[0].field]).to.deep.equal([422, 'date_out_of_range', 'activeUntil'])
    const made = await units.owner.send('POST', 'units/bulk', {
      propertyId,
      unitTypeId,
      names: ['Z1', 'Z2', 'Z3'],
      position: 99_999,
    })
    expect(made.body.data.map(({ position }: { position: number }) => position)).to.deep.equal([
      99_999, 100_000, 100_000,
    ])
    for (const { id } of made.body.data) await archive(id)
  })

  it('take what is left to do in them along when they are given up', async () => {
    const unit = await make()
    const plan = (more: object = {}) =>
      units.owner.send('POST', 'housekeeping/tasks', {
        unitId: unit.id,
        date: units.house.today,
        kind: 'deep',
        ...more,
      })
    const [begun, open] = [await plan(), await plan({ date: units.house.day(3) })]
    await units.owner.send('POST', `housekeeping/tasks/${begun.body.id}/start`)
    expect((await archive(unit.id)).body.status).to.equal('archived')
    for (const { body } of [begun, open])
      expect((await units.owner.get(`housekeeping/tasks/${body.id}`)).body).to.include({
        status: 'skipped',
        skipReason: 'not_needed',
      })
  })

  it('are looked for in houses that are there', async () => {
    const [from, to] = [units.house.day(0), units.house.day(2)]
    for (const path of [
      `units/available?from=${from}&to=${to}`,
      `unit-calendar?from=${from}&to=${to}`,
      `housekeeping/board?date=${from}`,
    ])
      expect((await units.owner.get(`${path}&propertyId=${units.house.unitTypeId}`)).status, path).to.equal(404)
    const repack = await units.owner.send('POST', 'unit-assignments/repack', { propertyId: units.house.unitTypeId })
    expect(repack.status).to.equal(404)
  })

  it('come up to 200 at once by names or a pattern, all or none', async () => {
    const bulk = (more: object) =>
      units.owner.send('POST', 'units/bulk', {
        propertyId: units.house.propertyId,
        unitTypeId: units.house.unitTypeId,
        ...more,
      })
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
    await units.house.inHouse((trx) =>
      createBlock(trx, {
        propertyId: units.house.propertyId,
        unitIds: [out.id],
        kind: 'out_of_service',
        reason: 'damage',
        from: units.house.day(0),
        to: units.house.day(2),
      }),
    )
    await units.house.inHouse((trx) =>
      sql(
        trx,
        `update unit set condition = 'clean', observed_occupancy = 'occupied', observed_at = now() where id = ?`,
        [ready.id],
      ),
    )
    await units.house.inHouse((trx) =>
      sql(
        trx,
        `update unit set condition = 'clean', observed_occupancy = 'vacant', observed_at = now() + interval '1 second' where id = any(?::uuid[])`,
        [[inside.id, out.id]],
      ),
    )
    const ids = async (query: string) =>
      (await units.owner.get(`units?floor=7&${query}`)).body.data.map((unit: { id: string }) => unit.id)
    expect(await ids('')).to.have.deep.members([inside.id, out.id, ready.id])
    expect(await ids('occupancy=occupied')).to.deep.equal([inside.id])
    expect(await ids('service=out_of_service')).to.deep.equal([out.id])
    expect(await ids('service=in_service&occupancy=vacant')).to.deep.equal([ready.id])
    expect(await ids('building=Tower&condition=clean')).to.deep.equal([ready.id])
    expect(await ids(`q=${ready.name}`)).to.deep.equal([ready.id])
    expect(await ids(`unitPoolId=${units.house.suitePoolId}`)).to.deep.equal([])
    expect(await ids('sort=-name')).to.deep.equal(
      [inside, out, ready].sort((a, b) => (a.name < b.name ? 1 : -1)).map((unit) => unit.id),
    )
    const state = async (id: string) => {
      const { ready: isReady, discrepancy, occupancy, service } = (await units.owner.get(`units/${id}`)).body
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
    await units.owner.send('PATCH', `properties/${units.house.propertyId}/settings`, {
      housekeeping: { inspection: true },
    })
    expect(await state(ready.id)).to.include({ isReady: false })
    await units.owner.send('PATCH', `properties/${units.house.propertyId}/settings`, {
      housekeeping: { inspection: false },
    })
    await units.house.inHouse((trx) =>
      sql(trx, `update unit set observed_at = now() - interval '1 hour' where id = ?`, [inside.id]),
    )
    expect(await state(inside.id)).to.include({ discrepancy: null })
    // Past the last night, and still in it.
    await units.house.inHouse((trx) =>
      sql(trx, `update unit_assignment set during = daterange(?::date, ?::date) where unit_id = ?`, [
        units.house.day(-2),
        units.house.day(0),
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
    expect(answer(await patch(unit.id, { activeUntil: units.house.day(90) }, 1))).to.deep.equal([
      409,
      'version_conflict',
    ])
    expect(answer(await patch(unit.id, { name: other.name }))).to.deep.equal([409, 'duplicate_name'])
    const both = await Promise.all([
      patch(unit.id, { floor: 1 }, 2),
      patch(unit.id, { activeUntil: units.house.day(300) }, 2),
    ])
    expect(both.map((reply) => reply.status).sort((a, b) => a - b)).to.deep.equal([200, 409])
    await archive(unit.id)
    expect(answer(await patch(unit.id, { notes: 'y' }))).to.deep.equal([409, 'invalid_transition'])
  })

  it('of others are not found, and are changed by managers alone', async () => {
    const other = await makeHouse({ tenantId: units.house.tenantId, units: 1 })
    const stranger = await makeHouse({ units: 1 })
    const hidden = other.unitIds[0] ?? ''
    const limited = await openDesk(world, units.house, 'manager', [units.house.propertyId])
    for (const id of [hidden, stranger.unitIds[0] ?? ''])
      for (const [method, path] of [
        ['GET', `units/${id}`],
        ['PATCH', `units/${id}`],
        ['POST', `units/${id}/archive`],
        ['POST', `units/${id}/restore`],
      ] as const)
        expect((await limited.send(method, path, method === 'PATCH' ? { floor: 1 } : {})).status).to.equal(404)
    const seen = (await limited.get('units?limit=100')).body.data as { propertyId: string }[]
    expect(new Set(seen.map((unit) => unit.propertyId))).to.deep.equal(new Set([units.house.propertyId]))
    const into = (propertyId: string, unitTypeId: string) =>
      limited.send('POST', 'units', { propertyId, unitTypeId, name: 'Z' })
    expect((await into(other.propertyId, other.unitTypeId)).status).to.equal(403)
    expect(answer(await into(units.house.propertyId, other.unitTypeId))).to.deep.equal([422, 'reference_not_found'])
    const desk = await openDesk(world, units.house, 'receptionist')
    expect((await desk.get(`units/${units.house.unitIds[0]}`)).status).to.equal(200)
    expect((await desk.send('PATCH', `units/${units.house.unitIds[0]}`, { floor: 1 })).status).to.equal(403)
    const auditor = await openDesk(world, units.house, 'auditor')
    const [told = ''] = units.house.unitIds
    await units.house.inHouse(async (trx) => {
      const refusal = await sealRefusal(trx, told, { until: units.house.day(1), evidence: 'Ana said so' }, null)
      await sql(trx, `update unit set service_refused = ?::jsonb where id = ?`, [JSON.stringify(refusal), told])
    })
    const evidence = async (of: Desk) => (await of.get(`units/${told}`)).body.serviceRefused.evidence
    expect([await evidence(desk), await evidence(auditor)]).to.deep.equal(['Ana said so', null])
  })
})
