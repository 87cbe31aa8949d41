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

  for (const point of ['effect.committed', 'call.started', 'call.answered'])
    it(`at ${point}: it is authorised once, under one number`, async () => {
      const dying = await startProcess('workers', {
        WORKER_QUEUES: 'payments:1',
        CRASH_AT: `${point}@${join(markers, point)}`,
      })
      const receivableId = await a.issued(await a.customer(), [[a.day(30), 7_000]])
      const { id } = await a.good(a.finance, 'POST', 'fiscal-documents', { receivableId })
      await dying.exited
      workers = await startWorkers({ queues: { payments: 2 }, processors })
      const done = { withinMs: 90_000, everyMs: 200 }
      await until(async () => ['unknown', 'authorised'].includes((await statusOf(id)) ?? ''), done)
      await a.rows(`update fiscal_document set next_read_at = now() where id = :id and status = 'unknown'`, { id })
      // The sweep comes by the clock, which does not run here.
      const { requestReads } = await import('../../db/accounts-receivable/index.ts')
      await a.house.inHouse((trx) => requestReads(trx, [id]))
      await until(async () => (await statusOf(id)) === 'authorised', done)
      const issued = await a.rows(
        `select o.id from sandbox_object o join fiscal_document d on o.account_ref = d.book_id::text and o.our_id = d.series || '-' || d.rps_number
         where o.kind = 'nfse' and d.id = :id`,
        { id },
      )
      expect(issued).to.have.length(1)
      const numbers = await a.rows<{ n: string }>(
        `select rps_number as n from fiscal_document where book_id = :bookId order by rps_number`,
      )
      expect(numbers.map(({ n }) => Number(n))).to.deep.equal(numbers.map((_, index) => index + 1))
    })
})
