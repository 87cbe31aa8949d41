import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { settings } from '../../config/env.ts'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { inPlatform, inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { applyTransactions, signSandbox } from '../../db/payment/index.ts'
import type { BalanceEntry } from '../../db/payment/index.ts'
import type { GatewayAccountRow } from '../../db/rows.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { House } from '../../test/support/factories.ts'
import { makeHold } from '../../test/support/stay.ts'
import type { Bench } from '../bench.ts'
import { load } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { judge, percentile } from '../report.ts'
import { sized } from '../size.ts'

const seconds = sized(20, 5)
const perSecond = sized(200, 50)
const creations = sized(200, 40)
const transactions = sized(10_000, 2_000)
const nonFinal = sized(1_000_000, 100_000)

/** Milliseconds to the acknowledgement of each callback, sent at a rate whatever the answers. */
const callbacks = async (baseUrl: string, accountRef: string): Promise<number[]> => {
  const times: number[] = []
  const send = async (count: number) => {
    const body = Buffer.from(
      JSON.stringify({
        id: `evt_${randomUUID().replaceAll('-', '')}`,
        type: 'charge.captured',
        account: accountRef,
        object: 'charge',
        ref: `ch_${randomUUID().replaceAll('-', '')}`,
        ourId: randomUUID(),
        created: Date.now(),
      }),
    )
    const headers = {
      'content-type': 'application/json',
      // A gateway calls from several addresses, each of which may send 100 a second.
      'x-forwarded-for': `10.0.0.${count % 8}`,
      'sandbox-signature': signSandbox(body, new Date(), settings.sandboxCallbackSecrets[0] ?? ''),
    }
    const from = performance.now()
    const reply = await fetch(`${baseUrl}/api/callbacks/payments/sandbox`, { method: 'POST', headers, body })
    await reply.arrayBuffer()
    // Turned away by an api that has too much to do: the gateway sends it again.
    if (reply.status !== 200 && reply.status !== 503) throw new Error(`a callback was answered ${reply.status}`)
    if (reply.status === 503) return void times.push(Number.POSITIVE_INFINITY)
    times.push(performance.now() - from)
  }
  const began = Date.now()
  const sent: Promise<void>[] = []
  for (let count = 0; count < seconds * perSecond; count += 1) {
    await wait(Math.max(0, began + (count * 1_000) / perSecond - Date.now()))
    sent.push(send(count))
  }
  await Promise.all(sent)
  return times
}

/** Milliseconds of each payment that is made for a booking of its own. */
const creating = async (baseUrl: string, house: House): Promise<number> => {
  const key = await inTenant(house.tenantId, (trx) => createApiKey(trx, { name: 'bench', scopes: ['read', 'write'] }))
  const bookings: string[] = []
  for (let made = 0; made < creations; made += 1) bookings.push(await makeHold(house, { from: 5 + (made % 40) }))
  const shot = (index: number) => ({
    path: `/api/tenants/${house.tenantId}/payments`,
    method: 'POST',
    headers: { 'x-api-key': key.key, 'idempotency-key': randomUUID() },
    body: { method: 'card', amount: 1_000, currency: 'BRL', targetType: 'booking', targetId: bookings[index] },
  })
  const most = Math.min(creations, 90)
  return (await load(baseUrl, shot, { inFlight: 1, expected: 201, seconds: 120, most })).p95Ms
}

/** Seconds of an import, 500 rows a statement, with the postings of its fees. */
const importing = async (account: GatewayAccountRow): Promise<number> => {
  const now = new Date()
  const entry = (index: number): BalanceEntry => ({
    externalId: `txn_bench_${index}`,
    kind: 'charge',
    gross: 10_000,
    fee: 438,
    platformFee: 0,
    net: 9_562,
    currency: 'BRL',
    occurredAt: now,
    availableAt: now,
    source: { type: 'payment', reference: `ch_bench_${index}` },
  })
  const from = performance.now()
  for (let done = 0; done < transactions; done += 500)
    await inTenant(account.tenantId, (trx) =>
      applyTransactions(
        trx,
        account,
        Array.from({ length: 500 }, (_, index) => entry(done + index)),
      ),
    )
  return (performance.now() - from) / 1_000
}

/** Callbacks, creation, import and sweep, each as the module's text asks for it. */
export const bench: Bench = async ({ admin }) => {
  const house = await makeHouse({ units: 30, deposit: null, settings: { portal: { holdShare: 10_000 } } })
  const account = await inTenant(house.tenantId, (trx) =>
    sqlOne<GatewayAccountRow>(trx, `select * from gateway_account where id = ?`, [house.gatewayAccountId]),
  )
  if (!account?.externalId) throw new Error('the house has no account')
  const api = await startApi()
  await callbacks(api.baseUrl, account.externalId).then(() => undefined)
  const acknowledged = await callbacks(api.baseUrl, account.externalId)
  const created = await creating(api.baseUrl, house)
  await api.stop()
  const imported = await importing(account)
  await sql(
    admin,
    `insert into payment (tenant_id, origin, channel, method, gateway_account_id, property_id, amount, currency, status, next_read_at)
     select ?, 'gateway', 'desk', 'pix', ?, ?, 1000, 'BRL', 'requires_action', now() + interval '1 hour' + n * interval '1 millisecond'
     from generate_series(1, ?) n`,
    [house.tenantId, house.gatewayAccountId, house.propertyId, nonFinal],
  )
  await sql(
    admin,
    `update payment set next_read_at = now() where id in (select id from payment where status = 'requires_action' limit 500)`,
  )
  await sql(admin, `vacuum analyze payment`)
  const sweeps: number[] = []
  let found = 0
  for (let turn = 0; turn < 50; turn += 1) {
    const from = performance.now()
    const due = await inPlatform((trx) =>
      sql(
        trx,
        `select kind, id from payments_due(200) union all select 'unallocated', id from payments_unallocated(200)`,
      ),
    )
    sweeps.push(performance.now() - from)
    found = due.length
  }
  return {
    results: [
      judge(
        {
          name: `a callback acknowledged at ${perSecond} a second, p99`,
          unit: 'ms',
          ours: percentile(acknowledged, 0.99),
          reference: null,
        },
        { most: 50 },
      ),
      judge({ name: 'a payment created, p95', unit: 'ms', ours: created, reference: null }, { most: 40 }),
      judge(
        { name: `an import of ${transactions} transactions`, unit: 's', ours: imported, reference: null },
        { most: 10 },
      ),
      judge(
        {
          name: `a sweep that finds ${found} due of ${nonFinal} payments that wait, p95`,
          unit: 'ms',
          ours: percentile(sweeps, 0.95),
          reference: null,
        },
        { most: 50 },
      ),
    ],
    notes: ['One api, compiled; its client is on the same machine.'],
  }
}
