import { expect } from 'chai'
import { database, inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { createGuests } from '../../db/guests/index.ts'
import { changeFolio } from '../../db/reservations/folio/change.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { createGroup } from '../../db/reservations/group/create.ts'
import { importRoomingList } from '../../db/reservations/group/rooming-list.ts'
import { cancelGroup } from '../../db/reservations/group/cancel.ts'
import { confirmGroup } from '../../db/reservations/group/status.ts'
import { lockPools } from '../../db/units/assignments/occupy.ts'
import { moveInventory } from '../../db/units/inventory.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { campaign, furnish } from './campaign.ts'
import { look } from './checker.ts'
import { recordLocks } from './locks.ts'
import type { Recorder } from './locks.ts'

describe('Processes that fight for the rooms of a house', () => {
  useDatabase()

  it('leave counters that equal a recount at every look, no unit given twice, no lock out of order and no deadlock', async () => {
    const report = await campaign(await furnish(), { seed: 1, seconds: 8, processes: 4 })
    expect(report.violations).to.deep.equal([])
    expect(report.looks).to.be.above(1)
    const held = report.done.hold ?? 0
    expect(held, JSON.stringify(report.done)).to.be.above(0)
    expect(report.transactions).to.be.above(held)
  }).timeout(120_000)
})

describe('The looks of the race', () => {
  const world = useDatabase()
  let house: House
  before(async () => {
    house = await makeHouse({ units: 2, deposit: null })
    await makeHold(house, { from: 3 })
  })
  const rules = async () => (await look(house)).map((one) => one.rule)

  it('find nothing in a house that is in order', async () => {
    expect(await rules()).to.deep.equal([])
  })

  it('find counters that drift, a unit given to whom it is not for, and a block without its unit', async () => {
    const { admin } = world.database
    const night = [house.poolId, house.day(3)]
    const counted = 'counters equal a recount, and what is forced is what is short'
    for (const column of ['held', 'capacity', 'forced']) {
      await admin.raw(`update pool_night set ${column} = ${column} + 1 where pool_id = ? and night = ?`, night)
      expect(await rules(), column).to.deep.equal([counted])
      await admin.raw(`update pool_night set ${column} = ${column} - 1 where pool_id = ? and night = ?`, night)
    }
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into unit_assignment (unit_id, reservation_id, during, status) select ?, id, daterange(arrival, departure), 'locked' from reservation`,
        [house.unitIds[0]],
      ),
    )
    // It is held, and not confirmed.
    expect(await rules()).to.deep.equal([
      'a unit that is given is there, of a pool of the type, and for a stay that stands',
    ])
    await house.inHouse((trx) => sql(trx, `delete from unit_assignment`))
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into unit_block (property_id, unit_ids, kind, reason, "from", "to") values (?, ?::uuid[], 'out_of_service', 'damage', ?, ?)`,
        [house.propertyId, [house.unitIds[0]], house.day(0), house.day(1)],
      ),
    )
    expect(await rules()).to.deep.equal(['an open block has each of its units, and one that is over none'])
  })
})

describe('The order of locks', () => {
  useDatabase()
  let house: House
  let recorder: Recorder
  const wrong: string[] = []
  before(async () => {
    house = await makeHouse({ units: 1, suite: true })
    recorder = recordLocks(database(), ({ late, after }) => wrong.push(`${late.of} after ${after.of}`))
  })
  beforeEach(() => void wrong.splice(0))
  const pools = () => [house.poolId, house.suitePoolId ?? ''].sort()
  const night = (poolId: string, day = 5) => ({ poolId, night: house.day(day), oversell: 1 })
  const lockUnit = (trx: Trx) => sql(trx, `select id from unit where id = ? for no key update`, [house.unitIds[0]])

  it('is kept by a hold, and what has locked nothing is not counted', async () => {
    const before = recorder.transactions
    await inTenant(house.tenantId, (trx) => sql(trx, `select 1 from unit`))
    expect(recorder.transactions).to.equal(before)
    await makeHold(house, { from: 3 })
    expect(recorder.transactions).to.be.above(before)
    expect(wrong).to.deep.equal([])
  })

  it('is kept by a group: its rooming list, guests named anew, and its cancellation with all reservations and their fees', async () => {
    const own = await makeHouse({ units: 3, suite: true })
    // A house makes its pools in any order, before another transaction can see them.
    wrong.splice(0)
    const [from, to] = [own.day(3), own.day(9)]
    const types = [own.unitTypeId, own.suiteTypeId ?? '']
    const groupId = await own.inHouse((trx) =>
      createGroup(trx, {
        propertyId: own.propertyId,
        code: 'LOCKS',
        name: 'A group',
        arrival: from,
        departure: to,
        ratePlanId: own.ratePlanId,
        allotment: { nights: [{ unitTypeId: own.unitTypeId, from, to, quantity: 2 }] },
      }),
    )
    await own.inHouse((trx) => confirmGroup(trx, groupId))
    const row = (rowKey: string, unitTypeId: string, [arrival, departure]: [number, number], firstName = 'Ana') => ({
      rowKey,
      unitTypeId,
      arrival: own.day(arrival),
      departure: own.day(departure),
      adults: 2,
      childrenAges: [],
      guests: [{ firstName, lastName: 'Souza' }],
    })
    const rows = [
      row('a', types[0]!, [6, 8]),
      row('b', types[1]!, [5, 7]),
      row('c', types[0]!, [4, 6]),
      row('d', types[0]!, [3, 4]),
    ]
    await own.inHouse((trx) => importRoomingList(trx, groupId, rows))
    await own.inHouse((trx) =>
      importRoomingList(trx, groupId, [row('e', types[0]!, [7, 8]), row('a', types[0]!, [6, 8], 'Eva')]),
    )
    expect(wrong).to.deep.equal([])
    await own.inHouse((trx) => cancelGroup(trx, groupId, { reason: 'other', cancelReservations: true }))
    expect(wrong).to.deep.equal([])
    const stays = await own.inHouse((trx) =>
      sql<{ status: string; fee: number }>(
        trx,
        `select status, sum(fee_amount)::int as fee from reservation group by 1`,
      ),
    )
    expect(stays.map((one) => one.status)).to.deep.equal(['cancelled'])
    expect(stays[0]?.fee).to.be.above(0)
    expect(await look(own)).to.deep.equal([])
  })

  it('is kept by a folio that gets another payer', async () => {
    const person = { firstName: 'Ana', lastName: 'Souza', language: 'en', source: 'staff' as const }
    const [payerGuestId = ''] = await house.inHouse((trx) => createGuests(trx, [person]))
    const folioId = await house.inHouse((trx) => openFolio(trx, { propertyId: house.propertyId, kind: 'house' }))
    await house.inHouse((trx) => changeFolio(trx, folioId, { payerGuestId }, null))
    expect(wrong).to.deep.equal([])
  })

  it('is broken by who locks a unit before the nights, and is told of', async () => {
    await house.inHouse(async (trx) => {
      await lockUnit(trx)
      await moveInventory(trx, [night(house.poolId)])
    })
    expect(wrong).to.deep.equal(['pool_night after unit'])
  })

  it('is broken by more nights, or more pools, that come before those that are locked, and not by the same again', async () => {
    const [first = '', second = ''] = pools()
    await house.inHouse(async (trx) => {
      await moveInventory(trx, [night(first), night(second)])
      await moveInventory(trx, [night(first)])
      await lockPools(trx, [first, second])
      await lockPools(trx, [second])
    })
    expect(wrong).to.deep.equal([])
    await house.inHouse(async (trx) => {
      await moveInventory(trx, [night(second)])
      await moveInventory(trx, [night(first)])
    })
    expect(wrong).to.deep.equal(['pool_night after pool_night'])
    await house.inHouse(async (trx) => {
      await lockPools(trx, [second])
      await lockPools(trx, [first])
    })
    expect(wrong.slice(1)).to.deep.equal(['units of pools after units of pools'])
  })

  it('is broken by an update as by a lock, and by one that is rolled back as well', async () => {
    const work = house.inHouse(async (trx) => {
      await sql(trx, `update unit set position = 1 where id = ?`, [house.unitIds[0]])
      await sql(trx, `select id from booking order by id for update`)
      throw new Error('changed my mind')
    })
    expect(await work.catch((error: Error) => error.message)).to.equal('changed my mind')
    expect(wrong).to.deep.equal(['booking after unit'])
  })
})
