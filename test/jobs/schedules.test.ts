import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { declareSchedules, dueSlots, fireDue, slotAfter } from '../../db/jobs/schedules.ts'
import { every } from '../../jobs/job.ts'
import type { Schedule } from '../../jobs/job.ts'
import { startScheduler } from '../../workers/scheduler.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { tick } from './support.ts'

const at = (text: string) => new Date(text)
const iso = (dates: Date[]) => dates.map((date) => date.toISOString())
type Slot = { uniqueKey: string }

describe('slots of schedules', () => {
  it('seconds count from the epoch; cron keeps the local hour over a change of the clocks', () => {
    expect(slotAfter({ everySeconds: 15 }, at('2026-11-20T12:00:07Z')).toISOString()).to.equal(
      '2026-11-20T12:00:15.000Z',
    )
    expect(slotAfter({ everySeconds: 15 }, at('2026-11-20T12:00:15Z')).toISOString()).to.equal(
      '2026-11-20T12:00:30.000Z',
    )
    const lisbon = { cron: '30 3 * * *', timeZone: 'Europe/Lisbon' }
    expect(slotAfter(lisbon, at('2026-10-24T12:00:00Z')).toISOString()).to.equal('2026-10-25T03:30:00.000Z')
    expect(slotAfter(lisbon, at('2026-10-23T12:00:00Z')).toISOString()).to.equal('2026-10-24T02:30:00.000Z')
  })

  it('missed slots follow backfill', () => {
    const hourly = { cron: '0 * * * *', timeZone: 'UTC' }
    const next = at('2026-11-20T09:00:00Z')
    const now = at('2026-11-20T11:20:00Z')
    expect(iso(dueSlots({ ...hourly, backfill: 'all' }, next, now))).to.deep.equal([
      '2026-11-20T09:00:00.000Z',
      '2026-11-20T10:00:00.000Z',
      '2026-11-20T11:00:00.000Z',
    ])
    expect(iso(dueSlots({ ...hourly, backfill: 'last' }, next, now))).to.deep.equal(['2026-11-20T11:00:00.000Z'])
    expect(iso(dueSlots({ ...hourly, backfill: 'none' }, next, now))).to.deep.equal([])
    expect(iso(dueSlots({ ...hourly, backfill: 'none' }, next, at('2026-11-20T09:00:20Z')))).to.deep.equal([
      '2026-11-20T09:00:00.000Z',
    ])
    expect(dueSlots({ ...hourly, backfill: 'all' }, now, next)).to.deep.equal([])
  })
})

describe('schedulers', () => {
  const held = useDatabase()
  beforeEach(() => held.database.admin.raw(`delete from jobs; delete from schedule`))
  const slots = () =>
    inPlatform((trx) => sql<Slot>(trx, `select unique_key from jobs where kind = ? order by seq`, [tick.name]))
  const everySlot: Schedule = { job: tick, everySeconds: 1, backfill: 'all' }

  it('two schedulers make one job per slot, and miss none', async () => {
    const schedulers = await Promise.all([
      startScheduler({ schedules: [everySlot] }),
      startScheduler({ schedules: [everySlot] }),
    ])
    try {
      await until(async () => (await slots()).length >= 3)
    } finally {
      await Promise.all(schedulers.map((each) => each.stop()))
    }
    const keys = (await slots()).map((slot) => slot.uniqueKey)
    expect(new Set(keys).size).to.equal(keys.length)
    const times = keys.map((key) => Date.parse(key.slice('slot:'.length)) / 1000)
    for (const [index, time] of times.entries()) if (index > 0) expect(time).to.equal((times[index - 1] ?? 0) + 1)
  })

  it('cron slots that nobody was there for: the last, all, or none of them becomes a job, once, whoever comes first', async () => {
    // Half a day from now: none comes meanwhile, and the last one lies beyond the minute in which it is not yet missed.
    const hour = (new Date().getUTCHours() + 12) % 24
    const daily = (backfill: Schedule['backfill']): Schedule => ({
      job: tick,
      cron: `0 ${hour} * * *`,
      timeZone: 'UTC',
      backfill,
    })
    const slotOf = (daysAgo: number) => {
      const slot = new Date(Date.now() - hour * 3_600_000 - daysAgo * 86_400_000)
      return `slot:${slot.toISOString().slice(0, 10)}T${String(hour).padStart(2, '0')}:00:00.000Z`
    }
    for (const [backfill, expected] of [
      ['last', [slotOf(0)]],
      ['all', [slotOf(3), slotOf(2), slotOf(1), slotOf(0)]],
      ['none', []],
    ] as const) {
      await held.database.admin.raw(`delete from jobs; delete from schedule`)
      const scheduled = daily(backfill)
      await inPlatform((trx) => declareSchedules(trx, [scheduled], new Date()))
      await held.database.admin.raw(`update schedule set next_at = ?`, [slotOf(3).slice('slot:'.length)])
      const schedulers = await Promise.all([1, 2].map(() => startScheduler({ schedules: [scheduled] })))
      const next = () => inPlatform((trx) => sql<{ nextAt: Date }>(trx, `select next_at from schedule`))
      try {
        await until(async () => ((await next())[0]?.nextAt ?? new Date(0)) > new Date())
      } finally {
        await Promise.all(schedulers.map((each) => each.stop()))
      }
      expect(
        (await slots()).map((slot) => slot.uniqueKey),
        backfill,
      ).to.deep.equal(expected)
    }
  })

  it('20 at once over a backlog of slots make each slot once', async () => {
    await inPlatform((trx) => declareSchedules(trx, [everySlot], new Date()))
    await held.database.admin.raw(`update schedule set next_at = date_trunc('second', now()) - interval '30 seconds'`)
    const begun = Date.now()
    await Promise.all(Array.from({ length: 20 }, () => inPlatform((trx) => fireDue(trx, [everySlot]))))
    const keys = (await slots()).map((slot) => slot.uniqueKey)
    // Those that came while they were at it, too.
    expect(keys.length).to.be.within(31, 32 + Math.ceil((Date.now() - begun) / 1_000))
    expect(new Set(keys).size).to.equal(keys.length)
  })

  it('of more slots than one transaction makes up, all become jobs, look by look', async () => {
    await inPlatform((trx) => declareSchedules(trx, [everySlot], new Date()))
    await held.database.admin.raw(`update schedule set next_at = date_trunc('second', now()) - interval '1100 seconds'`)
    for (let n = 0; n < 2; n += 1) await inPlatform((trx) => fireDue(trx, [everySlot]))
    const times = (await slots()).map(({ uniqueKey }) => Date.parse(uniqueKey.slice('slot:'.length)) / 1000)
    expect(times.length).to.be.at.least(1101)
    for (const [index, time] of times.entries()) if (index > 0) expect(time).to.equal((times[index - 1] ?? 0) + 1)
  })

  it('a kind that catches up by itself does not pile up while nobody works', async () => {
    const scheduled = every(1, tick)
    await inPlatform((trx) => declareSchedules(trx, [scheduled], new Date()))
    for (let n = 0; n < 3; n += 1) {
      await held.database.admin.raw(`update schedule set next_at = now() - interval '5 seconds'`)
      await inPlatform((trx) => fireDue(trx, [scheduled]))
    }
    expect(await slots()).to.have.lengthOf(1)
  })

  it('declaring again keeps the next slot; a changed clock begins anew; what is declared no more goes', async () => {
    const next = async () =>
      (await inPlatform((trx) => sql<{ nextAt: Date }>(trx, `select next_at from schedule`)))[0]?.nextAt.toISOString()
    await inPlatform((trx) => declareSchedules(trx, [every(3600, tick)], at('2026-01-01T00:10:00Z')))
    expect(await next()).to.equal('2026-01-01T01:00:00.000Z')
    await inPlatform((trx) => declareSchedules(trx, [every(3600, tick)], at('2026-05-01T00:10:00Z')))
    expect(await next()).to.equal('2026-01-01T01:00:00.000Z')
    await inPlatform((trx) => declareSchedules(trx, [every(60, tick)], at('2026-05-01T00:10:30Z')))
    expect(await next()).to.equal('2026-05-01T00:11:00.000Z')
    await inPlatform((trx) => declareSchedules(trx, [], new Date()))
    expect(await next()).to.equal(undefined)
  })
})
