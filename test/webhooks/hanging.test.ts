import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { webhookLimits } from '../../config/limits.ts'
import { queues } from '../../config/queues.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { beginSending, createEndpoint, deleteEndpoint, numberEvents } from '../../db/webhooks/index.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { startWorkers } from '../../workers/workers.ts'
import type { RunningWorkers } from '../../workers/workers.ts'
import { useDatabase } from '../support/database.ts'
import { makeTenant } from '../support/tenants.ts'
import { until } from '../support/until.ts'
import { grantWebhooks, raiseIn } from './support.ts'

describe('receivers that hang', function () {
  this.timeout(60_000)
  const held = useDatabase()
  const waiting: ServerResponse[] = []
  const removed: ServerResponse[] = []
  const answered: string[] = []
  let server: Server
  let relay: RunningRelay
  let workers: RunningWorkers
  const allowed = settings.allowPrivateAddresses
  const { timeoutMs, leaseSeconds } = webhookLimits

  before(async () => {
    settings.allowPrivateAddresses = true
    // A busy machine needs seconds until all of them hang, and none may be given up by then.
    Object.assign(webhookLimits, { timeoutMs: 40_000, leaseSeconds: 60 })
    server = createServer((request, response) => {
      request.resume()
      request.on('end', () => {
        if (request.url === '/hangs') return void waiting.push(response)
        if (request.url === '/removed') return void removed.push(response)
        answered.push(String(request.headers['webhook-id']))
        response.writeHead(204).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
    relay = await startRelay()
    workers = await startWorkers({ queues: ['webhooks'] })
  })
  after(async () => {
    for (const response of waiting) response.writeHead(204).end()
    await workers.stop({ deadlineMs: 5_000 })
    await relay.stop()
    server.closeAllConnections()
    server.close()
    settings.allowPrivateAddresses = allowed
    Object.assign(webhookLimits, { timeoutMs, leaseSeconds })
  })

  let hosts = 1
  /** An endpoint on a host of its own. */
  const listenOf = (tenantId: string, path: string) =>
    inTenant(tenantId, (trx) => {
      hosts += 1
      const { port } = server.address() as AddressInfo
      const url = `http://127.0.0.${hosts}:${port}${path}`
      return createEndpoint(trx, { url, types: ['promo_code.*'], subjects: ['PromoCode'] })
    })
  const open = async (path: string, endpoints: number): Promise<string> => {
    const tenantId = await makeTenant()
    await grantWebhooks(tenantId)
    await inTenant(tenantId, numberEvents)
    for (let count = 0; count < endpoints; count += 1) await listenOf(tenantId, path)
    return tenantId
  }
  const tell = async (tenantId: string, events: number): Promise<string[]> => {
    const ids = await raiseIn(tenantId, events)
    await inTenant(tenantId, numberEvents)
    return ids
  }

  it('in all the places that their tenants may take delay no other tenant', async () => {
    const hanging = await Promise.all(Array.from({ length: 8 }, () => open('/hangs', 3)))
    const other = await open('/answers', 1)
    // Events enough for two senders of each endpoint.
    for (const tenantId of hanging) await tell(tenantId, 12)
    const most = hanging.length * webhookLimits.atOncePerTenant
    await until(() => Promise.resolve(waiting.length >= most), {
      withinMs: 25_000,
      what: `${most} requests that hang`,
    })
    const [id] = await tell(other, 1)
    await until(() => Promise.resolve(answered.includes(id ?? '')), {
      withinMs: 25_000,
      what: 'the event of another tenant',
    })
    expect(waiting.filter((response) => !response.destroyed).length).to.equal(most)
  })

  it('hear nothing more once their endpoint is removed, though much waits for it', async () => {
    const tenantId = await open('/removed', 0)
    const { id } = await listenOf(tenantId, '/removed')
    // The ping first.
    await until(() => Promise.resolve(removed.length === 1), { what: 'the ping' })
    removed[0]?.writeHead(204).end()
    await tell(tenantId, 15)
    // Both senders hang, for longer than one goes on with what it has in hand.
    const both = 1 + webhookLimits.atOncePerEndpoint
    await until(() => Promise.resolve(removed.length === both), { what: 'a request of each sender' })
    const since = Date.now()
    await until(() => Promise.resolve(Date.now() - since > 2 * webhookLimits.turnMs))
    await inTenant(tenantId, async (trx) => {
      await sql(trx, `select id from webhook_endpoint where id = ? for update`, [id])
      await deleteEndpoint(trx, id)
    })
    const underWay = removed.length - 1
    for (const response of removed.slice(1)) response.writeHead(204).end()
    const left = () =>
      inTenant(tenantId, (trx) =>
        sql<{ status: string; count: number }>(
          trx,
          `select status, count(*)::int as count from webhook_delivery where webhook_endpoint_id = ? group by status order by status`,
          [id],
        ),
      )
    const told = () =>
      sql(held.database.admin, `select id from jobs where tenant_id = ? and kind = 'webhooks.deliver'`, [tenantId])
    await until(async () => (await told()).length === 0, { withinMs: 15_000, what: 'the end of the senders' })
    expect(removed.length - 1).to.equal(underWay)
    expect(await left()).to.deep.equal([
      { status: 'delivered', count: underWay },
      { status: 'dropped', count: 15 - underWay },
    ])
  })

  it('at one host, by all that may call it at once, leave most places of a process free', () => {
    expect(queues.webhooks.places).to.be.at.least(4 * webhookLimits.atOncePerHost)
    const procfile = readFileSync(new URL('../../Procfile', import.meta.url), 'utf8')
    const compose = readFileSync(new URL('../../compose.yml', import.meta.url), 'utf8')
    for (const text of [procfile, compose]) {
      const places = Number(/webhooks:(\d+)/.exec(text)?.[1])
      expect(places).to.be.at.least(queues.webhooks.places)
    }
  })

  it('with a sender that dies give its slot and its deliveries back when its time is over', async () => {
    const tenantId = await makeTenant()
    await grantWebhooks(tenantId)
    await inTenant(tenantId, numberEvents)
    const { id } = await listenOf(tenantId, '/answers')
    await workers.stop({ deadlineMs: 5_000 })
    const ids = await tell(tenantId, 3)
    const begin = (slot: string) => inTenant(tenantId, (trx) => beginSending(trx, id, slot))
    const [dead, next] = ['00000000-0000-4000-8000-00000000dead', '00000000-0000-4000-8000-00000000beef']
    const taken = await begin(dead)
    expect(typeof taken === 'object' && taken?.deliveries).to.have.length(3)
    // Another one finds nothing that is free meanwhile.
    expect(await begin(next)).to.equal(null)
    await sql(held.database.admin, `update webhook_slot set until = now() - interval '1 second' where tenant_id = ?`, [
      tenantId,
    ])
    await sql(
      held.database.admin,
      `update webhook_delivery set sending_until = now() - interval '1 second' where tenant_id = ?`,
      [tenantId],
    )
    const again = await begin(next)
    if (again === null || typeof again === 'string') throw new Error(String(again))
    expect(again.deliveries.map(({ call }) => call.id)).to.deep.equal(ids)
    const slots = await sql<{ id: string }>(held.database.admin, `select id from webhook_slot where tenant_id = ?`, [
      tenantId,
    ])
    expect(slots).to.deep.equal([{ id: next }])
    workers = await startWorkers({ queues: ['webhooks'] })
  })
})
