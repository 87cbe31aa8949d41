import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { enqueue } from '../../db/lib/enqueue.ts'
import { readTransferJob } from '../../jobs/cash.ts'
import { processors } from '../../workers/processors.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { openPayables } from '../accounts-payable/desk.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

const markers = mkdtempSync(join(tmpdir(), 'pousada-money-'))
const key = '123e4567-e12b-42d1-a456-426655440000'

describe('a worker that dies over money', function () {
  this.timeout(240_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let bankId: string
  let relay: RunningRelay | null = null
  let workers: RunningWorkers | null = null

  before(async () => {
    a = await openPayables(world)
    bankId = await a.bank(500_000, a.on('01-02'))
    await a.good(a.owner, 'PUT', `cash/accounts/${bankId}/pix`, {
      keys: [{ type: 'random', key }],
      connection: { provider: 'sandbox', credentials: { clientId: 'pousada', clientSecret: 'right' } },
    })
    await world.drain()
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
  beforeEach(() => a.calm())

  const dying = (queues: string, point: string) =>
    startProcess('workers', { WORKER_QUEUES: queues, CRASH_AT: `${point}@${join(markers, point.replace('/', '-'))}` })
  const patient = { withinMs: 90_000, everyMs: 100 }

  it('leaves no hole in the numbers of invoices, before and after New Year', async () => {
    const { id: customerId } = await a.good(a.finance, 'POST', 'accounts-receivable/customers', {
      kind: 'company',
      legalName: 'Ondas Turismo',
      currency: 'BRL',
    })
    const accountId = await a.account('4.3.08')
    const first = await dying('ledger:2', 'job.completing/ledger.assign-number')
    const second = await dying('ledger:2', 'job.committed/ledger.assign-number')
    const days = [a.on('12-31'), `${a.year + 1}-01-01`]
    for (let index = 0; index < 24; index += 1)
      await a.good(a.finance, 'POST', 'accounts-receivable/receivables', {
        bookId: a.bookId,
        customerId,
        issuedOn: days[index % 2],
        issue: true,
        lines: [{ description: 'Hall', unitAmount: 1_000 + index, accountId }],
      })
    await Promise.all([first.exited, second.exited])
    workers = await startWorkers({ queues: { ledger: 4 }, processors })
    const numbered = () =>
      a.rows<{ series: string; number: number }>(
        `select series, number from receivable where book_id = :bookId and number is not null order by series, number`,
      )
    await until(async () => (await numbered()).length === 24, patient)
    const due = [a.year, a.year + 1].flatMap((year) =>
      Array.from({ length: 12 }, (_, index) => ({ series: String(year), number: index + 1 })),
    )
    expect(await numbered()).to.deep.equal(due)
    await workers.stop({ deadlineMs: 3_000 })
    workers = null
    await relay?.stop()
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
    relay = await startRelay()
  })

  for (const [point, sent] of [
    ['call.started/send', 0],
    ['call.answered/send', 1],
  ] as const)
    it(`at ${point}: a Pix never leaves twice, and is booked when it has left`, async () => {
      const killed = await dying('payments:1', point)
      const { id } = await a.good(a.finance, 'POST', 'cash/transfers', {
        fromAccountId: bankId,
        method: 'pix',
        amount: 700,
        purpose: 'Flowers',
        accountId: await a.account('6.1.10'),
        payee: { keyType: 'random', key, name: 'Loja', document: '52998224725' },
      })
      await a.good(a.owner, 'POST', `cash/transfers/${id}/approve`)
      await killed.exited
      workers = await startWorkers({ queues: { payments: 2 }, processors })
      const statusOf = async () => (await a.good(a.owner, 'GET', `cash/transfers/${id}`)).status as string
      await until(
        async () =>
          (
            await a.rows(
              `select id from cash_transfer where id = :id and status in ('unknown', 'completed', 'failed')`,
              { id },
            )
          ).length === 1,
        patient,
      )
      // The bank is asked again, twice, as the clock would.
      for (let round = 0; round < 2; round += 1) {
        await a.rows(
          `update cash_transfer set next_read_at = now() where id = :id and status = 'unknown' returning id`,
          { id },
        )
        await a.house.inHouse((trx) =>
          enqueue(trx, readTransferJob, { tenantId: a.house.tenantId, cashTransferId: id as string }),
        )
        await until(
          async () =>
            (await a.rows(`select id from jobs where kind = 'payments.read-transfer' and status <> 'dead'`)).length ===
            0,
          patient,
        )
      }
      expect(await statusOf()).to.equal(sent === 1 ? 'completed' : 'unknown')
      const out = await a.rows(`select id from sandbox_object where kind = 'pix_sent' and our_id = :key`, {
        key: String(id).replaceAll('-', ''),
      })
      expect(out).to.have.length(sent)
      const booked = await a.rows(`select amount from cash_movement where transfer_id = :id`, { id })
      expect(booked).to.deep.equal(sent === 1 ? [{ amount: -700 }] : [])
    })
})
