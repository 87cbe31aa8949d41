import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { advanceNightAudit } from '../../db/night-audit/advance.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { House } from '../support/factories.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { makeLateHouse, makeStays, runAudit } from './support.ts'

describe('The night audit over HTTP', () => {
  const world = useWorld()
  let house: House
  let desk: Desk

  before(async () => {
    house = await makeLateHouse(1)
    desk = await openDesk(world, house, 'receptionist')
    await makeStays(house, 1, { from: -1, checkedIn: true })
    await makeStays(house, 1, { from: -1 })
  })
  const ask = (change: object = {}, by = desk) =>
    by.send('POST', 'night-audits', { propertyId: house.propertyId, businessDate: house.day(-1), ...change })
  const count = async (table: string) =>
    (await house.inHouse((trx) => sql<{ count: number }>(trx, `select count(*) as count from ${table}`)))[0]?.count

  it('previews, and stores nothing', async () => {
    const { status, body } = await ask({ dryRun: true })
    expect([status, body]).to.deep.equal([
      200,
      {
        dryRun: true,
        businessDate: house.day(-1),
        exceptions: [],
        exceptionCount: 0,
        noShows: 1,
        charges: { nights: 1, extras: 2 },
      },
    ])
    expect([await count('night_audit'), await count('folio_line')]).to.deep.equal([0, 0])
  })

  it('refuses a day that is not over, and any but the open one', async () => {
    const wrong = await ask({ businessDate: house.today })
    expect([wrong.status, wrong.body.code]).to.deep.equal([422, 'wrong_business_date'])
    const early = await makeHouse({ tenantId: house.tenantId })
    const tooEarly = await ask({ propertyId: early.propertyId, businessDate: early.today })
    expect([tooEarly.status, tooEarly.body.code]).to.deep.equal([422, 'business_date_not_over'])
  })

  it('runs once, is answered again as it stands, and is read with its steps and what it found', async () => {
    const first = await ask()
    expect([first.status, first.body.status, first.body.step]).to.deep.equal([201, 'queued', null])
    const again = await ask()
    expect([again.status, again.body.id]).to.deep.equal([200, first.body.id])
    await world.drain({ kinds: ['ledger.close-business-day'] })
    const { status, body } = await desk.get(`night-audits/${first.body.id}`)
    expect(status).to.equal(200)
    expect(body).to.include({ status: 'succeeded', step: 'roll', error: null, exceptionCount: 0 })
    expect(body.startedBy).to.be.a('string')
    expect(body.steps.map((one: { step: string }) => one.step)).to.deep.equal([
      'exceptions',
      'no_shows',
      'room_charges',
      'extra_charges',
      'snapshot',
      'housekeeping',
      'roll',
    ])
    const property = await desk.get(`properties/${house.propertyId}`)
    expect(property.body.businessDate).to.equal(house.today)
    expect((await ask()).body).to.include({ id: first.body.id, status: 'succeeded' })
  })

  it('lists by property, status and day, the newest first', async () => {
    const listed = async (query: string) => {
      const { body } = await desk.get(`night-audits?${query}`)
      return [body.meta.total, body.data.map((one: { businessDate: string }) => one.businessDate)]
    }
    const day = house.day(-1)
    const ofHouse = `propertyId=${house.propertyId}`
    expect(await listed(ofHouse)).to.deep.equal([1, [day]])
    expect(await listed(`${ofHouse}&status=succeeded&from=${day}&to=${day}`)).to.deep.equal([1, [day]])
    expect(await listed(`${ofHouse}&status=failed`)).to.deep.equal([0, []])
    expect(await listed(`from=${house.today}`)).to.deep.equal([0, []])
    expect(await listed(`to=${house.day(-2)}`)).to.deep.equal([0, []])
  })

  it('is for those who may close a day, of their own houses and tenant', async () => {
    const other = await makeLateHouse(1, { tenantId: house.tenantId })
    const limited = await openDesk(world, house, 'receptionist', [other.propertyId])
    const { body } = await desk.get(`night-audits?propertyId=${house.propertyId}`)
    const { id } = body.data[0] as { id: string }
    expect((await limited.get(`night-audits/${id}`)).status).to.equal(404)
    expect((await limited.get('night-audits')).body.meta.total).to.equal(0)
    expect([(await ask({}, limited)).status, (await ask({ dryRun: true }, limited)).status]).to.deep.equal([403, 403])
    expect((await ask({ propertyId: other.propertyId, businessDate: other.day(-1) }, limited)).status).to.equal(201)

    const housekeeper = await openDesk(world, house, 'housekeeper')
    expect([(await ask({}, housekeeper)).status, (await housekeeper.get('night-audits')).status]).to.deep.equal([
      403, 403,
    ])
    const auditor = await openDesk(world, house, 'auditor')
    expect([(await ask({}, auditor)).status, (await auditor.get(`night-audits/${id}`)).status]).to.deep.equal([
      403, 200,
    ])

    const foreign = await makeLateHouse(1)
    const stranger = await openDesk(world, foreign, 'owner')
    expect((await stranger.get(`night-audits/${id}`)).status).to.equal(404)
    expect((await ask({}, stranger)).status).to.equal(404)
    expect((await ask({ propertyId: randomUUID() })).status).to.equal(404)
    expect(await foreign.inHouse((trx) => sql(trx, `select id from night_audit`))).to.deep.equal([])
  })

  it('keeps each exception of the day, up to the moment of its close, and shows them page by page', async () => {
    const own = await makeLateHouse(1)
    const owner = await openDesk(world, own, 'owner')
    const [stay] = await makeStays(own, 1, { from: -1, checkedIn: true })
    const waive = (count: number, rule: string) =>
      own.inHouse((trx) =>
        sql(
          trx,
          `insert into reservation_event (reservation_id, transition, command, "to", override, actor, business_date, request_id)
           select ?, 'T14', 'change', 'checked_in', jsonb_build_object('rules', jsonb_build_array(cast(? as text) || n)), '{"type":"system"}', ?, 'a test'
           from generate_series(1, ?) n`,
          [stay, rule, own.day(-1), count],
        ),
      )
    await waive(1_200, 'balance')
    const { body } = await owner.send('POST', 'night-audits', {
      propertyId: own.propertyId,
      businessDate: own.day(-1),
    })
    for (let step = null; step !== 'housekeeping';) {
      await own.inHouse((trx) => advanceNightAudit(trx, body.id, body.id))
      ;({ step } = (await owner.get(`night-audits/${body.id}`)).body)
    }
    await waive(1, 'late')
    await runAudit(own, body.id, { runner: body.id })
    const page = async (query: string) => (await owner.get(`night-audits/${body.id}${query}`)).body
    const first = await page('')
    const { exceptionCount: total } = first
    expect([first.status, first.exceptions.length]).to.deep.equal(['succeeded', 1_000])
    expect(first.meta).to.deep.equal({ page: 1, limit: 1_000, total, totalPages: 2 })
    const second = await page('?page=2')
    const messages = [...first.exceptions, ...second.exceptions].map((one: { message: string }) => one.message)
    expect(messages).to.have.lengthOf(total)
    const waived = new Set(messages.filter((message) => /waived (balance|late)\d+$/.test(message)))
    expect([waived.size, messages.some((message) => message.endsWith('waived late1'))]).to.deep.equal([1_201, true])
    expect((await page(`?page=${total}&limit=1`)).exceptions).to.deep.equal(second.exceptions.slice(-1))
  })
})
