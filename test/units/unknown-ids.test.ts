import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { fromDatabase } from '../../db/lib/errors.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

describe('Requests about units that name a record which is not there', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  before(async () => {
    house = await makeHouse({ units: 2, deposit: null })
    owner = await openDesk(world, house, 'owner')
  })
  const block = (more: object = {}) => ({
    propertyId: house.propertyId,
    unitIds: [house.unitIds[0]],
    kind: 'out_of_order',
    reason: 'damage',
    from: house.day(20),
    to: house.day(22),
    ...more,
  })
  const refused = async (method: string, path: string, body: object, field: string) => {
    const reply = await owner.send(method, path, body)
    const answer = `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`
    expect(reply.status, answer).to.equal(422)
    expect(
      (reply.body.errors ?? []).map((one: { field: string }) => one.field),
      answer,
    ).to.include(field)
  }

  it('are told which field names it', async () => {
    const { propertyId, unitTypeId, unitIds } = house
    const unknown = randomUUID()
    const made = await owner.send('POST', 'unit-blocks', block())
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    const task = await owner.send('POST', 'housekeeping/tasks', {
      unitId: unitIds[1],
      date: house.day(1),
      kind: 'deep',
    })
    expect(task.status, JSON.stringify(task.body)).to.equal(201)
    const type = { code: 'NEW', name: { en: 'New', 'pt-BR': 'Novo' }, kind: 'private', baseOccupancy: 1, maxAdults: 2 }
    const ofType = {
      ...type,
      propertyId,
      maxChildren: 0,
      maxOccupancy: 2,
      pools: [{ unitPoolId: unknown, quantity: 1 }],
    }
    const unit = { propertyId, unitTypeId, name: 'X1' }
    const ofTask = { unitId: unitIds[1], date: house.day(1), kind: 'deep' }
    const sheet = { propertyId, date: house.day(0), attendants: [{ userId: unknown, maxCredits: 10 }] }
    const calls: [string, string, object, string][] = [
      ['POST', 'unit-blocks', block({ issueId: unknown, unitIds: [unitIds[1]] }), 'issueId'],
      ['POST', 'unit-blocks', block({ issueId: unknown, unitIds: [unitIds[1]], dryRun: true }), 'issueId'],
      ['PATCH', `unit-blocks/${made.body.id}`, { issueId: unknown }, 'issueId'],
      ['POST', 'unit-blocks', block({ unitIds: [unitIds[1], unknown] }), 'unitIds.1'],
      ['PATCH', `unit-blocks/${made.body.id}`, { unitIds: [unknown] }, 'unitIds.0'],
      ['POST', 'unit-types', ofType, 'pools.0.unitPoolId'],
      ['PATCH', `unit-types/${unitTypeId}`, { pools: [{ unitPoolId: unknown, quantity: 1 }] }, 'pools.0.unitPoolId'],
      ['POST', 'units', { ...unit, unitTypeId: unknown }, 'unitTypeId'],
      ['POST', 'units', { ...unit, unitPoolId: unknown }, 'unitPoolId'],
      ['POST', 'units/bulk', { propertyId, unitTypeId: unknown, names: ['X2'] }, 'unitTypeId'],
      ['POST', 'units/bulk', { propertyId, unitTypeId, unitPoolId: unknown, names: ['X2'] }, 'unitPoolId'],
      ['PATCH', `units/${unitIds[1]}`, { unitTypeId: unknown }, 'unitTypeId'],
      ['PATCH', `units/${unitIds[1]}`, { unitPoolId: unknown }, 'unitPoolId'],
      ['POST', 'unit-assignments/repack', { propertyId, unitPoolIds: [unknown] }, 'unitPoolIds.0'],
      [
        'POST',
        'housekeeping/conditions',
        { propertyId, items: [{ unitId: unknown, condition: 'dirty' }] },
        'items.0.unitId',
      ],
      ['POST', 'housekeeping/tasks', { ...ofTask, assigneeId: unknown }, 'assigneeId'],
      ['POST', 'housekeeping/tasks', { ...ofTask, reservationId: unknown }, 'reservationId'],
      ['PATCH', `housekeeping/tasks/${task.body.id}`, { assigneeId: unknown }, 'assigneeId'],
      ['POST', 'housekeeping/sheets', sheet, 'attendants.0.userId'],
    ]
    const wrong: string[] = []
    for (const [method, path, body, field] of calls)
      await refused(method, path, body, field).catch((error: Error) => wrong.push(`${field} of ${error.message}`))
    expect(wrong).to.deep.equal([])
  })

  it('and by a key of the database too, unless a record that is still in use would go', async () => {
    const make = (trx: Trx) =>
      sql(
        trx,
        `insert into unit_block (property_id, unit_ids, kind, reason, "from", "to") values (?, ?::uuid[], 'out_of_order', 'damage', ?, ?)`,
        [randomUUID(), house.unitIds, house.day(1), house.day(2)],
      )
    const go = (trx: Trx) => sql(trx, `delete from unit_pool where id = ?`, [house.poolId])
    for (const [work, errors] of [
      [make, [{ field: 'propertyId', message: 'does not exist' }]],
      [go, undefined],
    ] as const) {
      const error = await house.inHouse<unknown>(work).then(
        () => null,
        (thrown: unknown) => fromDatabase(thrown),
      )
      expect(error).to.deep.include({ code: 'reference_not_found', errors })
    }
  })
})
