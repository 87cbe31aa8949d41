import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { settings } from '../../config/env.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { closeOrder } from '../../db/inventory/index.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { Bench } from '../bench.ts'
import { capture } from '../capture.ts'
import { load } from '../load.ts'
import type { Shot } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'
import { closeBare } from '../stock/bare.ts'
import { openBar, openOrders } from '../stock/bar.ts'

const alone = sized(400, 60)
const perSecond = sized(100, 30)
const seconds = sized(10, 4)
const compared = sized(400, 60)
const inFlight = 4

/** Closes of 10 lines with recipes of 10 components: alone, at a rate on one outlet, and beside the least that must be written. */
export const bench: Bench = async ({ admin }) => {
  const bar = await openBar(await makeHouse({ units: 1, deposit: null }))
  const { tenantId, propertyId } = bar.house
  const place = await bar.byCashier((trx) =>
    sqlOne<{ id: string }>(trx, `select id from inventory_location where property_id = ?`, [propertyId]),
  )
  const keys = await bar.byCashier(async (trx) => {
    const made: string[] = []
    for (let index = 0; index < 20; index += 1)
      made.push((await createApiKey(trx, { name: `bench ${index}`, scopes: ['read', 'write'] })).key)
    return made
  })
  const settlements = [{ type: 'payment' as const, method: 'card' as const, cashAccountId: bar.cardAccountId }]
  const [first = '', second = ''] = await openOrders(bar, 2)
  await bar.byCashier((trx) => closeOrder(trx, first, settlements))
  const statements = (await capture(() => bar.byCashier((trx) => closeOrder(trx, second, settlements)))).length
  const shots = await openOrders(bar, alone + perSecond * seconds + compared * 2)
  await sql(admin, `vacuum analyze`)
  const take = (count: number) => shots.splice(0, count)
  const api = await startApi()
  const shot = (orderIds: readonly string[]) => (index: number) => ({
    path: `/api/tenants/${tenantId}/inventory/orders/${orderIds[index]}/close`,
    method: 'POST',
    headers: { 'x-api-key': keys[index % keys.length] ?? '', 'idempotency-key': randomUUID() },
    body: { settlements },
  })
  const options = { expected: 200, seconds: 600 }
  const calm = await load(api.baseUrl, shot(take(alone)), { ...options, inFlight: 1, most: alone })
  const rated = await atRate(api.baseUrl, shot(take(perSecond * seconds)))
  const ours = await load(api.baseUrl, shot(take(compared)), { ...options, inFlight, most: compared })
  await api.stop()
  const bare = { url: settings.databaseUrl, tenantId, locationId: place?.id ?? '', inFlight }
  const reference = await closeBare(bare, take(compared))
  return {
    results: [
      judge({ name: 'a close, one after the other, p95', unit: 'ms', ours: calm.p95Ms, reference: null }, { most: 60 }),
      judge(
        {
          name: `a close at ${perSecond} a second on one outlet, p95`,
          unit: 'ms',
          ours: percentile(rated, 0.95),
          reference: null,
        },
        { most: 60 },
      ),
      judge(
        { name: 'closes on one outlet', unit: 'a second', ours: ours.perSecond, reference: reference.perSecond },
        null,
      ),
      judge({ name: 'statements of a close', unit: 'statements', ours: statements, reference: null }, null),
    ],
    notes: [
      'Ours: POST …/close by API keys, compiled, one process: 10 lines, each of a recipe of 10 components, of 40 items; paid by card. All closes share the stock of one bar.',
      `Reference: pg in one process, prepared, ${inFlight} in flight as ours: the order, its use, the stock, the movement, the settlement and the status, and nothing else: no posting, payment, event, audit or kept reply.`,
    ],
  }
}

/** Milliseconds of requests that are sent at a rate, whatever the answers. */
const atRate = async (baseUrl: string, shot: (index: number) => Shot): Promise<number[]> => {
  const times: number[] = []
  const began = performance.now()
  const sent: Promise<unknown>[] = []
  for (let index = 0; index < perSecond * seconds; index += 1) {
    await wait(Math.max(0, began + (index * 1_000) / perSecond - performance.now()))
    const { path, method = 'POST', headers = {}, body } = shot(index)
    const from = performance.now()
    sent.push(
      fetch(`${baseUrl}${path}`, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).then(async (reply) => {
        const text = await reply.text()
        // Turned away by an api that has too much to do, or by stock that others hold: the till sends it again.
        if (reply.status === 503 || reply.status === 409) return void times.push(Number.POSITIVE_INFINITY)
        if (reply.status !== 200) throw new Error(`a close was answered ${reply.status}: ${text.slice(0, 300)}`)
        times.push(performance.now() - from)
      }),
    )
  }
  await Promise.all(sent)
  return times
}
