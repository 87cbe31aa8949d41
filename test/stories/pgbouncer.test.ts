import { expect } from 'chai'
import { closeRedis, openRedis } from '../../api/lib/redis.ts'
import { listen, makeServer } from '../../api/server.ts'
import { settings } from '../../config/env.ts'
import { openDatabase, sql } from '../../db/lib/connection.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import { startMailbox } from '../../scripts/services/mailbox.ts'
import { startRelay } from '../../workers/relay.ts'
import { startScheduler } from '../../workers/scheduler.ts'
import { startWorkers } from '../../workers/workers.ts'
import { clientOf } from '../support/client.ts'
import { useDatabase } from '../support/database.ts'
import { knowsPlans, pgBouncerBinary, startPgBouncer } from '../support/pgbouncer.ts'
import { until } from '../support/until.ts'
import { hold, outcomeOf, pay, settled } from './booking.ts'

describe('behind PgBouncer in transaction mode', function () {
  this.timeout(240_000)
  const ending: (() => unknown)[] = []
  // Before the database's own, which closes it.
  after(async () => {
    for (const end of ending.reverse()) await end()
  })
  const held = useDatabase()
  before(function () {
    const binary = pgBouncerBinary()
    if (binary !== null) return
    console.warn('      PgBouncer is not installed (apt-get install pgbouncer): not tested')
    this.skip()
  })

  it('bookings are held, paid, confirmed, posted and mailed once, by several of each process over four connections', async () => {
    const { database } = held
    await seedDemo()
    const binary = pgBouncerBinary() ?? ''
    const bouncer = await startPgBouncer(binary, settings.databaseUrl, 4)
    ending.push(bouncer.stop)
    // As docs/operations/scaling.md says of PgBouncer before 1.21, which Debian has.
    settings.databasePrepare = knowsPlans(binary)
    ending.push(() => Object.assign(settings, { databasePrepare: true }))
    const pool = await openDatabase(bouncer.url, 40)
    const mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file: null })
    ending.push(() => mailbox.stop())
    settings.smtpUrl = `smtp://127.0.0.1:${mailbox.smtpPort}`
    const secondMs = settings.sandboxSecondMs
    settings.sandboxSecondMs = 100
    ending.push(() => Object.assign(settings, { smtpUrl: null, sandboxSecondMs: secondMs }))
    openRedis()
    ending.push(closeRedis)
    const server = await makeServer()
    const request = clientOf(await listen(server, 0, '127.0.0.1'))
    ending.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
    const parts = await Promise.all([
      startRelay(),
      startRelay(),
      startScheduler(),
      startScheduler(),
      startWorkers({ name: 'one' }),
      startWorkers({ name: 'other' }),
    ])
    ending.push(() => Promise.all(parts.map((part) => part.stop({ deadlineMs: 3_000 }))))

    const bookings = await Promise.all(
      [20, 23, 26].map(async (day) => {
        const booking = await hold(request, day)
        await pay(request, booking)
        return booking
      }),
    )
    const mailUrl = `http://127.0.0.1:${mailbox.httpPort}`
    const outcomes = () => Promise.all(bookings.map((booking) => outcomeOf(database, mailUrl, booking)))
    await until(async () => (await outcomes()).every(({ booking }) => booking === 'confirmed'), {
      withinMs: 90_000,
      everyMs: 100,
      what: 'the confirmations',
    })
    await settled(database)
    for (const outcome of await outcomes()) {
      expect(outcome).to.include({ charges: 1, captured: true, unposted: 0 })
      expect(outcome.postings).to.have.length.above(0)
      expect(new Set(outcome.mails).size, outcome.mails.join()).to.equal(outcome.mails.length)
    }

    // Nothing of a transaction stays behind on a connection that the next one gets.
    const left = await Promise.all(
      Array.from({ length: 40 }, () =>
        sql<Record<string, string | number>>(
          pool,
          `select coalesce(current_setting('app.tenant_id', true), '') as tenant, coalesce(current_setting('app.scope', true), '') as scope,
             current_setting('lock_timeout') as lock_timeout, current_setting('statement_timeout') as statement_timeout,
             (select count(*) from pg_prepared_statements) as prepared, pg_backend_pid() as pid`,
        ),
      ),
    )
    const rows = left.flat()
    expect(new Set(rows.map((row) => row.pid)).size).to.be.within(1, 4)
    for (const row of rows) {
      expect(row).to.include({ tenant: '', scope: '', lockTimeout: '0', statementTimeout: '0' })
      if (!settings.databasePrepare) expect(row).to.include({ prepared: 0 })
    }
    const locks = await sql(
      database.admin,
      `select 1 from pg_locks l join pg_stat_activity a using (pid)
       where l.locktype = 'advisory' and a.datname = current_database() and a.state = 'idle'`,
    )
    expect(locks).to.deep.equal([])
  })
})
