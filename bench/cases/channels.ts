import { simulatorHost } from '../../config/channels.ts'
import { standIn } from '../../workers/lib/outgoing.ts'
import { makeTenant } from '../../test/support/tenants.ts'
import { startSimulator } from '../../test/support/channel-simulator/peer.ts'
import type { Bench } from '../bench.ts'
import { changeInBulk } from '../channels/bulk.ts'
import { changeSteadily, hear } from '../channels/changes.ts'
import { postAll } from '../channels/bare.ts'
import { openBigShop, openShop, untilTold } from '../channels/shops.ts'
import type { Shop } from '../channels/shops.ts'
import { startChild } from '../child.ts'
import type { Child } from '../child.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const tenants = 5
const channelsOfShop = 2
const perSecond = 10
const seconds = sized(60, 15)
/** While a bulk change goes out. */
const secondsBeside = sized(20, 10)

type Lag = { count: number; sum: number; within: (seconds: number) => number }

/** The lag that the metric of the worker shows, over all drivers and kinds so far. */
const readLag = async (worker: Child): Promise<Lag> => {
  worker.send({ type: 'metrics' })
  const { metrics } = await worker.next<{
    metrics: { name: string; values: { metricName?: string; value: number; labels: { le?: number | string } }[] }[]
  }>('answer')
  const values = metrics.find((one) => one.name === 'channel_push_lag_seconds')?.values ?? []
  const sum = (suffix: string, le?: number) =>
    values
      .filter((one) => one.metricName?.endsWith(suffix) && (le === undefined || one.labels.le === le))
      .reduce((total, one) => total + one.value, 0)
  return { count: sum('_count'), sum: sum('_sum'), within: (le) => sum('_bucket', le) }
}

/** The lag of channels behind what is sold here, with a simulator of them in a process of its own. */
export const bench: Bench = async ({ admin }) => {
  const simulator = await startSimulator()
  process.env.CHANNEL_SIMULATOR_PORT = String(simulator.port)
  const leave = standIn({ host: simulatorHost, port: simulator.port })
  const children = [
    await startChild('service', 'relay'),
    await startChild('service', 'scheduler'),
    await startChild('service', 'worker', { queues: { channels: 10 } }),
    // Where bulk changes are computed, which no other queue waits for.
    await startChild('service', 'worker', { queues: { reports: 2 } }),
  ] as const
  const [, , worker] = children
  try {
    const shops: Shop[] = []
    for (let tenant = 0; tenant < tenants; tenant += 1) {
      const tenantId = await makeTenant({ name: `Group ${tenant}` })
      for (const number of [1, 2])
        shops.push(await openShop(simulator, tenantId, `c${tenant}-${number}`, channelsOfShop))
    }
    await untilTold(admin, 60_000)
    const before = await readLag(worker)
    const since = Date.now()
    const changes = await changeSteadily(shops, { perSecond, seconds })
    await untilTold(admin, 60_000)
    const after = await readLag(worker)
    const heard = await hear(shops, changes, since)

    const big = await openBigShop(simulator, sized(714, 72))
    await untilTold(admin, 180_000)
    const from = (perSecond * seconds) / shops.length
    const sinceBulk = Date.now()
    const [bulk, beside] = await Promise.all([
      changeInBulk(admin, big),
      changeSteadily(shops, { perSecond, seconds: secondsBeside, from }),
    ])
    await untilTold(admin, 60_000)
    const heardBeside = await hear(shops, beside, sinceBulk)

    const plain = await postAll(simulator, heard.pushes)
    const plainBulk = await postAll(simulator, bulk.pushes)
    const plainMs = plainBulk.reduce((sum, ms) => sum + ms, 0)
    const lag = (name: string, lags: readonly number[], share: number, goal: number | null) =>
      judge(
        {
          name: `${name}, p${share * 100}`,
          unit: 's',
          ours: percentile([...lags], share) / 1_000,
          reference: null,
        },
        goal === null ? null : { most: goal },
      )
    const pushed = after.count - before.count
    const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
    const within = (bound: number) => (after.within(bound) - before.within(bound)) / pushed
    const heardWithin = (bound: number) => heard.oldest.filter((ms) => ms <= bound * 1_000).length / heard.oldest.length
    const share = (value: number) => `${(value * 100).toFixed(1)} %`
    return {
      results: [
        lag('a price, a sale or a block until the channel has it', heard.lags.waits, 0.5, null),
        lag('the same', heard.lags.waits, 0.99, 10),
        lag('what closes sales', heard.lags.closes, 0.5, null),
        lag('the same, closing', heard.lags.closes, 0.99, 2),
        lag(`each of ${big.cells} prices of a bulk change`, bulk.lags, 0.5, null),
        lag('the same, in bulk', bulk.lags, 0.99, null),
        lag('a price, a sale or a block of others meanwhile', heardBeside.lags.waits, 0.99, 10),
        lag('what closes sales of others meanwhile', heardBeside.lags.closes, 0.99, 2),
        judge(
          {
            name: 'prices told of a bulk change, and plain posts of the same',
            unit: 'per second',
            ours: (big.cells / bulk.pushedMs) * 1_000,
            reference: (big.cells / plainMs) * 1_000,
          },
          null,
        ),
        judge(
          {
            name: 'its pushes, and plain posts of the same',
            unit: 'per second',
            ours: (bulk.pushes.length / bulk.pushedMs) * 1_000,
            reference: (bulk.pushes.length / plainMs) * 1_000,
          },
          null,
        ),
        judge(
          {
            name: 'mean lag by the metric, and as the channel saw it',
            unit: 's',
            ours: (after.sum - before.sum) / pushed,
            reference: meanOf(heard.oldest) / 1_000,
          },
          null,
        ),
      ],
      notes: [
        `${changes.length} changes at ${perSecond} a second in ${shops.length} houses of ${tenants} tenants, each with ${channelsOfShop} channels, each of a night of its own: half of the houses change prices, sell and block, the other half sells last rooms and stops sales. From the commit to the channel's having the whole of the request.`,
        `What does not close sales waits 6 s for others that come along (R29 of the design), so that ${changes.length * channelsOfShop} news went out in ${heard.pushes.length} pushes. A plain post of such a body takes ${percentile(plain, 0.5).toFixed(1)} ms, ${percentile(plain, 0.99).toFixed(1)} ms at p99.`,
        `The metric counted ${pushed} pushes, the channels ${heard.pushes.length}. Within 2 s: ${share(within(2))} by the metric, ${share(heardWithin(2))} by the channels; within 8 s: ${share(within(8))} and ${share(heardWithin(8))}; within 10 s: ${share(within(10))} and ${share(heardWithin(10))}.`,
        `The bulk change went out in ${bulk.pushes.length} pushes of at most 1,000 ranges within ${(bulk.pushedMs / 1_000).toFixed(1)} s; no two nights in a row cost the same, so that nothing could be put together.`,
        'One relay, one worker with ten places for channels, one for bulk changes, the clock; each a process. Plain posts: the same bodies signed alike, one after the other over one connection.',
      ],
    }
  } finally {
    leave()
    await Promise.all(children.map((child) => child.stop()))
    await simulator.stop()
  }
}
