import { expect } from 'chai'
import { addMembership } from '../../db/auth/members/create.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { runSchedule } from '../../db/reports/index.ts'
import { daysOfPeriod, nextSlot } from '../../db/reports/rules/schedule.ts'
import { tickReportSchedules } from '../../jobs/reports.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { closeOpenDay, makeLateHouse } from '../night-audit/support.ts'
import { deskOf } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

type Member = Desk & { userId: string; token: string }
type Run = {
  id: string
  status: string
  slot: string
  createdBy: string
  sharedWith: string[]
  withheld: number
  startsOn: string | null
  endsOn: string | null
  provisional: boolean | null
}
type Schedule = {
  id: string
  active: boolean
  nextRunAt: string | null
  failures: number
  disabledBecause: string | null
  version: number
}

describe('schedules of reports', () => {
  const world = useWorld()
  let house: House
  let owner: Member

  const member = async (role: string, propertyIds: string[] | null = null): Promise<Member> => {
    const person = await makeUser()
    await house.inHouse((trx) => addMembership(trx, { userId: person.userId, role, propertyIds }))
    const { token } = await signIn(world, person)
    return { ...deskOf(world, house.tenantId, token), token, userId: person.userId }
  }
  beforeEach(async () => {
    await forgetLimits(world)
    house = await makeHouse({ units: 1 })
    owner = await member('owner')
  })

  const daily = { type: 'clock', every: 'day', at: '06:30', timeZone: 'America/Sao_Paulo' }
  const ask = (desk: Desk, body: Record<string, unknown> = {}) =>
    desk.send('POST', 'reports/schedules', {
      name: 'Balancete',
      report: 'trial_balance',
      parameters: { bookId: house.bookId, period: 'last_month' },
      format: 'csv',
      trigger: daily,
      recipients: [owner.userId],
      ...body,
    })
  const made = async (desk: Desk = owner, body: Record<string, unknown> = {}): Promise<Schedule> => {
    const { status, body: schedule } = await ask(desk, body)
    expect(status, JSON.stringify(schedule)).to.equal(201)
    return schedule as Schedule
  }
  const set = (id: string, change: string) =>
    house.inHouse((trx) => sql(trx, `update report_schedule set ${change} where id = ?`, [id]))
  const find = async (id: string): Promise<Schedule> => {
    const { body } = await owner.get('reports/schedules')
    return (body.data as Schedule[]).find((one) => one.id === id) as Schedule
  }
  const runsOf = (id: string) =>
    house.inHouse((trx) => sql<Run>(trx, `select * from report_run where schedule_id = ? order by slot`, [id]))
  const tick = async () => {
    await inPlatform((trx) => enqueue(trx, tickReportSchedules, {}))
    await world.drain({ kinds: ['reports.tick-schedules', 'reports.run'] })
  }
  const mailsOf = (runId: string) =>
    inPlatform((trx) =>
      sql<{ userId: string }>(
        trx,
        `select user_id from user_mail where kind = 'report_ready' and reference_id = ? order by 1`,
        [runId],
      ),
    )

  it('make one run for each time, whatever ticks at once, and mail a link to those who may read it', async () => {
    const [reader, part, cleaner] = [
      await member('finance'),
      await member('finance', [house.propertyId]),
      await member('housekeeper'),
    ]
    const { id, nextRunAt } = await made(owner, {
      recipients: [owner.userId, reader.userId, part.userId, cleaner.userId],
    })
    expect(new Date(nextRunAt ?? 0).getTime()).to.be.greaterThan(Date.now())
    await tick()
    expect(await runsOf(id)).to.deep.equal([])
    await set(id, `next_run_at = now() - interval '1 hour'`)
    const done = await Promise.all([1, 2, 3, 4].map(() => inTenant(house.tenantId, (trx) => runSchedule(trx, id))))
    expect(done.toSorted()).to.deep.equal(['done', 'nothing', 'nothing', 'nothing'])
    await tick()
    const [run, ...others] = await runsOf(id)
    expect(others).to.deep.equal([])
    expect(run).to.include({ status: 'succeeded', createdBy: owner.userId, withheld: 2 })
    expect(run?.sharedWith.toSorted()).to.deep.equal([owner.userId, reader.userId].toSorted())
    expect((await mailsOf(run?.id ?? '')).map(({ userId }) => userId)).to.deep.equal(
      [owner.userId, reader.userId].toSorted(),
    )
    // A reader may take what he was told of, and another colleague may not.
    expect((await reader.get(`reports/runs/${run?.id}`)).status).to.equal(200)
    const file = await fetch(`${world.baseUrl}/api/tenants/${house.tenantId}/reports/runs/${run?.id}/file`, {
      headers: { authorization: `Bearer ${reader.token}` },
    })
    expect(file.status).to.equal(200)
    expect((await part.get(`reports/runs/${run?.id}`)).status).to.equal(404)
    expect((await (await member('finance')).get(`reports/runs/${run?.id}`)).status).to.equal(404)
    await world.drain({ kinds: ['messages.send-user-mail'] })
    expect(new Date((await find(id)).nextRunAt ?? 0).getTime()).to.be.greaterThan(Date.now())
  })

  it('make a time that was missed by less than a day once, and drop older ones', async () => {
    const { id } = await made()
    await set(id, `next_run_at = now() - interval '3 days'`)
    await tick()
    const runs = await runsOf(id)
    // Of the times that were missed the last is less than a day ago.
    expect(runs).to.have.length(1)
    expect(Date.now() - new Date(runs[0]?.slot ?? 0).getTime()).to.be.lessThan(86_400_000)
    const { id: weekly } = await made(owner, {
      trigger: { ...daily, every: 'week', weekDay: ((new Date().getUTCDay() + 2) % 7) + 1 },
    })
    await set(weekly, `next_run_at = next_run_at - interval '7 days'`)
    await tick()
    expect(await runsOf(weekly)).to.deep.equal([])
    expect(new Date((await find(weekly)).nextRunAt ?? 0).getTime()).to.be.greaterThan(Date.now())
  })

  it('run after each close of a business day, for that day', async () => {
    house = await makeLateHouse(2, { units: 1 })
    owner = await member('owner')
    const { id } = await made(owner, {
      report: 'occupancy',
      parameters: { propertyId: [house.propertyId], period: 'today' },
      format: 'pdf',
      trigger: { type: 'business_day_closed', propertyId: house.propertyId },
    })
    await tick()
    expect(await runsOf(id)).to.deep.equal([])
    await closeOpenDay(house)
    await tick()
    await tick()
    await closeOpenDay(house)
    await tick()
    const runs = await runsOf(id)
    expect(runs.map(({ slot, startsOn, endsOn, status }) => [slot, startsOn, endsOn, status])).to.deep.equal(
      [-2, -1].map((days) => [`${house.day(days)} ${house.propertyId}`, house.day(days), house.day(days), 'succeeded']),
    )
  })

  it('are of the open business day, with its figures so far, while the house is behind the clock', async () => {
    const late = await makeLateHouse(3, { units: 1, tenantId: house.tenantId })
    const schedule = { report: 'daily_revenue', format: 'json' }
    for (const period of ['today', 'yesterday', 'month_to_date']) {
      const { id } = await made(owner, { ...schedule, parameters: { propertyId: late.propertyId, period } })
      await set(id, `next_run_at = now()`)
      await tick()
      const [run] = await runsOf(id)
      expect(run, period).to.include({ status: 'succeeded', endsOn: late.day(-3), provisional: true })
      expect(await find(id), period).to.include({ failures: 0, active: true })
    }
    const { status, body } = await ask(owner, {
      ...schedule,
      parameters: { propertyId: late.propertyId, period: 'next_30_days' },
    })
    expect([status, body.code]).to.deep.equal([400, 'range_invalid'])
  })

  it('stop when the owner has lost the right, and at the fifth failure in a row', async () => {
    const finance = await member('finance')
    const { id } = await made(finance)
    await set(id, `next_run_at = now()`)
    await house.inHouse((trx) =>
      sql(trx, `update membership set role = 'receptionist' where user_id = ?`, [finance.userId]),
    )
    await tick()
    expect(await find(id)).to.include({ active: false, nextRunAt: null, disabledBecause: 'forbidden' })
    expect(await runsOf(id)).to.deep.equal([])

    const failing = await made()
    await set(failing.id, `parameters = '{"bookId": "00000000-0000-4000-8000-000000000000"}'`)
    for (let count = 1; count <= 5; count += 1) {
      await set(failing.id, `next_run_at = now() - make_interval(mins => ${count})`)
      await tick()
      expect(await find(failing.id)).to.include({ failures: count, active: count < 5 })
    }
    const events = await house.inHouse((trx) =>
      sql<{ id: string }>(
        trx,
        `select data ->> 'reportScheduleId' as id from event where type = 'report_schedule.disabled' order by occurred_at`,
      ),
    )
    expect(events.map((one) => one.id)).to.deep.equal([id, failing.id])
    const { status, body } = await owner.send('PATCH', `reports/schedules/${failing.id}`, {
      active: true,
      parameters: { bookId: house.bookId },
    })
    expect([status, body.failures, body.disabledBecause]).to.deep.equal([200, 0, null])
  })

  it('wait while their last run is under way, or the tenant has as many as it may have', async () => {
    const { id } = await made()
    await set(id, `next_run_at = now() - interval '1 minute'`)
    expect(await house.inHouse((trx) => runSchedule(trx, id))).to.equal('done')
    await set(id, `next_run_at = now() - interval '1 second'`)
    expect(await house.inHouse((trx) => runSchedule(trx, id))).to.equal('nothing')
    await tick()
    await tick()
    expect(await runsOf(id)).to.have.length(2)
  })

  it('are those of their owner: others find nothing, owners may take them over', async () => {
    const [one, two, auditor] = [await member('finance'), await member('finance'), await member('auditor')]
    const { id } = await made(one)
    expect((await two.get('reports/schedules')).body.data).to.deep.equal([])
    expect((await two.send('PATCH', `reports/schedules/${id}`, { active: false })).status).to.equal(404)
    expect((await two.send('DELETE', `reports/schedules/${id}`)).status).to.equal(404)
    expect((await one.send('PATCH', `reports/schedules/${id}`, { ownerId: two.userId })).status).to.equal(403)
    expect((await ask(one, { ownerId: two.userId })).status).to.equal(403)
    expect((await auditor.get('reports/schedules')).body.data).to.have.length(1)
    expect((await auditor.send('PATCH', `reports/schedules/${id}`, { active: false })).status).to.equal(403)
    const taken = await owner.send('PATCH', `reports/schedules/${id}`, { ownerId: two.userId, name: 'Mine' })
    expect([taken.status, taken.body.ownerId, taken.body.name]).to.deep.equal([200, two.userId, 'Mine'])
    expect((await two.send('DELETE', `reports/schedules/${id}`)).status).to.equal(200)
    expect((await owner.get('reports/schedules')).body.data).to.deep.equal([])
  })

  it('refuse what a run would refuse, strangers, and days beside a period', async () => {
    const refused = async (body: Record<string, unknown>, desk: Desk = owner) => {
      const { status, body: told } = await ask(desk, body)
      return `${status} ${told.code as string} ${(told.errors as { field: string }[] | undefined)?.[0]?.field ?? ''}`.trim()
    }
    const stranger = await makeUser()
    expect(await refused({ recipients: [stranger.userId] })).to.contain('422 recipient_not_member')
    expect(await refused({ parameters: { period: 'ever' } })).to.equal('400 validation_failed parameters.period')
    expect(await refused({ parameters: { period: 'today', startDate: '2026-01-01' } })).to.equal(
      '400 validation_failed parameters.startDate',
    )
    expect(await refused({ parameters: { view: 'departments' } })).to.contain('400 validation_failed parameters')
    expect(await refused({ parameters: { bookId: house.propertyId } })).to.equal('404 not_found')
    expect(await refused({ trigger: { ...daily, weekDay: 2 } })).to.equal('400 validation_failed trigger.weekDay')
    expect(await refused({ trigger: { ...daily, at: '25:00' } })).to.contain('400 validation_failed trigger')
    expect(await refused({ trigger: { ...daily, timeZone: 'Mars/Olympus' } })).to.contain(
      '400 validation_failed trigger',
    )
    expect(await refused({ trigger: { type: 'business_day_closed', propertyId: house.bookId } })).to.contain(
      '422 reference_not_found',
    )
    expect(await refused({}, await member('receptionist'))).to.contain('403')
    expect(await refused({}, await member('relations'))).to.contain('403')
    await house.inHouse((trx) =>
      sql(
        trx,
        `insert into report_schedule (name, report, format, locale, trigger, recipients, owner_id, created_by, active)
         select 'x', 'journal', 'csv', 'en', '{"type": "clock"}', array[gen_random_uuid()], gen_random_uuid(), gen_random_uuid(), false from generate_series(1, 100)`,
      ),
    )
    expect(await refused({})).to.contain('422 schedule_limit')
  })

  it('follow the clock of their zone, over its changes and short months', () => {
    const clock = { type: 'clock', every: 'day', at: '02:30', timeZone: 'Europe/Lisbon' } as const
    // 29 March 2026 has no 01:30 there; at 02:30 it is summer.
    expect(nextSlot(clock, new Date('2026-03-28T12:00:00Z')).at.toISOString()).to.equal('2026-03-29T01:30:00.000Z')
    const skipped = nextSlot({ ...clock, at: '01:30' }, new Date('2026-03-28T12:00:00Z'))
    expect(skipped.at.toISOString()).to.equal('2026-03-29T01:00:00.000Z')
    const twice = nextSlot({ ...clock, at: '01:30' }, new Date('2026-10-24T12:00:00Z'))
    expect(twice.at.toISOString()).to.equal('2026-10-25T00:30:00.000Z')
    expect(nextSlot({ ...clock, at: '01:30' }, twice.at).date).to.equal('2026-10-26')
    const monthly = { ...clock, every: 'month', day: 31 } as const
    expect(nextSlot(monthly, new Date('2026-02-01T00:00:00Z')).date).to.equal('2026-02-28')
    expect(nextSlot(monthly, new Date('2028-02-01T00:00:00Z')).date).to.equal('2028-02-29')
    expect(nextSlot({ ...clock, every: 'week', weekDay: 1 }, new Date('2026-11-23T12:00:00Z')).date).to.equal(
      '2026-11-30',
    )
    expect(daysOfPeriod('last_week', '2026-11-23')).to.deep.equal({ from: '2026-11-16', to: '2026-11-22' })
    expect(daysOfPeriod('last_month', '2026-03-31')).to.deep.equal({ from: '2026-02-01', to: '2026-02-28' })
    expect(daysOfPeriod('last_year', '2028-02-29')).to.deep.equal({ from: '2027-01-01', to: '2027-12-31' })
  })
})
