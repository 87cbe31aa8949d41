import { expect } from 'chai'
import { createServer as createSecureServer } from 'node:https'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { webhookLimits } from '../../config/limits.ts'
import { placeOf } from '../../config/outgoing-address.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { beginSending, createEndpoint, numberEvents, recordAnswers } from '../../db/webhooks/index.ts'
import type { Answer } from '../../db/webhooks/index.ts'
import { callOut } from '../../workers/lib/outgoing.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { selfSigned } from './self-signed.ts'
import { flow, grantWebhooks, openGates, raiseIn } from './support.ts'

const answered = (httpStatus: number): Answer => ({
  at: new Date(),
  durationMs: 5,
  httpStatus,
  error: null,
  excerpt: null,
  retryAfterMs: null,
})

describe('receivers that are not what they seem', () => {
  const world = useWorld()
  beforeEach(openGates)

  const attemptsOf = (tenantId: string) =>
    inTenant(tenantId, (trx) =>
      sql<{ error: string | null; httpStatus: number | null }>(
        trx,
        `select error, http_status from webhook_attempt order by at`,
      ),
    )
  const endpointAt = async (url: string) => {
    const { tenantId } = await makeHouse({ units: 1 })
    await grantWebhooks(tenantId)
    await inTenant(tenantId, numberEvents)
    const { id } = await inTenant(tenantId, (trx) =>
      createEndpoint(trx, { url, types: ['promo_code.*'], subjects: ['PromoCode'] }),
    )
    return { tenantId, id }
  }

  it('with a certificate that nobody vouches for hear nothing, and the attempt says tls_failed', async () => {
    let heard = 0
    const server = createSecureServer(selfSigned, (_, response) => {
      heard += 1
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const before = settings.allowPrivateAddresses
    settings.allowPrivateAddresses = true
    try {
      const { tenantId } = await endpointAt(`https://localhost:${(server.address() as AddressInfo).port}/`)
      await raiseIn(tenantId, 1)
      await flow()
      expect(await attemptsOf(tenantId)).to.deep.equal([{ error: 'tls_failed', httpStatus: null }])
      expect(heard).to.equal(0)
    } finally {
      settings.allowPrivateAddresses = before
      server.closeAllConnections()
      server.close()
    }
  })

  it('that answer byte by byte, or not at all, are given up when their time is over', async () => {
    const server = createServer((request, response) => {
      request.resume()
      if (request.url === '/silent') return
      response.writeHead(200)
      const timer = setInterval(() => response.write('.'), 20)
      response.once('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const [before, { timeoutMs }] = [settings.allowPrivateAddresses, webhookLimits]
    settings.allowPrivateAddresses = true
    Object.assign(webhookLimits, { timeoutMs: 400 })
    try {
      for (const path of ['/silent', '/slowly']) {
        const { tenantId } = await endpointAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
        await raiseIn(tenantId, 1)
        await flow()
        expect(await attemptsOf(tenantId), path).to.deep.equal([{ error: 'timeout', httpStatus: null }])
      }
    } finally {
      settings.allowPrivateAddresses = before
      Object.assign(webhookLimits, { timeoutMs })
      server.closeAllConnections()
      server.close()
    }
  })

  it('that redirect to an inner address lead nowhere', async () => {
    let inner = 0
    const hidden = createServer((_, response) => {
      inner += 1
      response.end('secret')
    })
    await new Promise<void>((resolve) => hidden.listen(0, '127.0.0.1', resolve))
    const outer = createServer((_, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${(hidden.address() as AddressInfo).port}/` }).end(),
    )
    await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve))
    const before = settings.allowPrivateAddresses
    settings.allowPrivateAddresses = true
    try {
      const { tenantId } = await endpointAt(`http://127.0.0.1:${(outer.address() as AddressInfo).port}/`)
      await raiseIn(tenantId, 1)
      await flow()
      expect(await attemptsOf(tenantId)).to.deep.equal([{ error: 'redirect', httpStatus: 302 }])
      expect(inner).to.equal(0)
    } finally {
      settings.allowPrivateAddresses = before
      for (const server of [hidden, outer]) {
        server.closeAllConnections()
        server.close()
      }
    }
  })

  it('whose name leads elsewhere after it was judged are called where it led then, and judged anew at each call', async () => {
    let asked = 0
    // Public the first time, the inside of the house from then on.
    const resolve = () => {
      asked += 1
      return Promise.resolve([{ address: asked === 1 ? '93.184.216.34' : '127.0.0.1', family: 4 }])
    }
    const url = new URL('https://turncoat.example/')
    expect(await placeOf(url, { resolve })).to.deep.equal([{ address: '93.184.216.34', family: 4 }])
    expect(asked).to.equal(1)
    let code = ''
    await placeOf(url, { resolve }).catch((error: unknown) => {
      code = (error as { code: string }).code
    })
    expect(code).to.equal('address_not_public')
    const { tenantId, id } = await endpointAt('https://localhost/')
    await raiseIn(tenantId, 1)
    await flow()
    expect(await attemptsOf(tenantId)).to.deep.equal([{ error: 'address_refused', httpStatus: null }])
    expect(id).to.be.a('string')
    const outcome = await callOut({ url: 'https://localhost/', mostBytes: 10, signal: new AbortController().signal })
    expect(outcome).to.deep.include({ kind: 'refused', code: 'address_not_public' })
  })

  it('that fail for good while another request to them succeeds are stopped without a deadlock', async () => {
    const { tenantId, id } = await endpointAt('https://hooks.example/')
    await raiseIn(tenantId, webhookLimits.takenAtOnce + 1)
    await inTenant(tenantId, numberEvents)
    const begin = async (slot: string) => {
      const sending = await inTenant(tenantId, (trx) => beginSending(trx, id, slot))
      if (sending === null || typeof sending === 'string') throw new Error(String(sending))
      return sending
    }
    const good = await begin('00000000-0000-4000-8000-000000000001')
    const gone = await begin('00000000-0000-4000-8000-000000000002')
    const deadlocks = async () => {
      const [row] = await sql<{ count: number }>(
        world.database.admin,
        `select deadlocks::int as count from pg_stat_database where datname = current_database()`,
      )
      return row?.count ?? 0
    }
    const waiting = async (count: number) => {
      for (let tries = 0; tries < 400; tries += 1) {
        const [row] = await sql<{ count: number }>(
          world.database.admin,
          `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        if ((row?.count ?? 0) >= count) return
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new Error('nobody waits')
    }
    const before = await deadlocks()
    // Both reach the health of the endpoint while somebody holds it; the failure comes first.
    const both: Promise<void>[] = []
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`select 1 from webhook_health where id = ? for update`, [id])
      both.push(inTenant(tenantId, (one) => recordAnswers(one, id, gone, [answered(410)])))
      await waiting(1)
      both.push(
        inTenant(tenantId, (one) =>
          recordAnswers(
            one,
            id,
            good,
            good.deliveries.map(() => answered(204)),
          ),
        ),
      )
      await waiting(2)
    })
    await Promise.all(both)
    await world.database.admin.raw(`select pg_stat_force_next_flush()`)
    expect(await deadlocks()).to.equal(before)
    const left = await inTenant(tenantId, (trx) =>
      sql<{ status: string }>(
        trx,
        `select status from webhook_delivery where webhook_endpoint_id = ? order by status`,
        [id],
      ),
    )
    expect(left.map((one) => one.status)).to.deep.equal([...good.deliveries.map(() => 'delivered'), 'dropped'])
  })
})
