import { expect } from 'chai'
import { addMembership } from '../../db/auth/members/create.ts'
import { createRole } from '../../db/auth/roles.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { tickReportSchedules } from '../../jobs/reports.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { closeOpenDay, makeLateHouse, openDay } from '../night-audit/support.ts'
import { deskOf } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

type Member = Desk & { userId: string }
type Run = { id: string; status: string; startsOn: string; parameters: object; withheld: number; propertyIds: string[] }

describe('schedules of reports and their owners', () => {
  const world = useWorld()
  let house: House
  let owner: Member

  const member = async (role: string, propertyIds: string[] | null = null, of: House = house): Promise<Member> => {
    const person = await makeUser()
    await of.inHouse((trx) => addMembership(trx, { userId: person.userId, role, propertyIds }))
    return { ...deskOf(world, of.tenantId, (await signIn(world, person)).token), userId: person.userId }
  }
  const made = async (desk: Member, body: Record<string, unknown> = {}): Promise<{ id: string }> => {
    const { status, body: schedule } = await desk.send('POST', 'reports/schedules', {
      name: 'Ocupação',
      report: 'occupancy',
      parameters: { period: 'yesterday' },
      format: 'csv',
      trigger: { type: 'clock', every: 'day', at: '06:30', timeZone: 'America/Sao_Paulo' },
      recipients: [desk.userId],
      ...body,
    })
    expect(status, JSON.stringify(schedule)).to.equal(201)
    return schedule as { id: string }
  }
  const runsOf = (id: string, of: House = house) =>
    of.inHouse((trx) => sql<Run>(trx, `select * from report_run where schedule_id = ? order by created_at`, [id]))
  const isDue = (id: string, of: House = house) =>
    of.inHouse((trx) =>
      sql(trx, `update report_schedule set next_run_at = now() - interval '1 minute' where id = ?`, [id]),
    )
  const tick = async () => {
    await inPlatform((trx) => enqueue(trx, tickReportSchedules, {}))
    await world.drain({ kinds: ['reports.tick-schedules', 'reports.run'] })
  }
  const lock = (userId: string) =>
    inPlatform((trx) => sql(trx, `update app_user set status = 'locked', locked_at = now() where id = ?`, [userId]))
  beforeEach(() => forgetLimits(world))

  it('make the same day of two houses, where a schedule goes over from one to the other', async () => {
    house = await makeLateHouse(2, { units: 1 })
    owner = await member('owner')
    const other = await makeLateHouse(2, { units: 1, tenantId: house.tenantId })
    const closes = ({ propertyId }: House) => ({ type: 'business_day_closed', propertyId })
    const parameters = ({ propertyId }: House) => ({ propertyId: [propertyId], period: 'today' })
    const { id } = await made(owner, { trigger: closes(house), parameters: parameters(house) })
    await closeOpenDay(house)
    await tick()
    const { status } = await owner.send('PATCH', `reports/schedules/${id}`, {
      trigger: closes(other),
      parameters: parameters(other),
    })
    expect(status).to.equal(200)
    await closeOpenDay(other)
    await tick()
    const day = house.day(-2)
    expect((await runsOf(id)).map(({ status: ended, startsOn }) => [ended, startsOn])).to.deep.equal([
      ['succeeded', day],
      ['succeeded', day],
    ])
  })

  it('are checked on the day that closes next, whatever day it is on the wall', async () => {
    house = await makeLateHouse(2, { units: 1 })
    owner = await member('owner')
    const { id } = await made(owner, {
      report: 'daily_revenue',
      parameters: { propertyId: house.propertyId, period: 'today' },
      trigger: { type: 'business_day_closed', propertyId: house.propertyId },
    })
    const day = await openDay(house)
    await closeOpenDay(house)
    await tick()
    expect((await runsOf(id)).map(({ status, parameters }) => [status, parameters])).to.deep.equal([
      ['succeeded', { propertyId: house.propertyId, date: day }],
    ])
  })

  it('end with a locked owner, and tell no locked recipient', async () => {
    house = await makeHouse({ units: 1 })
    owner = await member('owner')
    const manager = await member('manager')
    const { id } = await made(owner, { recipients: [owner.userId, manager.userId] })
    await lock(manager.userId)
    await isDue(id)
    await tick()
    expect((await runsOf(id)).map(({ status, withheld }) => [status, withheld])).to.deep.equal([['succeeded', 1]])
    const { id: ofManager } = await made(owner)
    await house.inHouse((trx) =>
      sql(trx, `update report_schedule set owner_id = ? where id = ?`, [manager.userId, ofManager]),
    )
    await isDue(ofManager)
    await tick()
    expect(await runsOf(ofManager)).to.deep.equal([])
    const { body } = await owner.get('reports/schedules')
    const found = (body.data as { id: string }[]).find((one) => one.id === ofManager)
    expect(found).to.include({ active: false, disabledBecause: 'forbidden' })
  })

  it('are found whatever many of another tenant cannot be made yet', async () => {
    house = await makeHouse({ units: 1 })
    owner = await member('owner')
    const { id } = await made(owner)
    const busy = await makeHouse({ units: 1 })
    const many = await made(await member('owner', null, busy))
    await busy.inHouse(async (trx) => {
      await sql(
        trx,
        `insert into report_run (report, parameters, format, locale, created_by, formula_version)
         select 'occupancy', '{}', 'csv', 'en', gen_random_uuid(), 1 from generate_series(1, 5)`,
      )
      await sql(
        trx,
        `insert into report_schedule (name, report, parameters, format, locale, trigger, recipients, owner_id, created_by, active, next_run_at)
         select name, report, parameters, format, locale, trigger, recipients, owner_id, created_by, true, now() - interval '1 hour'
         from report_schedule cross join generate_series(1, 420) where id = ?`,
        [many.id],
      )
    })
    await isDue(id)
    await tick()
    expect((await runsOf(id)).map(({ status }) => status)).to.deep.equal(['succeeded'])
  })

  it('hold what the maker had when asking and still has, so that none reads more of a file', async () => {
    house = await makeHouse({ units: 1 })
    owner = await member('owner')
    const other = await makeHouse({ units: 1, tenantId: house.tenantId })
    const manager = await member('manager', [house.propertyId])
    const start = async () => {
      const { status, body } = await manager.send('POST', 'reports/runs', { report: 'occupancy', format: 'json' })
      expect(status, JSON.stringify(body)).to.equal(201)
      return body.id as string
    }
    const readsOf = async (id: string): Promise<unknown> => {
      await world.drain({ kinds: ['reports.run'] })
      const { body } = await manager.get(`reports/runs/${id}/file`)
      return (body as { meta: { propertyIds: string[] } }).meta.propertyIds
    }
    const grants = (all: boolean) =>
      house.inHouse((trx) =>
        sql(trx, `update membership set all_properties = ? where user_id = ?`, [all, manager.userId]),
      )
    const narrow = await start()
    await grants(true)
    expect(await readsOf(narrow)).to.deep.equal([house.propertyId])
    const wide = await start()
    await grants(false)
    expect(await readsOf(wide)).to.deep.equal([house.propertyId])
    expect(other.tenantId).to.equal(house.tenantId)
  })

  it('keep a time that is due, and a day that has closed, where their trigger is sent once more as it is', async () => {
    house = await makeLateHouse(2, { units: 1 })
    owner = await member('owner')
    const clock = { type: 'clock', every: 'day', at: '06:30', timeZone: 'America/Sao_Paulo' }
    const closes = { type: 'business_day_closed', propertyId: house.propertyId }
    const { id: byClock } = await made(owner, { trigger: clock })
    const { id: byDay } = await made(owner, { trigger: closes, parameters: { period: 'today' } })
    await isDue(byClock)
    await closeOpenDay(house)
    for (const [id, trigger] of [
      [byClock, clock],
      [byDay, closes],
    ] as const) {
      const { status } = await owner.send('PATCH', `reports/schedules/${id}`, { name: 'Todos os dias', trigger })
      expect(status).to.equal(200)
    }
    await tick()
    for (const id of [byClock, byDay])
      expect((await runsOf(id)).map(({ status }) => status)).to.deep.equal(['succeeded'])
    // Another time begins anew: what was due is not made up for.
    await isDue(byClock)
    const { body } = await owner.send('PATCH', `reports/schedules/${byClock}`, { trigger: { ...clock, at: '06:45' } })
    expect(Date.parse(String(body.nextRunAt))).to.be.above(Date.now())
    await tick()
    expect(await runsOf(byClock)).to.have.length(1)
  })

  it('are changed and run though a recipient has left, who is told of nothing and not named again', async () => {
    house = await makeHouse({ units: 1 })
    owner = await member('owner')
    const guest = await member('manager')
    const recipients = [owner.userId, guest.userId]
    const { id } = await made(owner, { recipients })
    await house.inHouse((trx) =>
      sql(trx, `update membership set status = 'deactivated' where user_id = ?`, [guest.userId]),
    )
    const change = (body: object) => owner.send('PATCH', `reports/schedules/${id}`, body)
    const { status, body } = await change({ name: 'Ocupação de ontem' })
    expect([status, body.name, body.recipients]).to.deep.equal([200, 'Ocupação de ontem', recipients])
    await isDue(id)
    await tick()
    expect((await runsOf(id)).map((run) => [run.status, run.withheld])).to.deep.equal([['succeeded', 1]])
    expect((await change({ recipients })).body.code).to.equal('recipient_not_member')
    expect((await change({ recipients: [owner.userId] })).status).to.equal(200)
  })

  it('follow the days of properties that their owner sees', async () => {
    house = await makeHouse({ units: 1 })
    owner = await member('owner')
    const other = await makeHouse({ units: 1, tenantId: house.tenantId })
    const manager = await member('manager', [house.propertyId])
    const parameters = { propertyId: [house.propertyId], period: 'today' }
    const of = ({ propertyId }: House) => ({
      parameters,
      trigger: { type: 'business_day_closed', propertyId },
      ownerId: manager.userId,
    })
    const { id } = await made(manager, of(house))
    const { status: ofManager } = await manager.send('PATCH', `reports/schedules/${id}`, { trigger: of(other).trigger })
    expect(ofManager).to.equal(403)
    for (const { status, body } of [
      await owner.send('PATCH', `reports/schedules/${id}`, { trigger: of(other).trigger }),
      await owner.send('POST', 'reports/schedules', {
        name: 'x',
        report: 'occupancy',
        format: 'csv',
        recipients: [owner.userId],
        ...of(other),
      }),
    ])
      expect([status, body.code, (body.errors as { field: string }[] | undefined)?.[0]?.field]).to.deep.equal([
        403,
        'forbidden',
        'trigger.propertyId',
      ])
  })

  it('tell of a file those alone who may fetch it', async () => {
    house = await makeHouse({ units: 1 })
    owner = await member('owner')
    const [all, part] = [await member('auditor'), await member('auditor')]
    for (const [{ userId }, actions] of [
      [all, ['read', 'export']],
      [part, ['read']],
    ] as const)
      await house.inHouse(async (trx) => {
        const permissions = [
          { subject: 'ReportRun', actions: [...actions] },
          { subject: 'OperationalReport', actions: ['read'] },
        ]
        const { id } = await createRole(trx, { key: `looks-${actions.length}`, name: 'Looks', permissions })
        await sql(trx, `update membership set role = null, role_id = ? where user_id = ?`, [id, userId])
      })
    const { id } = await made(owner, { recipients: [all.userId, part.userId] })
    await isDue(id)
    await tick()
    const [run] = await house.inHouse((trx) =>
      sql<{ id: string; sharedWith: string[]; withheld: number }>(
        trx,
        `select id, shared_with, withheld from report_run where schedule_id = ?`,
        [id],
      ),
    )
    expect([run?.sharedWith, run?.withheld]).to.deep.equal([[all.userId], 1])
    const statusOf = async (desk: Member) => (await desk.get(`reports/runs/${run?.id}/file`)).status
    expect([await statusOf(all), await statusOf(part)]).to.deep.equal([200, 403])
  })
})
