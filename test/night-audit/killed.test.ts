import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { advanceNightAudit, failNightAudit, handOver } from '../../db/night-audit/advance.ts'
import { auditSteps } from '../../db/night-audit/audits.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { drain } from '../support/drain.ts'
import { startProcess } from '../support/processes.ts'
import { eventsOf, miscounted } from '../support/stay.ts'
import { linesOf, makeLateHouse, makeStays, openDay, readAudit, request, runAudit, unposted } from './support.ts'

class Killed extends Error {}

const atOnce = 2
const noted = [
  'night_audit.succeeded',
  'business_day.closed',
  'reservation.no_show_recorded',
  'folio.charge_posted',
  'reservation.departure_missed',
]

/** Three who came yesterday, two who came before and one who is overdue, one who never came. */
const fill = async (house: House): Promise<string[]> => {
  const ids = [
    ...(await makeStays(house, 3, { from: -1, checkedIn: true })),
    ...(await makeStays(house, 2, { from: -2, nights: 3, checkedIn: true })),
    ...(await makeStays(house, 1, { from: -1 })),
  ]
  await house.inHouse((trx) => sql(trx, `update reservation set departure = arrival + 1 where id = ?`, [ids[4]]))
  return ids
}

/** All that a close leaves behind, as it may be compared with that of another house. */
const outcome = async (house: House, ids: readonly string[]) => ({
  lines: await linesOf(house, ids),
  events: await Promise.all(noted.map(async (type) => [type, (await eventsOf(house, type)).length])),
  facts: await house.inHouse((trx) =>
    sql(
      trx,
      `select kind, stay_date, unit_nights, room_revenue, included_tax from night_fact order by stay_date, room_revenue`,
    ),
  ),
  posted: await house.inHouse((trx) =>
    sql(trx, `select event, count(*) as count from posting_event group by 1 order by 1`),
  ),
  tasks: await house.inHouse((trx) =>
    sql(trx, `select kind, status, count(*) as count from housekeeping_task group by 1, 2 order by 1, 2`),
  ),
  totals: await house.inHouse((trx) => sql(trx, `select totals from business_day where status = 'closed'`)),
  exceptions: await house.inHouse((trx) =>
    sql(
      trx,
      `select exception_count, (select count(*) from jsonb_array_elements(exceptions)) as kept from night_audit`,
    ),
  ),
  unposted: await unposted(house),
  miscounted: await miscounted(house),
})

describe('A night audit that is killed', function () {
  this.timeout(240_000)
  useDatabase()
  let relay: RunningRelay | null = null
  const markers = mkdtempSync(join(tmpdir(), 'pousada-audit-'))
  after(() => rmSync(markers, { recursive: true, force: true }))
  afterEach(async () => {
    await relay?.stop()
    relay = null
  })

  let undisturbed: Awaited<ReturnType<typeof outcome>>
  let batches = 0
  before(async () => {
    const house = await makeLateHouse(1, { units: 8 })
    const ids = await fill(house)
    batches = await runAudit(house, (await request(house, house.day(-1))).id, { atOnce })
    undisturbed = await outcome(house, ids)
    expect(undisturbed.lines.length).to.be.greaterThan(20)
    expect(undisturbed.events).to.deep.include(['reservation.departure_missed', 1])
  })

  it('before and after the commit of every batch of every step charges what an undisturbed one does', async () => {
    const house = await makeLateHouse(1, { units: 8 })
    const ids = await fill(house)
    const { id } = await request(house, house.day(-1))
    const runner = randomUUID()
    const steps: string[] = []
    for (let batch = 1; ; batch += 1) {
      const before = await readAudit(house, id)
      // All is written, and the process dies before it is committed.
      const killed = house.inHouse(async (trx) => {
        await advanceNightAudit(trx, id, runner, atOnce)
        throw new Killed()
      })
      expect(await killed.catch((error: unknown) => error)).to.be.instanceOf(Killed)
      expect(await readAudit(house, id)).to.deep.equal(before)
      // It is committed, and the process dies before it can go on.
      const state = await house.inHouse((trx) => advanceNightAudit(trx, id, runner, atOnce))
      const { step } = await readAudit(house, id)
      if (step !== null && steps.at(-1) !== step) steps.push(step)
      if (state === 'over') {
        expect(batch).to.equal(batches)
        break
      }
    }
    expect(steps).to.deep.equal([...auditSteps])
    expect(await outcome(house, ids)).to.deep.equal(undisturbed)
  })

  it('fails at any batch and is resumed by the same request, as if nothing had been', async () => {
    const house = await makeLateHouse(1, { units: 8 })
    const ids = await fill(house)
    const { id } = await request(house, house.day(-1))
    for (let state = 'more'; state === 'more';) {
      const runner = randomUUID()
      state = await house.inHouse((trx) => advanceNightAudit(trx, id, runner, atOnce))
      if (state !== 'more') break
      await house.inHouse((trx) => failNightAudit(trx, id, runner, 'unexpected: a test'))
      expect((await readAudit(house, id)).status).to.equal('failed')
      expect(await request(house, house.day(-1))).to.deep.equal({ id, isNew: false })
    }
    expect(await outcome(house, ids)).to.deep.equal(undisturbed)
    // The failure is told once, not with every try.
    expect(await eventsOf(house, 'night_audit.failed')).to.have.lengthOf(1)
  })

  it('by two runners at once is run by one of them, and charges once', async () => {
    const house = await makeLateHouse(1, { units: 8 })
    const ids = await fill(house)
    const asked = await Promise.all(Array.from({ length: 3 }, () => request(house, house.day(-1))))
    expect(new Set(asked.map((one) => one.id)).size).to.equal(1)
    expect(asked.filter((one) => one.isNew)).to.have.lengthOf(1)
    const id = asked[0]!.id
    const jobs = await inPlatform((trx) =>
      sql(trx, `select id from jobs where kind = 'ledger.close-business-day' and payload ->> 'nightAuditId' = ?`, [id]),
    )
    expect(jobs).to.have.lengthOf(1)
    const states: string[] = []
    const run = async (runner: string) => {
      for (let state = 'more'; state !== 'over';) {
        state = await house.inHouse((trx) => advanceNightAudit(trx, id, runner, atOnce))
        states.push(state)
      }
    }
    await Promise.all([run(randomUUID()), run(randomUUID())])
    expect(states).to.include('busy')
    expect(await outcome(house, ids)).to.deep.equal(undisturbed)
  })

  it('or stopped before any batch is gone on with at once by the job that it was handed to', async () => {
    const house = await makeLateHouse(1, { units: 8 })
    const ids = await fill(house)
    const { id } = await request(house, house.day(-1))
    const asked = async () =>
      (
        await inPlatform((trx) =>
          sql(trx, `select id from jobs where kind = 'ledger.close-business-day' and payload ->> 'nightAuditId' = ?`, [
            id,
          ]),
        )
      ).length
    let turns = 1
    for (let state = 'more'; state !== 'over';) {
      const runner = randomUUID()
      await house.inHouse((trx) => handOver(trx, id, runner))
      expect(await asked()).to.equal((turns += 1))
      state = await house.inHouse((trx) => advanceNightAudit(trx, id, runner, atOnce))
      expect(state).to.not.equal('busy')
      // No other process gives away what this one has.
      await house.inHouse((trx) => handOver(trx, id, randomUUID()))
      expect(await asked()).to.equal(turns)
      await house.inHouse((trx) => handOver(trx, id, runner))
      turns = await asked()
    }
    expect(await outcome(house, ids)).to.deep.equal(undisturbed)
  })

  it('with its process is finished by the next one', async () => {
    const house = await makeLateHouse(1, { units: 8 })
    const ids = await fill(house)
    // Jobs of the houses before, which a process would take first.
    await inPlatform((trx) => sql(trx, `delete from jobs where kind = 'ledger.close-business-day'`))
    relay = await startRelay()
    const { id } = await request(house, house.day(-1))
    // The platform does the same for a job whose process died, after a wait to be sure.
    const missed = () =>
      inPlatform((trx) =>
        sql(trx, `update jobs set status = 'pending', leased_until = null where kind = 'ledger.close-business-day'`),
      )
    const ended: (string | null)[] = []
    for (const point of ['effect.writing', 'effect.committed']) {
      const marker = join(markers, randomUUID())
      const dying = await startProcess(
        'workers',
        { WORKER_QUEUES: 'ledger:1', CRASH_AT: `${point}/ledger.close-business-day@${marker}` },
        { ready: false },
      )
      await dying.exited
      ended.push((await readAudit(house, id)).step)
      await missed()
    }
    expect(ended).to.deep.equal([null, 'exceptions'])
    await relay.stop()
    relay = null
    // The relay may have handed it over once more meanwhile, with nobody there to take it.
    await missed()
    await drain()
    expect((await readAudit(house, id)).status).to.equal('succeeded')
    expect(await openDay(house)).to.equal(house.today)
    expect(await outcome(house, ids)).to.deep.equal(undisturbed)
  })
})
