import { queues } from '../../config/queues.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform, inTenant } from '../../db/lib/connection.ts'
import { createEndpoint, numberEvents } from '../../db/webhooks/index.ts'
import { makeTenant } from '../../test/support/tenants.ts'
import type { Bench } from '../bench.ts'
import { startChild } from '../child.ts'
import { toldUse, totalOf, watchProcessors } from '../cpu.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'
import { bareJob, bareParts } from '../webhooks/bare.ts'
import { flow, keepsUp, seconds } from '../webhooks/flow.ts'
import type { Flow } from '../webhooks/flow.ts'
import { reading, writing } from '../webhooks/parts.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const tenants = sized(1_000, 100)
const manyPerSecond = sized(1_000, 200)
const onePerSecond = sized(500, 100)

const row = (name: string, unit: string, ours: number, reference: number | null = null) =>
  judge({ name, unit, ours, reference }, null)

/** From the commit of an event to the first request that tells of it; and what writing and reading one costs. */
export const bench: Bench = async () => {
  process.env.ALLOW_PRIVATE_ADDRESSES = 'on'
  const receiver = await startReceiver()
  const open = async (number: number) => {
    const tenantId = await makeTenant()
    await inPlatform((trx) => grantEntitlement(trx, { tenantId, key: 'webhooks', reason: 'bench' }))
    await inTenant(tenantId, async (trx) => {
      await numberEvents(trx)
      await createEndpoint(trx, { url: receiver.url(number), types: ['promo_code.*'], subjects: ['PromoCode'] })
    })
    return tenantId
  }
  const still = await makeTenant()
  const written = await writing(still)
  const read = await reading(still)
  const bare = await bareParts(await watchProcessors({}), receiver.url(0), still)
  const ids: string[] = []
  let opened = 0
  const openOthers = async () => {
    while (opened < tenants) {
      opened += 1
      ids.push(await open(opened))
    }
  }
  await Promise.all([openOthers(), openOthers(), openOthers(), openOthers()])
  const [relay, clock, worker] = [
    await startChild('service', 'relay'),
    await startChild('service', 'scheduler', { clock: 'webhooks' }),
    await startChild('service', 'worker', { queues: { webhooks: queues.webhooks.places } }),
  ]
  const used = await watchProcessors({ relay: relay.pid, clock: clock.pid, worker: worker.pid })
  const run = (tenantIds: readonly string[], perSecond: number) => flow(receiver.arrived, used, tenantIds, perSecond)
  try {
    // The pings.
    await receiver.heard(tenants)
    // Connections plan their statements first.
    await run(ids, manyPerSecond * 0.2)
    const job = await bareJob(used, ids)
    // Slower ones first: a machine that cannot keep up with one of them has a rate at which it can.
    const steps: Flow[] = []
    for (const share of [0.05, 0.1, 0.2, 1]) {
      steps.push(await run(ids, manyPerSecond * share))
      if (steps.some((step) => step.missing > 0)) break
    }
    const one = await run(ids.slice(0, 1), onePerSecond)
    const last = steps.at(-1) ?? one
    const kept = Math.max(0, ...steps.filter(keepsUp).map((step) => step.perSecond))
    const after = (name: string, { took, written, missing }: Flow) => [
      row(`${name}, p50`, 's', percentile(took, 0.5)),
      judge({ name: `${name}, p95`, unit: 's', ours: percentile(took, 0.95), reference: null }, { most: 2 }),
      row(`${name}, written`, 'a second', written),
      judge({ name: `${name}, never arrived`, unit: 'events', ours: missing, reference: null }, { most: 0 }),
    ]
    const ways = [...steps, one].map((step) => ({
      of:
        step === one
          ? `${step.perSecond} a second of one tenant`
          : `${step.perSecond} a second over ${tenants} tenants`,
      step,
    }))
    return {
      results: [
        judge({ name: 'writing an event, and a bare insert of it', unit: 'ms', ...written }, { most: 0.2 }),
        judge({ name: '100 events of the feed, and a bare select of them, p95', unit: 'ms', ...read }, { most: 20 }),
        row(`events a second over ${tenants} tenants that are told of within 2 s at p95`, 'a second', kept),
        ...after(`from commit to the first attempt, ${last.perSecond} a second over ${tenants} tenants`, last),
        ...after(`the same, ${onePerSecond} a second of one tenant`, one),
        ...ways.map(({ of, step }) =>
          row(`processor time of an event from its writing to its answer, ${of}`, 'ms', totalOf(step.cost)),
        ),
        row('of it, bare: an insert of an event in a transaction of its own, by pg', 'ms', bare.insert),
        row('of it, bare: a job of the queue that does nothing', 'ms', job),
        row(
          'of it, bare: a signed POST and its receiver, over a new connection, and one that is kept',
          'ms',
          bare.fresh,
          bare.kept,
        ),
      ],
      notes: [
        `Written for ${seconds} s each, one transaction for each event, at ${steps.map((step) => step.perSecond).join(', ')} a second over ${tenants} tenants: p95 ${steps.map((step) => percentile(step.took, 0.95).toFixed(1)).join(', ')} s. Each tenant has an endpoint on a host of its own.`,
        `Milliseconds of a processor for each event, by process (\`bench\` writes the events and is their receiver): ${ways.map(({ of, step }) => `${of}: ${toldUse(step.cost)}`).join('; ')}.`,
        `One relay, one clock, one worker with ${queues.webhooks.places} places, the writer and the receiver share the machine.`,
      ],
    }
  } finally {
    await Promise.all([relay, clock, worker].map((child) => child.stop()))
    receiver.stop()
  }
}
