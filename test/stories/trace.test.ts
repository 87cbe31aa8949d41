import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/connection.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import { startMailbox } from '../../scripts/services/mailbox.ts'
import type { Mailbox } from '../../scripts/services/mailbox.ts'
import { clientOf } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { useDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { hold, pay, settled, smtpOf } from './booking.ts'

describe('the log of a booking', function () {
  this.timeout(60_000)
  const world = useDatabase()
  let mailbox: Mailbox
  let running: RunningProcess[] = []

  before(async () => {
    mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file: null })
    await seedDemo()
    settings.sandboxSecondMs = 20
    running = await Promise.all(
      (['api', 'relay', 'workers'] as const).map((kind) => startProcess(kind, smtpOf(mailbox))),
    )
  })
  after(async () => {
    await Promise.all(running.map((each) => each.kill()))
    await mailbox.stop()
  })

  it('has the id of the request in the line of the api and of each job that came of it, and nothing of the guest', async () => {
    const [api, , workers] = running
    if (!api || !workers) throw new Error('the processes did not start')
    const requestId = `trace-${randomUUID()}`
    const client = clientOf(api.baseUrl)
    const traced: Client = (method, path, options = {}) =>
      client(method, path, { ...options, headers: { ...options.headers, 'x-request-id': requestId } })
    const held = await hold(client, 20)
    await pay(traced, held)
    const lines = (process: RunningProcess) => process.lines.filter((line) => line.requestId === requestId)
    const kinds = () => lines(workers).map((line) => line.kind)
    await until(() => kinds().includes('messages.deliver'), { withinMs: 30_000, what: 'the message' })
    await settled(world.database)
    await until(() => lines(api).length > 0, { what: 'the line of the api' })

    expect(lines(api)).to.have.lengthOf(1)
    expect(lines(api)[0]).to.include({ route: 'public.createPayment', status: 201, msg: 'answered' })
    expect(kinds()).to.include.members([
      'payments.submit',
      'inventory.confirm-paid',
      'inventory.assign',
      'ledger.post',
      'messages.trigger',
      'messages.deliver',
    ])
    const archived = await sql<{ id: string }>(
      world.database.admin,
      `select id from job_archive where request_id = ? and outcome in ('done', 'skipped')`,
      [requestId],
    )
    await until(() => kinds().length >= archived.length, { what: 'the last line' })
    expect(lines(workers).map((line) => line.jobId)).to.have.members(archived.map((job) => job.id))

    const all = JSON.stringify(running.map((process) => process.lines))
    for (const told of [held.email, held.guest, 'Clara', '11987654321', 'success']) expect(all).not.to.include(told)
  })
})
