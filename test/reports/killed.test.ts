import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { addMembership } from '../../db/auth/members/create.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { runSchedule } from '../../db/reports/index.ts'
import { readPart } from '../../db/reports/runs.ts'
import { processors } from '../../workers/processors.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { openQueue } from '../../workers/lib/queues.ts'
import { connectRedis } from '../../workers/lib/redis.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { makeUser } from '../auth/support.ts'
import { missedAfterMs } from '../chaos/evidence.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useMailPeer } from '../support/messages.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'

/** Takes a minute off the wait for a worker that is dead: its lock of the job has ended, and the next look for stalled jobs is due. */
const endLocks = async (): Promise<void> => {
  const redis = connectRedis('queues')
  const queue = openQueue('reports', redis)
  try {
    for (const { id } of await queue.getActive()) await redis.del(queue.toKey(`${id}:lock`))
    await redis.del(queue.toKey('stalled-check'))
  } finally {
    await queue.close()
    redis.disconnect()
  }
}

const markers = mkdtempSync(join(tmpdir(), 'pousada-report-crash-'))
type Run = { id: string; status: string; bytes: number; sha256: string; parts: number }

describe('a scheduled report whose worker dies as in a power cut', function () {
  this.timeout(240_000)
  useDatabase()
  const mail = useMailPeer()
  let relay: RunningRelay | null = null
  let workers: RunningWorkers | null = null

  before(async () => {
    relay = await startRelay()
  })
  afterEach(async () => {
    await workers?.stop({ deadlineMs: 3_000 })
    workers = null
  })
  after(async () => {
    await relay?.stop()
    rmSync(markers, { recursive: true, force: true })
  })

  const makeSchedule = (house: House, userId: string) =>
    house.inHouse(async (trx) => {
      await addMembership(trx, { userId, role: 'owner', propertyIds: null })
      const [row] = await sql<{ id: string }>(
        trx,
        `insert into report_schedule (name, report, parameters, format, locale, trigger, recipients, owner_id, created_by, active, next_run_at)
         values ('Balancete', 'trial_balance', cast(:parameters as jsonb), 'csv', 'en', cast(:trigger as jsonb), array[cast(:userId as uuid)], :userId, :userId,
           true, now() - interval '1 minute') returning id`,
        {
          userId,
          parameters: JSON.stringify({ bookId: house.bookId, period: 'last_month', includeZero: true }),
          trigger: JSON.stringify({ type: 'clock', every: 'day', at: '06:30', timeZone: 'America/Sao_Paulo' }),
        },
      )
      return row?.id ?? ''
    })
  const runsOf = (house: House) =>
    house.inHouse((trx) =>
      sql<Run>(
        trx,
        `select r.id, r.status, r.bytes, r.sha256, (select count(*) from report_file f where f.report_run_id = r.id) as parts from report_run r`,
      ),
    )
  const mailsOf = (userId: string) =>
    inPlatform((trx) =>
      sql<{ status: string; runId: string }>(
        trx,
        `select status, reference_id as run_id from user_mail where user_id = ? and kind = 'report_ready'`,
        [userId],
      ),
    )

  for (const [point, queues, copies] of [
    ['job.completing/reports.run', 'reports:1', 1],
    ['job.committed/reports.run', 'reports:1', 1],
    ['call.started', 'reports:1,messages:1', 1],
    ['call.answered', 'reports:1,messages:1', 2],
  ] as const)
    it(`at ${point}: one run with its whole file, and one mail that names it`, async () => {
      const house = await makeHouse({ units: 1, deposit: null })
      const { userId } = await makeUser()
      const id = await makeSchedule(house, userId)
      const dying = await startProcess('workers', {
        WORKER_QUEUES: queues,
        CRASH_AT: `${point}@${join(markers, point.replace('/', '-'))}`,
        SMTP_URL: mail.peer.url,
      })
      expect(await house.inHouse((trx) => runSchedule(trx, id))).to.equal('done')
      await dying.exited
      // Before the commit nothing is told of a file that is whole and kept.
      if (point.startsWith('job.completing')) {
        expect((await runsOf(house)).map(({ status, parts }) => [status, parts])).to.deep.equal([['running', 1]])
        expect(await mailsOf(userId)).to.deep.equal([])
      }
      await endLocks()
      workers = await startWorkers({ queues: { reports: 1, messages: 1 }, processors })
      await until(async () => (await mailsOf(userId))[0]?.status === 'sent', {
        withinMs: missedAfterMs('reports'),
        everyMs: 200,
        what: 'the mail',
      })
      const [run, ...others] = await runsOf(house)
      expect(others).to.deep.equal([])
      expect([run?.status, run?.parts]).to.deep.equal(['succeeded', 1])
      const file = await house.inHouse((trx) => readPart(trx, run?.id ?? '', 1))
      expect([file.length, createHash('sha256').update(file).digest('hex')]).to.deep.equal([run?.bytes, run?.sha256])
      expect(await mailsOf(userId)).to.deep.equal([{ status: 'sent', runId: run?.id }])
      expect(mail.peer.mails).to.have.length(copies)
      expect(new Set(mail.peer.mails.map(({ messageId }) => messageId)).size).to.equal(1)
      expect(mail.peer.mails[0]?.text).to.contain(run?.id)
    })
})
