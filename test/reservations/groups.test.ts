import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { dueGroups } from '../../db/reservations/index.ts'
import { advanceGroup } from '../../db/reservations/group/status.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { countNights, recountNights } from '../../db/units/recount.ts'
import { forgetLimits, makeKey } from '../auth/support.ts'
import { setDay } from '../night-audit/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Reply } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { countersOf, eventsOf, makeHold } from '../support/stay.ts'
import { refusal } from '../support/refusals.ts'
import { useWorld } from '../support/world.ts'

describe('A group over HTTP', () => {
  const world = useWorld()
  let house: House
  let manager: Desk
  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeHouse({ units: 4, suite: true, deposit: null, settings: { portal: { holdShare: 10_000 } } })
    manager = await openDesk(world, house, 'manager')
  })

  let made = 0
  const rooms = (quantity: number, change: object = {}) => ({
    unitTypeId: house.unitTypeId,
    from: house.day(30),
    to: house.day(32),
    quantity,
    ...change,
  })
  const create = async (change: object = {}) => {
    made += 1
    const { status, body } = await manager.send('POST', 'groups', {
      propertyId: house.propertyId,
      code: `GROUP${made}`,
      name: 'Wedding of the year',
      arrival: house.day(30),
      departure: house.day(32),
      ratePlanId: house.ratePlanId,
      contact: { name: 'Rosa Prado', email: 'rosa@example.com' },
      allotment: { nights: [rooms(3)] },
      ...change,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body
  }
  const act = (id: string, verb: string, body: object = {}, desk = manager) =>
    desk.send('POST', `groups/${id}/${verb}`, body)
  const allot = (id: string, nights: object[]) => manager.send('PUT', `groups/${id}/allotment`, { nights })
  const read = async (id: string) => (await manager.get(`groups/${id}`)).body
  const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()
  const refused = ({ status, body }: Reply) => [status, body.code]
  const allotted = async (day = 30) => (await countersOf(house, day)).allotted
  const exact = async () => {
    const counted = await house.inHouse((trx) => countNights(trx, house.propertyId, house.day(0), house.day(60)))
    expect(counted.reduce((sum, one) => sum + one.allotted, 0)).to.equal(
      (
        await house.inHouse((trx) =>
          sql<{ sum: number }>(trx, `select coalesce(sum(allotted), 0)::int as sum from pool_night where night < ?`, [
            house.day(60),
          ]),
        )
      )[0]?.sum,
    )
    expect(
      await house.inHouse((trx) => recountNights(trx, house.propertyId, house.day(0), house.day(60))),
    ).to.deep.equal([])
  }

  it('does not arrive before the business day, and is not confirmed once it is over', async () => {
    const day = { code: 'PAST', arrival: house.day(-3), departure: house.day(-1), allotment: { nights: [] } }
    const past = { propertyId: house.propertyId, name: 'Last week', ratePlanId: house.ratePlanId, ...day }
    for (const change of [{}, { departure: house.day(3) }]) {
      const reply = await manager.send('POST', 'groups', { ...past, ...change })
      expect([...refused(reply), reply.body.errors?.[0]?.field]).to.deep.equal([422, 'date_out_of_range', 'arrival'])
    }
    const today = await create({ arrival: house.day(0), departure: house.day(1), allotment: { nights: [] } })
    await setDay(house, 1)
    const late = await act(today.id, 'confirm')
    expect([...refused(late), late.body.errors?.[0]?.field]).to.deep.equal([
      422,
      'transition_blocked',
      'blockers.group_over',
    ])
    expect((await read(today.id)).status).to.equal('inquiry')
  })

  it('takes nothing as an inquiry, and its rooms as an option, which ends by the clock', async () => {
    const group = await create()
    expect(group).to.deep.include({ status: 'inquiry', masterFolioId: null, routing: { categories: ['room'] } })
    expect(group.contact).to.include({ name: 'Rosa Prado', email: 'rosa@example.com' })
    expect(await allotted()).to.equal(0)
    const until = tomorrow()
    const both = await Promise.all([act(group.id, 'option', { until }), act(group.id, 'option', { until })])
    expect(both.map((one) => one.status)).to.deep.equal([200, 200])
    expect(await allotted()).to.equal(3)
    expect(await eventsOf(house, 'group.optioned')).to.have.lengthOf(1)
    await exact()
    // One room is left for others, and two are not.
    await makeHold(house, { from: 30 })
    expect((await refusal(makeHold(house, { from: 30 }))).code).to.equal('sold_out')
    await house.inHouse((trx) =>
      sql(trx, `update booking_group set option_until = now() - interval '1 second' where id = ?`, [group.id]),
    )
    expect((await inPlatform((trx) => dueGroups(trx))).map((one) => one.id)).to.include(group.id)
    for (let times = 0; times < 2; times += 1) await house.inHouse((trx) => advanceGroup(trx, group.id))
    expect(await read(group.id)).to.include({ status: 'inquiry', optionUntil: null })
    expect(await allotted()).to.equal(0)
    expect(await eventsOf(house, 'group.option_ended')).to.have.lengthOf(1)
    await exact()
  })

  it('shows an API key its contact masked', async () => {
    const group = await create()
    const { key } = await makeKey(house.tenantId, ['read', 'write'])
    const path = `/api/tenants/${house.tenantId}/groups/${group.id}`
    const { body } = await world.request('GET', path, { key })
    expect(body.contact.name).to.equal('Rosa Prado')
    expect(body.contact.email)
      .to.match(/^r.*\*.*@/)
      .and.not.equal('rosa@example.com')
  })

  it('is taken whole or not at all where rooms are short', async () => {
    await makeHold(house, { from: 31, nights: 1 })
    await makeHold(house, { from: 31, nights: 1 })
    const group = await create()
    const reply = await act(group.id, 'option', { until: tomorrow() })
    expect(refused(reply)).to.deep.equal([409, 'sold_out'])
    expect(reply.body.errors.map((one: { field: string }) => one.field)).to.deep.equal([`nights.${house.day(31)}`])
    expect([await allotted(30), await allotted(31)]).to.deep.equal([0, 0])
    expect(refused(await act(group.id, 'confirm'))).to.deep.equal([409, 'sold_out'])
    expect(await read(group.id)).to.include({ status: 'inquiry', masterFolioId: null })
    // Two groups want the last rooms at once.
    const [one, two] = [
      await create({ allotment: { nights: [rooms(2)] } }),
      await create({ allotment: { nights: [rooms(2)] } }),
    ]
    const replies = await Promise.all([act(one.id, 'confirm'), act(two.id, 'confirm')])
    expect(replies.map((each) => each.status)).to.have.members([200, 409])
    await exact()
  })

  it('opens a master folio when it is confirmed, once', async () => {
    const group = await create()
    const both = await Promise.all([act(group.id, 'confirm'), act(group.id, 'confirm')])
    expect(both.map((one) => one.status)).to.deep.equal([200, 200])
    const { masterFolioId, number, balance } = await read(group.id)
    expect(balance).to.equal(0)
    const folios = (await manager.get(`folios?groupId=${group.id}`)).body.data
    expect(folios).to.have.lengthOf(1)
    expect(folios[0]).to.include({ id: masterFolioId, number: `${number}-1`, kind: 'group', stage: 'deposit' })
    expect(await eventsOf(house, 'group.confirmed')).to.have.lengthOf(1)
    expect(refused(await act(group.id, 'option', { until: tomorrow() }))).to.deep.equal([409, 'invalid_transition'])
    await exact()
  })

  it('changes its allotment by the difference alone, also where two do at once', async () => {
    const group = await create()
    await act(group.id, 'confirm')
    expect((await allot(group.id, [rooms(1), rooms(1, { unitTypeId: house.suiteTypeId })])).status).to.equal(200)
    expect(await allotted()).to.equal(1)
    const replies = await Promise.all([1, 2, 3, 4, 2].map((quantity) => allot(group.id, [rooms(quantity)])))
    expect(replies.map((one) => one.status)).to.deep.equal([200, 200, 200, 200, 200])
    await exact()
    expect((await allot(group.id, [rooms(5)])).body.code).to.equal('sold_out')
    const { pickup } = await read(group.id)
    expect(pickup.reduce((sum: number, one: { allotted: number }) => sum + one.allotted, 0)).to.equal(
      (await allotted(30)) + (await allotted(31)),
    )
    for (const [nights, code] of [
      [[rooms(1), rooms(2)], 'validation_failed'],
      [[rooms(1, { to: house.day(33) })], 'validation_failed'],
      [[rooms(1, { from: house.day(32) })], 'validation_failed'],
      [[rooms(1, { unitTypeId: randomUUID() })], 'reference_not_found'],
    ] as const)
      expect((await allot(group.id, [...nights])).body.code).to.equal(code)
    await exact()
  })

  it('gives rooms back on request, at the fixed date, and each day within the days before', async () => {
    const group = await create()
    await act(group.id, 'confirm')
    await act(group.id, 'release', { from: house.day(31) })
    expect([await allotted(30), await allotted(31)]).to.deep.equal([3, 0])
    expect((await act(group.id, 'release')).status).to.equal(200)
    expect((await act(group.id, 'release')).status).to.equal(200)
    expect(await allotted()).to.equal(0)
    expect(await eventsOf(house, 'group.released')).to.have.lengthOf(2)
    await exact()
    const fixed = await create({ release: { type: 'fixed', date: house.day(0) } })
    const rolling = await create({
      release: { type: 'rolling', daysBefore: 30 },
      allotment: { nights: [rooms(1, { to: house.day(31) })] },
    })
    const later = await create({
      release: { type: 'rolling', daysBefore: 29 },
      allotment: { nights: [rooms(1, { unitTypeId: house.suiteTypeId })] },
    })
    for (const { id } of [fixed, rolling, later]) expect((await act(id, 'confirm')).status).to.equal(200)
    for (const { id } of await inPlatform((trx) => dueGroups(trx))) await house.inHouse((trx) => advanceGroup(trx, id))
    expect([await allotted(30), await allotted(31)]).to.deep.equal([0, 0])
    expect((await read(later.id)).pickup[0].allotted).to.equal(1)
    await exact()
  })

  it('is cancelled with its allotment, and then is left as it is', async () => {
    const group = await create()
    await act(group.id, 'confirm')
    const both = await Promise.all([
      act(group.id, 'cancel', { reason: 'changed_plans' }),
      act(group.id, 'cancel', { reason: 'changed_plans' }),
    ])
    expect(both.map((one) => one.status)).to.deep.equal([200, 200])
    expect(await eventsOf(house, 'group.cancelled')).to.have.lengthOf(1)
    expect(await allotted()).to.equal(0)
    for (const work of [
      allot(group.id, [rooms(1)]),
      act(group.id, 'confirm'),
      act(group.id, 'release'),
      manager.send('PATCH', `groups/${group.id}`, { name: 'Another' }),
    ])
      expect(refused(await work)).to.deep.equal([409, 'invalid_transition'])
    await exact()
  })

  it('keeps the pools of its types while its rooms are out of sale', async () => {
    const group = await create({ allotment: { nights: [rooms(1, { unitTypeId: house.suiteTypeId })] } })
    const repool = async (quantity: number) => {
      const pools = [{ unitPoolId: house.suitePoolId, quantity }]
      const { status, body } = await manager.send('PATCH', `unit-types/${house.suiteTypeId}`, { pools })
      return [status, body.code === 'SUITE' ? null : body.code]
    }
    expect(await repool(2), 'of an inquiry').to.deep.equal([200, null])
    expect(await repool(1)).to.deep.equal([200, null])
    await act(group.id, 'confirm')
    expect(await repool(2)).to.deep.equal([422, 'in_use'])
    await exact()
    await act(group.id, 'cancel', { reason: 'changed_plans' })
    expect(await repool(2)).to.deep.equal([200, null])
    await exact()
  })

  it('has 366 nights at most, each of which is a row of its allotment', async () => {
    const long = (departure: string) =>
      manager.send('POST', 'groups', {
        propertyId: house.propertyId,
        code: 'LONG',
        name: 'A crew',
        arrival: house.day(30),
        departure,
        ratePlanId: house.ratePlanId,
        allotment: { nights: [rooms(1, { to: departure })] },
      })
    expect(refused(await long(house.day(397)))).to.deep.equal([422, 'rule_violated'])
    const { status, body } = await long(house.day(396))
    expect([status, body.pickup?.length], JSON.stringify(body)).to.deep.equal([201, 366])
  })

  it('is made of what the house has, by those who may', async () => {
    const group = await create()
    const body = { propertyId: house.propertyId, code: group.code, name: 'Twice', ratePlanId: house.ratePlanId }
    const stay = { arrival: house.day(3), departure: house.day(4) }
    expect(refused(await manager.send('POST', 'groups', { ...body, ...stay }))).to.deep.equal([409, 'duplicate_code'])
    for (const [change, code] of [
      [{ ratePlanId: randomUUID() }, 'reference_not_found'],
      [{ departure: house.day(3) }, 'rule_violated'],
      [{ code: 'lower case' }, 'validation_failed'],
      [{ release: { type: 'fixed' } }, 'validation_failed'],
    ] as const)
      expect((await manager.send('POST', 'groups', { ...body, ...stay, ...change })).body.code).to.equal(code)
    const reception = await openDesk(world, house, 'receptionist')
    expect((await reception.send('POST', 'groups', { ...body, ...stay, code: 'MINE' })).status).to.equal(403)
    const finance = await openDesk(world, house, 'finance')
    expect((await finance.get(`groups/${group.id}`)).body.balance).to.equal(null)
    expect((await manager.get('groups?q=wedding')).body.meta.total).to.equal(1)
    expect((await manager.get(`groups?from=${house.day(32)}`)).body.meta.total).to.equal(0)
    for (const until of [
      new Date(Date.now() - 1000).toISOString(),
      new Date(Date.now() + 86_400_000 * 40).toISOString(),
    ])
      expect(refused(await act(group.id, 'option', { until }))).to.deep.equal([400, 'validation_failed'])
  })
})
