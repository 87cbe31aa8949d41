import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { sol } from '../../db/demo/ids.ts'
import { seedDemo } from '../../db/demo/seed.ts'
import { startMailbox } from '../../scripts/services/mailbox.ts'
import type { Mailbox } from '../../scripts/services/mailbox.ts'
import { startOtlpPeer } from '../support/otlp-peer.ts'
import type { ReceivedSpan } from '../support/otlp-peer.ts'
import { clientOf } from '../support/client.ts'
import type { Client } from '../support/client.ts'
import { useDatabase } from '../support/database.ts'
import { startProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { hold, pay, settled, smtpOf } from './booking.ts'

describe('the log of a booking', function () {
  this.timeout(120_000)
  const world = useDatabase()
  let mailbox: Mailbox
  let running: RunningProcess[] = []
  let collector: Awaited<ReturnType<typeof startOtlpPeer>>

  before(async () => {
    mailbox = await startMailbox({ smtpPort: 0, httpPort: 0, file: null })
    collector = await startOtlpPeer()
    const tracing = { ...smtpOf(mailbox), OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint }
    await seedDemo()
    settings.sandboxSecondMs = 100
    running = await Promise.all((['api', 'relay', 'workers'] as const).map((kind) => startProcess(kind, tracing)))
  })
  after(async () => {
    await Promise.all(running.map((each) => each.kill()))
    await mailbox.stop()
    await collector.stop()
  })

  const spansOf = (traceId: string) => collector.spans.filter((span) => span.traceId === traceId)

  it('has the id of the request in the line of the api and of each job that came of it, and nothing of the guest; its spans are one trace', async () => {
    const [api, , workers] = running
    if (!api || !workers) throw new Error('the processes did not start')
    const requestId = `trace-${randomUUID()}`
    const client = clientOf(api.baseUrl)
    const traceId = randomUUID().replaceAll('-', '')
    const caller = '00f067aa0ba902b7'
    const ids = { 'x-request-id': requestId, traceparent: `00-${traceId}-${caller}-01` }
    const traced: Client = (method, path, options = {}) =>
      client(method, path, { ...options, headers: { ...options.headers, ...ids } })
    const held = await hold(client, 20)
    await pay(traced, held)
    const lines = (process: RunningProcess) => process.lines.filter((line) => line.requestId === requestId)
    const kinds = () => lines(workers).map((line) => line.kind)
    await until(() => kinds().includes('messages.deliver'), { withinMs: 60_000, what: 'the message' })
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

    for (const line of [...lines(api), ...lines(workers)]) expect(line.traceId, String(line.msg)).to.equal(traceId)

    await until(() => spansOf(traceId).filter(({ name }) => name.startsWith('run ')).length >= archived.length, {
      what: 'the spans',
    })
    const spans = spansOf(traceId)
    const parentOf = (span: ReceivedSpan) => spans.find((each) => each.spanId === span.parentSpanId)
    const [request, ...others] = spans.filter(({ name }) => name === 'public.createPayment')
    expect(others).to.deep.equal([])
    expect(request).to.include({ service: 'pousada-api', kind: 2, parentSpanId: caller, failed: false })
    for (const span of spans.filter((each) => each !== request)) {
      const parent = parentOf(span)
      const [verb, kind = ''] = span.name.split(' ')
      if (verb === 'enqueue') {
        expect(parent?.name, span.name).to.match(
          kind === 'payments.submit' ? /^public\.createPayment$/ : /^(public\.createPayment$|run )/,
        )
        expect(span.kind).to.equal(4)
      } else if (verb === 'run' || verb === 'dispatch') {
        expect(parent?.name, span.name).to.equal(`enqueue ${kind}`)
        expect(span.attributes['job.id']).to.equal(parent?.attributes['job.id'])
        expect(span.service).to.equal(verb === 'run' ? 'pousada-worker' : 'pousada-relay')
      } else {
        expect(span.kind, span.name).to.equal(3)
        expect(parent?.attributes['job.id']).to.equal(span.attributes['job.id'])
      }
    }
    const names = spans.map(({ name }) => name)
    expect(names).to.include.members(['run payments.submit', 'dispatch messages.deliver', 'run messages.deliver'])
    expect(spans.filter(({ kind }) => kind === 3).map((span) => parentOf(span)?.name)).to.include.members([
      'run payments.submit',
      'run messages.deliver',
    ])
    expect(spans.find(({ name }) => name === 'run messages.deliver')?.kind).to.equal(5)

    // A caller that sends none, or a malformed one, begins a trace; so does the clock.
    const other = `trace-${randomUUID()}`
    await client('GET', `/api/public/property/${sol.propertyId}/config`, {
      headers: { 'x-request-id': other, traceparent: `00-${'0'.repeat(32)}-${caller}-01` },
    })
    const [line] = await until(() => {
      const found = api.lines.filter(({ requestId: id }) => id === other)
      return found.length > 0 && found
    })
    expect(line?.traceId)
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.match(/^0+$/)
    const untraced = await sql(
      world.database.admin,
      `select kind from (select kind, traceparent from jobs union all select kind, traceparent from job_archive) as every_job
       where traceparent is null or traceparent !~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'`,
    )
    expect(untraced).to.deep.equal([])

    const all = JSON.stringify([running.map((process) => process.lines), collector.spans])
    for (const told of [held.email, held.guest, 'Clara', '11987654321', 'success']) expect(all).not.to.include(told)
  })
})
