import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { queues } from '../../config/queues.ts'
import { promoCodeCreated } from '../../config/events/properties.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { emit } from '../../db/lib/events.ts'
import { createEndpoint, eventTypes, numberEvents, readFeed } from '../../db/webhooks/index.ts'
import { makeTenant } from '../../test/support/tenants.ts'
import type { Bench } from '../bench.ts'
import { startChild } from '../child.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const seconds = sized(30, 10)
const tenants = sized(1_000, 100)
const manyPerSecond = sized(1_000, 200)
const onePerSecond = sized(500, 100)

/** Notes the first arrival of each event, by its id. */
const startReceiver = async () => {
  const arrived = new Map<string, number>()
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const id = String(request.headers['webhook-id'])
      if (!arrived.has(id)) arrived.set(id, Date.now())
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  return {
    arrived,
    /** Of a host of its own for each tenant. */
    url: (number: number) =>
      `http://127.0.${Math.floor(number / 250)}.${(number % 250) + 1}:${(server.address() as AddressInfo).port}/`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const fact = (index: number) => {
  const promoCodeId = randomUUID()
  return { propertyId: null, id: promoCodeId, version: 1, data: { promoCodeId, code: `B${index}` } }
}

const bare = `insert into event (id, type, entity, actor, request_id, changed, data) values (?, 'promo_code.created', ?, ?, 'bench', '[]', ?)`

/** Milliseconds of one event in a transaction of many: by `emit`, and as a bare insert. */
const writing = async (tenantId: string) => {
  const events = sized(20_000, 4_000)
  const timed = async (work: (index: number) => Promise<void>) => {
    const from = performance.now()
    for (let done = 0; done < events; done += 200) await work(done)
    return (performance.now() - from) / events
  }
  const ours = () =>
    timed((from) =>
      inTenant(tenantId, async (trx) => {
        for (let index = from; index < from + 200; index += 1) await emit(trx, promoCodeCreated, fact(index))
      }),
    )
  const reference = () =>
    timed((from) =>
      inTenant(tenantId, async (trx) => {
        for (let index = from; index < from + 200; index += 1) {
          const { id, data } = fact(index)
          await sql(trx, bare, [
            randomUUID(),
            JSON.stringify({ type: 'promo_code', id, version: 1 }),
            JSON.stringify({ type: 'system', id: null }),
            JSON.stringify(data),
          ])
        }
      }),
    )
  await ours()
  return { ours: await ours(), reference: await reference() }
}

/** Milliseconds of 100 events of the feed in the middle of many, and of a bare select of them. */
const reading = async (tenantId: string) => {
  const types = eventTypes.map(({ type }) => type)
  const turns = 200
  let last = 0
  for (let count = 1; count > 0;) {
    count = await inTenant(tenantId, numberEvents)
    last += count
  }
  const timed = async (work: (after: number) => Promise<unknown>) => {
    const all: number[] = []
    for (let turn = 0; turn < turns; turn += 1) {
      const after = Math.floor((turn / turns) * (last - 200))
      const from = performance.now()
      await work(after)
      all.push(performance.now() - from)
    }
    return percentile(all, 0.95)
  }
  const ours = await timed((after) =>
    inTenant(tenantId, (trx) => readFeed(trx, { types, propertyIds: null }, { after: String(after), limit: 100 })),
  )
  const reference = await timed((after) =>
    inTenant(tenantId, (trx) =>
      sql(trx, `select * from event where sequence > ? order by sequence limit 100`, [after]),
    ),
  )
  return { ours, reference }
}

type Flow = {
  /** Asked for, and reached by the writer, which shares the machine. */
  perSecond: number
  written: number
  /** Seconds from the commit of each event to its first attempt; of one that never arrived, until the bench gave up on it. */
  took: number[]
  missing: number
}

const quietMs = 30_000

/** Writes events at a rate, and waits until all have arrived, or nothing has arrived for half a minute. */
const flow = async (arrived: Map<string, number>, ids: readonly string[], perSecond: number): Promise<Flow> => {
  const committed = new Map<string, number>()
  const began = Date.now()
  const everyMs = 50
  for (let turn = 0; Date.now() - began < seconds * 1_000; turn += 1) {
    const due =
      Math.floor(((turn + 1) * everyMs * perSecond) / 1_000) - Math.floor((turn * everyMs * perSecond) / 1_000)
    await Promise.all(
      Array.from({ length: due }, async () => {
        const tenantId = ids[Math.floor(Math.random() * ids.length)] ?? ''
        const id = await inTenant(tenantId, (trx) => emit(trx, promoCodeCreated, fact(turn)))
        committed.set(id, Date.now())
      }),
    )
    await wait(Math.max(0, began + (turn + 1) * everyMs - Date.now()))
  }
  const written = committed.size / ((Date.now() - began) / 1_000)
  const missing = () => [...committed.keys()].filter((id) => !arrived.has(id)).length
  for (let [left, since] = [missing(), Date.now()]; left > 0 && Date.now() - since < quietMs;) {
    await wait(250)
    const now = missing()
    if (now < left) [left, since] = [now, Date.now()]
  }
  const until = Date.now()
  const took = [...committed].map(([id, at]) => Math.max(0, (arrived.get(id) ?? until) - at) / 1_000)
  return { perSecond, written, took, missing: missing() }
}

/** Tells whether a machine keeps up: it wrote what was asked, and told of it in time. */
const keepsUp = ({ perSecond, written, took, missing }: Flow) =>
  missing === 0 && written >= 0.95 * perSecond && percentile(took, 0.95) <= 2

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
  const ids: string[] = []
  for (let count = 0; count < tenants; count += 1) ids.push(await open(count))
  const children = [
    await startChild('service', 'relay'),
    await startChild('service', 'scheduler', { clock: 'webhooks' }),
    await startChild('service', 'worker', { queues: { webhooks: queues.webhooks.places } }),
  ]
  try {
    await wait(5_000)
    // Slower ones first: a machine that cannot keep up with one of them has a rate at which it can.
    const steps: Flow[] = []
    for (const share of [0.1, 0.2, 0.4, 1]) {
      steps.push(await flow(receiver.arrived, ids, manyPerSecond * share))
      if (steps.some((step) => step.missing > 0)) break
    }
    const one = await flow(receiver.arrived, ids.slice(0, 1), onePerSecond)
    const last = steps.at(-1) ?? one
    const kept = Math.max(0, ...steps.filter(keepsUp).map((step) => step.perSecond))
    const after = (name: string, { took, written, missing }: Flow) => [
      judge({ name: `${name}, p50`, unit: 's', ours: percentile(took, 0.5), reference: null }, null),
      judge({ name: `${name}, p95`, unit: 's', ours: percentile(took, 0.95), reference: null }, { most: 2 }),
      judge({ name: `${name}, written`, unit: 'a second', ours: written, reference: null }, null),
      judge({ name: `${name}, never arrived`, unit: 'events', ours: missing, reference: null }, { most: 0 }),
    ]
    return {
      results: [
        judge({ name: 'writing an event, and a bare insert of it', unit: 'ms', ...written }, { most: 0.2 }),
        judge({ name: '100 events of the feed, and a bare select of them, p95', unit: 'ms', ...read }, { most: 20 }),
        judge(
          {
            name: `events a second over ${tenants} tenants that are told of within 2 s at p95`,
            unit: 'a second',
            ours: kept,
            reference: null,
          },
          null,
        ),
        ...after(`from commit to the first attempt, ${last.perSecond} a second over ${tenants} tenants`, last),
        ...after(`the same, ${onePerSecond} a second of one tenant`, one),
      ],
      notes: [
        `Written for ${seconds} s each, one transaction for each event, at ${steps.map((step) => step.perSecond).join(', ')} a second over ${tenants} tenants: p95 ${steps.map((step) => percentile(step.took, 0.95).toFixed(1)).join(', ')} s. Each tenant has an endpoint on a host of its own, so that an event is a request, a job and two transactions of its own.`,
        `One relay, one clock, one worker with ${queues.webhooks.places} places, the writer and the receiver share the machine.`,
      ],
    }
  } finally {
    await Promise.all(children.map((child) => child.stop()))
    receiver.stop()
  }
}
