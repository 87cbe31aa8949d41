import { Logger, run as runGraphile } from 'graphile-worker'
import PgBoss from 'pg-boss'
import pg from 'pg'
import { given, tell } from '../child.ts'

/** Workers of other job libraries, for the same work: one row in a database transaction, then the job is done. */
const { url, concurrency } = given<{ url: string; concurrency: number }>()
const pool = new pg.Pool({ connectionString: url, max: concurrency + 4 })
pool.on('error', (error) => console.error(error))
pool.on('connect', (client) => client.on('error', (error) => console.error(error)))
const effect = async ({ tenantId, number }: { tenantId: string; number: number }) => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query({
      name: 'effect',
      text: 'insert into bench_effect (tenant_id, number) values ($1, $2)',
      values: [tenantId, number],
    })
    await client.query('commit')
  } finally {
    client.release()
  }
  tell({ type: 'done', number, at: performance.timeOrigin + performance.now() })
}
type Payload = Parameters<typeof effect>[0]

const startGraphile = () =>
  runGraphile({
    pgPool: pool,
    concurrency,
    noHandleSignals: true,
    pollInterval: 1_000,
    // A line per job is no part of the work.
    logger: new Logger(() => () => {}),
    taskList: { posting: (payload) => effect(payload as Payload) },
  })

/** It looks at most twice a second: what it gives at once decides the throughput, what comes in between waits. */
const startBoss = async () => {
  const boss = new PgBoss({ connectionString: url, max: 4, schedule: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue('posting')
  await boss.work<Payload>('posting', { batchSize: 500, pollingIntervalSeconds: 0.5 }, async (jobs) => {
    let next = 0
    const lane = async () => {
      for (let job = jobs[next++]; job; job = jobs[next++]) await effect(job.data)
    }
    await Promise.all(Array.from({ length: concurrency }, lane))
  })
}

process.once('disconnect', () => process.exit())
process.once('SIGTERM', () => process.exit())
if (process.argv[2] === 'graphile-worker') await startGraphile()
else await startBoss()
tell({ type: 'ready' })
