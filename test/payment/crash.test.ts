import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { requestRefund } from '../../db/payment/index.ts'
import { processors } from '../../workers/processors.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { balanceOf } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { chargesOf, creditOf, makeBooking, makeTill, pay, paymentOf, refundsOf, within } from './support.ts'
import type { Till } from './support.ts'

const markers = mkdtempSync(join(tmpdir(), 'pousada-pay-'))

describe('a worker that dies as in a power cut', function () {
  this.timeout(240_000)
  useDatabase()
  let till: Till
  let relay: RunningRelay | null = null
  let workers: RunningWorkers | null = null

  before(async () => {
    till = await makeTill()
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

  const heal = async () => {
    workers = await startWorkers({ queues: { payments: 3, ledger: 2 }, processors })
  }

  it('at any point of a charge: each guest is charged, and it is posted, once', async () => {
    const points = ['call.started', 'call.answered', 'job.committed']
    const bookingIds: string[] = []
    for (const _ of points) bookingIds.push(await makeBooking(till))
    const before = await balanceOf(till, 'gateway_clearing')
    // Each takes one charge, and dies over it: the locks of all three run out at once.
    const dying = await Promise.all(
      points.map((point) =>
        startProcess('workers', { WORKER_QUEUES: 'payments:1', CRASH_AT: `${point}@${join(markers, point)}` }),
      ),
    )
    const made: { id: string; bookingId: string }[] = []
    for (const bookingId of bookingIds) made.push({ id: (await pay(till, bookingId)).id, bookingId })
    await Promise.all(dying.map(({ exited }) => exited))
    await heal()
    const patient = { withinMs: 90_000, everyMs: 100 }
    for (const { id } of made) await until(async () => (await paymentOf(till, id)).status === 'captured', patient)
    await until(async () => (await balanceOf(till, 'gateway_clearing')) - before === 60_000, patient)
    for (const { id, bookingId } of made) {
      expect(await chargesOf(till, id)).to.have.length(1)
      expect(await creditOf(till, bookingId)).to.equal(20_000)
      const posted = await within(till, (trx) =>
        sql(trx, `select id from posting_event where event = 'payment.payment_captured' and source_id = ?`, [id]),
      )
      expect(posted).to.have.length(1)
    }
  })

  it('at call.answered of a refund: the money goes back once', async () => {
    const bookingId = await makeBooking(till)
    await heal()
    const { id } = await pay(till, bookingId)
    await until(async () => (await paymentOf(till, id)).status === 'captured', { withinMs: 90_000, everyMs: 100 })
    await workers?.stop({ deadlineMs: 3_000 })
    const dying = await startProcess('workers', {
      WORKER_QUEUES: 'payments:1',
      CRASH_AT: `call.answered@${join(markers, 'refund')}`,
    })
    await within(till, (trx) => requestRefund(trx, { paymentId: id, amount: 5_000, reason: 'guest_request' }))
    await dying.exited
    await heal()
    await until(async () => (await refundsOf(till, id))[0]?.status === 'succeeded', { withinMs: 90_000, everyMs: 100 })
    expect(await paymentOf(till, id)).to.include({ refundReserved: 5_000, refundedAmount: 5_000 })
    const refunds = await within(till, (trx) =>
      sql(
        trx,
        `select id from sandbox_object where kind = 'refund' and our_id in (select id::text from refund where payment_id = ?)`,
        [id],
      ),
    )
    expect(refunds).to.have.length(1)
  })
})
