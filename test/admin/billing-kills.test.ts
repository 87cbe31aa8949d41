import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { startRun } from '../../db/admin/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { processors } from '../../workers/processors.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { makeTenant } from '../auth/support.ts'
import { useDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'

const markers = mkdtempSync(join(tmpdir(), 'pousada-billing-'))

type Invoice = { tenantId: string; number: string; total: number; lines: number }

describe('a billing run whose workers die as in a power cut', function () {
  this.timeout(180_000)
  useDatabase()
  let relay: RunningRelay | null = null
  let workers: RunningWorkers | null = null
  before(async () => {
    relay = await startRelay()
  })
  after(async () => {
    await workers?.stop({ deadlineMs: 3_000 })
    await relay?.stop()
    rmSync(markers, { recursive: true, force: true })
  })

  it('bills each tenant once, with numbers that have no gap, wherever they died', async () => {
    const tenantIds = await Promise.all(Array.from({ length: 6 }, () => makeTenant('Starter')))
    const [period] = await inPlatform((trx) =>
      sql<{ end: string }>(trx, `select max(period_end)::text as "end" from subscription where tenant_id = any(?)`, [
        tenantIds,
      ]),
    )
    const run = await inPlatform((trx) => startRun(trx, { date: addDays(period?.end ?? '', 1), tenantIds }))
    expect(run.tenants).to.equal(6)
    // One job at a time, so that each death leaves the others to the next process.
    for (const point of ['job.claimed', 'job.completing', 'job.committed']) {
      const dying = await startProcess('workers', {
        WORKER_QUEUES: 'billing:1',
        CRASH_AT: `${point}/billing.close-period@${join(markers, point)}`,
      })
      await dying.exited
    }
    workers = await startWorkers({ queues: { billing: 2 }, processors })
    const invoices = () =>
      inPlatform((trx) =>
        sql<Invoice>(
          trx,
          `select i.tenant_id, i.number, i.total, (select count(*)::int from subscription_invoice_line l where l.invoice_id = i.id) as lines
           from subscription_invoice i where i.tenant_id = any(?) order by i.number`,
          [tenantIds],
        ),
      )
    await until(async () => (await invoices()).length === 6, { withinMs: 90_000, everyMs: 200, what: 'six invoices' })
    const made = await invoices()
    expect(new Set(made.map(({ tenantId }) => tenantId)).size).to.equal(6)
    const [first] = made
    expect(made.map(({ total, lines }) => [total, lines])).to.deep.equal(made.map(() => [first?.total, first?.lines]))
    for (const tenantId of tenantIds)
      expect(
        await inTenant(tenantId, (trx) =>
          sql(trx, `select id from event where type = 'subscription_invoice.issued' and tenant_id = ?`, [tenantId]),
        ),
      ).to.have.length(1)
    const numbers = made.map(({ number }) => Number(number.slice(5)))
    expect(numbers).to.deep.equal(numbers.map((_, index) => (numbers[0] ?? 0) + index))
    const [state] = await inPlatform((trx) =>
      sql<{ issued: number; tenants: number; parked: number; moved: number }>(
        trx,
        `select issued, tenants, jsonb_array_length(parked) as parked,
           (select count(*)::int from subscription s where s.tenant_id = any(:tenantIds) and s.period_start = cast(:end as date)) as moved
         from billing_run where id = :id`,
        { id: run.id, tenantIds, end: period?.end ?? '' },
      ),
    )
    expect(state).to.deep.equal({ issued: 6, tenants: 6, parked: 0, moved: 6 })
  })
})
