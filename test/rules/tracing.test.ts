import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { beginSpan, parseTraceparent, traceIdOf } from '../../config/tracing.ts'
import { built } from '../support/built.ts'
import { startOtlpPeer } from '../support/otlp-peer.ts'

const run = promisify(execFile)
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

/**
 * A script that starts and ends a process of the service without work. It reports the modules of OpenTelemetry that were loaded.
 * The types of its API do not count: prom-client reads them for exemplars, and they do nothing by themselves.
 */
const script = `
import { createRequire } from 'node:module'
import { beginSpan, startTracing, stopTracing } from './config/tracing.js'
await Promise.all([import('./api/server.js'), import('./workers/relay.js'), import('./workers/workers.js'), import('./workers/scheduler.js')])
await startTracing('life')
beginSpan('server', 'a request', null).end()
// Timers of one process end in their order, however slow it is.
let waited = false
setTimeout(() => (waited = true), 1_000)
const ended = await Promise.race([stopTracing(), new Promise((resolve) => setTimeout(resolve, 5_000, 'late'))])
const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => /@opentelemetry.(?!api.)/.test(file))
console.log(JSON.stringify({ loaded: loaded.length, waited, inTime: ended !== 'late' }))
process.exit(0)`

const live = async (endpoint: string) => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: await built(),
    env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
  })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { loaded: number; waited: boolean; inTime: boolean }
}

describe('traces', function () {
  this.timeout(120_000)

  it('take a traceparent as W3C writes it, and nothing else', () => {
    expect(parseTraceparent(`00-${traceId}-${spanId}-01`)).to.equal(`00-${traceId}-${spanId}-01`)
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01-what-the-future-will-be-like`)).to.equal(
      `00-${traceId}-${spanId}-01`,
    )
    for (const malformed of [
      '',
      'nonsense',
      `00-${traceId}-${spanId}`,
      `00-${traceId}-${spanId}-01-more`,
      `ff-${traceId}-${spanId}-01`,
      `00-${'0'.repeat(32)}-${spanId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `00-${traceId.toUpperCase()}-${spanId}-01`,
      `00-${traceId}-${spanId}-0`,
      `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
    ])
      expect(parseTraceparent(malformed), malformed).to.equal(null)
  })

  it('without a collector keep the id that came, and begin one where none came', () => {
    const given = `00-${traceId}-${spanId}-01`
    expect(beginSpan('server', 'a', given).traceparent).to.equal(given)
    const [one, other] = [beginSpan('server', 'a', null).traceparent, beginSpan('server', 'a', null).traceparent]
    expect(parseTraceparent(one)).to.equal(one)
    expect(traceIdOf(one)).not.to.equal(traceIdOf(other))
  })

  it('load nothing of OpenTelemetry without a collector; with one that hangs, the end waits two seconds at most', async () => {
    const peer = await startOtlpPeer({ hang: true })
    try {
      const [without, hanging] = await Promise.all([live(''), live(peer.endpoint)])
      expect(without.loaded).to.equal(0)
      expect(hanging.loaded).to.be.greaterThan(10)
      expect(hanging).to.include({ waited: true, inTime: true })
    } finally {
      await peer.stop()
    }
  })
})
