import { settings } from '../../config/env.ts'
import { inTenant } from '../../db/connection.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { searchOffers } from '../../db/properties/search.ts'
import { openRedis, closeRedis } from '../../api/lib/redis.ts'
import { listen, makeServer } from '../../api/server.ts'
import { clientOf } from '../../test/support/client.ts'
import type { Bench } from '../bench.ts'
import { capture } from '../capture.ts'
import type { Statement } from '../capture.ts'
import {
  copiesOf,
  makeTemplate,
  multiplyHouse,
  perTenant,
  plansOfHouse,
  prepareCopies,
  typesOfHouse,
} from '../houses.ts'
import { load } from '../load.ts'
import type { Load } from '../load.ts'
import { startApi, startReference } from '../processes/start.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const few = 10
const many = sized(1_000, 40)
const reservations = sized(2_000, 200)
const rounds = sized(3, 1)
const seconds = sized(5, 3)
const searches = sized(400, 60)
const inFlight = 8
const nights = 30
const keys = 60

const read = /\bfrom (rate_cell|restriction_cell|pool_night)\b/
const minimal = ({ text }: Statement) => read.test(text) || /^begin|^commit|set_config/i.test(text.trim())

export const bench: Bench = async ({ admin }) => {
  const house = await makeTemplate()
  await prepareCopies(admin, house)
  await multiplyHouse(admin, house, { from: 1, until: few, reservations })

  const request = (propertyId: string, index: number) => ({
    propertyId,
    arrival: house.day(5 + (index % 60)),
    departure: house.day(5 + (index % 60) + nights),
    rooms: [{ adults: 2, childrenAges: [] }],
  })
  /** Milliseconds of one search in this process, over so many properties in turn. */
  const evaluatorMs = async (count: number) => {
    const places = await copiesOf(admin, house, count)
    const times: number[] = []
    for (let index = 0; index < searches + places.length; index += 1) {
      const { tenantId, propertyId } = places[(index * 7) % places.length]!
      const startedAt = performance.now()
      const { offers } = await inTenant(tenantId, (trx) =>
        searchOffers(trx, { ...request(propertyId, index), audience: 'staff' }),
      )
      if (offers.length !== typesOfHouse * plansOfHouse) throw new Error(`${offers.length} offers`)
      // Each was asked once before it counts: what it sells is kept by then, for as many as are kept.
      if (index >= places.length) times.push(performance.now() - startedAt)
    }
    return percentile(times, 0.5)
  }
  const smallMs = await evaluatorMs(few)
  await multiplyHouse(admin, house, { from: few, until: many, reservations })
  const largeMs = await evaluatorMs(many)
  const sameMs = await evaluatorMs(few)

  const asked = await inTenant(house.tenantId, async (trx) => {
    const made: string[] = []
    for (let index = 0; index < keys; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read'] })).key)
    return made
  })
  const path = `/api/tenants/${house.tenantId}/availability/search`
  const places = await copiesOf(admin, house, perTenant)
  const shot = (index: number) => ({
    path,
    method: 'POST',
    headers: { 'x-api-key': asked[index % keys] ?? '' },
    body: request(places[index % perTenant]!.propertyId, index),
  })
  openRedis(settings.redisUrl)
  const server = await makeServer()
  const here = clientOf(await listen(server, 0, '127.0.0.1'))
  const ask = () => here('POST', path, { key: asked[0] ?? '', body: shot(0).body })
  for (let warm = 0; warm < 3; warm += 1) await ask()
  const whole = await capture(ask)
  const statements = whole.filter(minimal)
  if (statements.filter(({ text }) => read.test(text)).length !== 3) throw new Error('the reads are not three')
  server.closeAllConnections()
  server.close()
  closeRedis()

  const api = await startApi()
  const reference = await startReference('./list.ts', { url: settings.databaseUrl, statements })
  const ours: Load[] = []
  const theirs: Load[] = []
  const options = { inFlight, expected: 200 }
  await load(api.baseUrl, shot, { ...options, seconds: 2 })
  await load(reference.baseUrl, () => ({ path: '/' }), { ...options, seconds: 2 })
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await load(api.baseUrl, shot, { ...options, seconds }))
    theirs.push(await load(reference.baseUrl, () => ({ path: '/' }), { ...options, seconds }))
  }
  await Promise.all([api.stop(), reference.stop()])
  const mean = (loads: Load[], of: keyof Load) => loads.reduce((all, one) => all + one[of], 0) / loads.length
  const growth = (name: string, ms: number) =>
    judge({ name, unit: 'times', ours: ms / smallMs, reference: null }, { most: 1.2 })
  return {
    results: [
      judge(
        {
          name: `search of ${nights} nights, ${typesOfHouse} types, ${plansOfHouse} plans`,
          unit: 'searches/s',
          ours: mean(ours, 'perSecond'),
          reference: mean(theirs, 'perSecond'),
        },
        { least: 0.5 },
      ),
      judge({ name: 'the same, p95', unit: 'ms', ours: mean(ours, 'p95Ms'), reference: mean(theirs, 'p95Ms') }, null),
      judge({ name: `one at a time, ${few} properties, p50`, unit: 'ms', ours: smallMs, reference: null }, null),
      growth(`growth to ${many} properties, the same ones asked`, sameMs),
      growth(`growth to ${many} properties, all asked in turn`, largeMs),
    ],
    notes: [
      `Ours: POST availability/search with an API key (${keys} in turn), compiled, one process, no reply kept; ${perTenant} properties and 60 days of arrival in turn. ${typesOfHouse * plansOfHouse} offers, each with ${nights} nights, their taxes and policies.`,
      `Reference: node:http and pg in one process, the three minimal reads (prices, restrictions, counters) as the search sends them, in a transaction of one tenant; no price is computed.`,
      `${many} properties of ${many / perTenant} tenants, ${(many - 1) * reservations + 1} reservations. Growth: the evaluator in one process, one search at a time, over the median with ${few} properties; what a property sells is kept for 500 of them.`,
    ],
  }
}
