import { createHmac, randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import pg from 'pg'
import { settings } from '../../config/env.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { enqueueAll } from '../../db/lib/enqueue.ts'
import { pingEndpoint } from '../../jobs/webhooks.ts'
import { totalOf, usedEach } from '../cpu.ts'
import type { Used } from '../cpu.ts'
import { fact } from './fact.ts'

const times = 1_000

const cost = async (used: () => Used, work: () => Promise<void>): Promise<Used> => {
  const before = used()
  await work()
  return usedEach(before, used(), times)
}

/** An event in a transaction of its own, by pg. */
const insert = async (tenantId: string) => {
  const client = new pg.Client({ connectionString: settings.databaseUrl })
  await client.connect()
  for (let count = 0; count < times; count += 1) {
    const { id, data } = fact(count)
    await client.query('begin')
    await client.query({ name: 'enter', text: `select set_config('app.tenant_id', $1, true)`, values: [tenantId] })
    await client.query({
      name: 'event',
      text: `insert into event (id, type, entity, actor, request_id, changed, data) values ($1, 'promo_code.created', $2, $3, 'bench', '[]', $4)`,
      values: [
        randomUUID(),
        JSON.stringify({ type: 'promo_code', id, version: 1 }),
        JSON.stringify({ type: 'system', id: null }),
        JSON.stringify(data),
      ],
    })
    await client.query('commit')
  }
  await client.end()
}

/** A signed request over a connection that is kept, or a new one; its receiver is in this process as well. */
const post = async (url: string, isKept: boolean) => {
  const agent = new Agent({ keepAlive: isKept })
  const key = Buffer.alloc(32, 7)
  const body = JSON.stringify({ id: randomUUID(), text: 'x'.repeat(400) })
  for (let count = 0; count < times; count += 1)
    await new Promise<void>((resolve, reject) => {
      const signature = createHmac('sha256', key).update(`${count}.${body}`).digest('base64')
      const headers = {
        'webhook-id': 'bare',
        'webhook-signature': signature,
        'content-length': Buffer.byteLength(body),
      }
      const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
        answer.resume()
        answer.once('end', resolve)
      })
      sent.once('error', reject)
      sent.end(body)
    })
  agent.destroy()
}

/** Jobs of the queue that find nothing to do: what the queue costs. */
const jobs = async (tenantIds: readonly string[]) => {
  for (const tenantId of tenantIds) {
    const payloads = Array.from({ length: Math.ceil(times / tenantIds.length) }, () => ({
      tenantId,
      webhookEndpointId: randomUUID(),
      pingNo: 1,
    }))
    await inTenant(tenantId, (trx) => enqueueAll(trx, pingEndpoint, payloads))
  }
  for (let left = 1; left > 0;) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const [row] = await inPlatform((trx) =>
      sql<{ count: number }>(trx, `select count(*)::int as count from jobs where kind = ?`, [pingEndpoint.name]),
    )
    left = row?.count ?? 0
  }
}

/** Milliseconds of a processor of the bare parts of an event's way, while nothing else runs. */
export const bareParts = async (used: () => Used, url: string, tenantId: string) => ({
  insert: totalOf(await cost(used, () => insert(tenantId))),
  kept: totalOf(await cost(used, () => post(url, true))),
  fresh: totalOf(await cost(used, () => post(url, false))),
})

/** Milliseconds of a processor, in all processes, of a job of the queue that finds nothing to do. */
export const bareJob = async (used: () => Used, tenantIds: readonly string[]) =>
  totalOf(await cost(used, () => jobs(tenantIds)))
