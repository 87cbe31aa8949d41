import { expect } from 'chai'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processors } from '../../workers/processors.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './desk.ts'
import type { Receivables } from './desk.ts'

const markers = mkdtempSync(join(tmpdir(), 'pousada-fiscal-'))

describe('a worker that dies over a fiscal document', function () {
  this.timeout(240_000)
  const world = useWorld()
  let a: Receivables
  let relay: RunningRelay | null = null
  let workers: RunningWorkers | null = null

  before(async () => {
    a = await openReceivables(world)
    await a.set({ fiscal: { adapter: 'sandbox', cityCode: '3550308', serviceCode: '0901', issRate: 500 } })
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

  const statusOf = async (id: string) =>
    (await a.rows<{ status: string }>(`select status from fiscal_document where id = :id`, { id }))[0]?.status

  it('at any point of its work: each document is authorised once, under one number', async () => {
    // Each takes one document, and dies over it: the locks of all three run out at once.
    const dying = await Promise.all(
      ['effect.committed', 'call.started', 'call.answered'].map((point) =>
        startProcess('workers', { WORKER_QUEUES: 'payments:1', CRASH_AT: `${point}@${join(markers, point)}` }),
      ),
    )
    const customerId = await a.customer()
    const ids: string[] = []
    for (const _ of dying) {
      const receivableId = await a.issued(customerId, [[a.day(30), 7_000]])
      ids.push((await a.good(a.finance, 'POST', 'fiscal-documents', { receivableId })).id as string)
    }
    await Promise.all(dying.map(({ exited }) => exited))
    workers = await startWorkers({ queues: { payments: 2 }, processors })
    const done = { withinMs: 90_000, everyMs: 100 }
    for (const id of ids) await until(async () => ['unknown', 'authorised'].includes((await statusOf(id)) ?? ''), done)
    for (const id of ids)
      await a.rows(`update fiscal_document set next_read_at = now() where id = :id and status = 'unknown'`, { id })
    // The sweep comes by the clock, which does not run here.
    const { requestReads } = await import('../../db/accounts-receivable/index.ts')
    await a.house.inHouse((trx) => requestReads(trx, ids))
    for (const id of ids) {
      await until(async () => (await statusOf(id)) === 'authorised', done)
      const issued = await a.rows(
        `select o.id from sandbox_object o join fiscal_document d on o.account_ref = d.book_id::text and o.our_id = d.series || '-' || d.rps_number
         where o.kind = 'nfse' and d.id = :id`,
        { id },
      )
      expect(issued).to.have.length(1)
    }
    const numbers = await a.rows<{ n: string }>(
      `select rps_number as n from fiscal_document where book_id = :bookId order by rps_number`,
    )
    expect(numbers.map(({ n }) => Number(n))).to.deep.equal(ids.map((_, index) => index + 1))
  })
})
