import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { webhookLimits } from '../../config/limits.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { beginSending, createEndpoint, numberEvents } from '../../db/webhooks/index.ts'
import { useOwner } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import { drain } from '../support/drain.ts'
import { until } from '../support/until.ts'
import { flow, grantWebhooks, hookHost, openGates, raiseIn, useReceiver, verified } from './support.ts'

type Made = { id: string; secret: string; version: number } & Record<string, unknown>

describe('events delivered to an endpoint', function () {
  this.timeout(30_000)
  const receiver = useReceiver()
  const all = useOwner({ units: 1 }, { anew: true, more: () => ({}) })
  beforeEach(async () => {
    await openGates()
    await grantWebhooks(all.house.tenantId)
  })

  const create = async (given: object = {}): Promise<Made> => {
    const { status, body } = await all.owner.send('POST', 'webhooks/endpoints', {
      url: receiver.url(),
      types: ['promo_code.*'],
      ...given,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    await flow()
    receiver.heard.splice(0)
    return body as Made
  }
  const deliveries = async (query = '') =>
    (await all.owner.get(`webhooks/deliveries?limit=100${query}`)).body.data as ({
      id: string
      status: string
    } & Record<string, unknown>)[]
  const detail = async (id: string) => (await all.owner.get(`webhooks/deliveries/${id}`)).body
  const read = async (id: string) => (await all.owner.get(`webhooks/endpoints/${id}`)).body
  /** Lets what waits for its next attempt be sent now. */
  const again = async () => {
    const { admin } = all.world.database
    await sql(admin, `update webhook_delivery set due_at = now() where status = 'pending' and tenant_id = ?`, [
      all.house.tenantId,
    ])
    await sql(admin, `update jobs set run_at = now() where kind = 'webhooks.deliver' and tenant_id = ?`, [
      all.house.tenantId,
    ])
    await openGates()
    return flow()
  }

  it('come once, signed as Standard Webhooks says, with what the feed shows', async () => {
    const { secret } = await create()
    const [id] = await raiseIn(all.house.tenantId, 1, all.house.propertyId)
    await flow()
    expect(receiver.heard).to.have.length(1)
    const [heard] = receiver.heard
    const body = verified(secret, heard!)
    const feed = (await all.owner.get('events?types=promo_code.created')).body.data as unknown[]
    expect(feed).to.deep.equal([body])
    expect(heard!.headers).to.include({
      'webhook-id': id,
      'user-agent': 'Pousada-Webhooks/1',
      'content-type': 'application/json; charset=utf-8',
    })
    expect(body).to.include({ id, type: 'promo_code.created', tenantId: all.house.tenantId })
    const [delivery] = await deliveries()
    expect(delivery).to.include({ status: 'delivered', attempts: 1, eventId: id })
    const shown = await detail(delivery!.id)
    expect(shown.body).to.equal(heard!.body)
    expect(shown.log).to.have.length(1)
    expect(shown.log[0]).to.include({ number: 1, httpStatus: 204, error: null })
    await flow()
    expect(receiver.heard).to.have.length(1)
  })

  it('of one turn are written together; the first failure ends it, and the rest comes in order at the next', async () => {
    await create()
    const ids = await raiseIn(all.house.tenantId, 5)
    let heard = 0
    receiver.answers((response) => {
      heard += 1
      response.writeHead(heard === 3 ? 400 : 204).end()
    })
    await flow()
    const received = receiver.events().map(({ headers }) => headers['webhook-id'])
    expect(received).to.deep.equal(ids)
    const listed = await deliveries()
    expect(listed.map(({ status, attempts }) => [status, attempts])).to.have.deep.members([
      ...[1, 2, 3, 4].map(() => ['delivered', 1]),
      ['pending', 1],
    ])
    await again()
    expect(receiver.events().map(({ headers }) => headers['webhook-id'])).to.deep.equal([...ids, ids[2]])
  })

  it('of other types and other properties do not come; those without a property do', async () => {
    await create({ propertyIds: [all.house.propertyId], types: ['promo_code.created'] })
    await create({ types: ['reservation.*', 'extra.created'] })
    const [own] = await raiseIn(all.house.tenantId, 1, all.house.propertyId)
    const [none] = await raiseIn(all.house.tenantId, 1, null)
    await raiseIn(all.house.tenantId, 1, randomUUID())
    await flow()
    expect(receiver.events().map(({ headers }) => headers['webhook-id'])).to.have.members([own, none])
  })

  it('carry both signatures while a secret is exchanged, and one after', async () => {
    const made = await create()
    const { body } = await all.owner.send('POST', `webhooks/endpoints/${made.id}/rotate-secret`, { overlapHours: 1 })
    expect(body.secret)
      .to.match(/^whsec_/)
      .and.not.equal(made.secret)
    expect(body.previousUntil).to.be.a('string')
    await raiseIn(all.house.tenantId)
    await flow()
    const [both] = receiver.events()
    verified(made.secret, both!)
    verified(body.secret as string, both!)
    await inTenant(all.house.tenantId, (trx) =>
      sql(trx, `update webhook_endpoint set previous_until = now() - interval '1 second'`),
    )
    await raiseIn(all.house.tenantId)
    await flow()
    const after = receiver.events()[1]!
    verified(body.secret as string, after)
    expect(() => verified(made.secret, after)).to.throw()
    expect(String(after.headers['webhook-signature']).split(' ')).to.have.length(1)
    const long = await all.owner.send('POST', `webhooks/endpoints/${made.id}/rotate-secret`, { overlapHours: 169 })
    expect([long.status, long.body.code]).to.deep.equal([400, 'validation_failed'])
    const swift = await all.owner.send('POST', `webhooks/endpoints/${made.id}/rotate-secret`, { overlapHours: 0 })
    expect(swift.body.previousUntil).to.equal(null)
  })

  it('are repeated with the same bytes, ten times at the most, and can be sent again then', async () => {
    await create()
    receiver.sends(500, {}, `out of\u0000order <b>${'é'.repeat(300)}`)
    await raiseIn(all.house.tenantId)
    await flow()
    for (let attempt = 2; attempt <= 10; attempt += 1) await again()
    await again()
    expect(receiver.heard).to.have.length(10)
    expect(new Set(receiver.heard.map(({ body }) => body)).size).to.equal(1)
    expect(new Set(receiver.heard.map(({ headers }) => headers['webhook-id'])).size).to.equal(1)
    const [dead] = await deliveries()
    expect(dead).to.include({ status: 'dead', attempts: 10, nextAttemptAt: null })
    const { log } = await detail(dead!.id)
    expect(log[0]).to.include({
      number: 10,
      httpStatus: 500,
      error: null,
      excerpt: `out of order <b>${'é'.repeat(184)}`,
    })
    receiver.sends(200)
    const { status, body } = await all.owner.send('POST', `webhooks/deliveries/${dead!.id}/redeliver`)
    expect([status, body.status, body.attempts]).to.deep.equal([200, 'pending', 0])
    await openGates()
    await flow()
    expect(receiver.heard).to.have.length(11)
    const delivered = await detail(dead!.id)
    expect(delivered).to.include({ status: 'delivered', attempts: 1 })
    expect(delivered.log[0]).to.include({ number: 11 })
  })

  it('go out at once to another address, and after a pause, whatever the receiver had asked for before', async () => {
    const { id, version } = await create()
    const gate = async () =>
      (
        await sql<{ state: string }>(all.world.database.admin, `select state from provider_gate where gate = ?`, [
          `webhook:${id}`,
        ])
      )[0]?.state
    const shut = async () => {
      receiver.sends(429, { 'retry-after': '86400' })
      await raiseIn(all.house.tenantId)
      await flow()
      expect(await gate()).to.equal('closed')
      receiver.heard.splice(0)
      receiver.sends(204)
    }
    const heardOfNext = async () => {
      await raiseIn(all.house.tenantId)
      await flow()
      return receiver.heard.length
    }
    await shut()
    const patched = await all.owner.send('PATCH', `webhooks/endpoints/${id}`, { description: 'Ours' })
    expect([patched.status, await gate(), version]).to.deep.equal([200, 'closed', 1])
    expect(await heardOfNext()).to.equal(0)
    expect(
      (await all.owner.send('PATCH', `webhooks/endpoints/${id}`, { url: `${receiver.url()}/moved` })).status,
    ).to.equal(200)
    expect(await gate()).to.equal('open')
    expect(await heardOfNext()).to.be.above(0)
    await shut()
    for (const move of ['pause', 'resume'])
      expect((await all.owner.send('POST', `webhooks/endpoints/${id}/${move}`)).status).to.equal(200)
    expect(await gate()).to.equal('open')
    expect(await heardOfNext()).to.be.above(0)
  })

  it('wait as the schedule says, and as long as the receiver asks', async () => {
    const { id } = await create()
    receiver.sends(503, { 'retry-after': '7200' })
    await raiseIn(all.house.tenantId)
    await flow()
    const [asked] = await deliveries()
    const waitMs = new Date(asked!.nextAttemptAt as string).getTime() - Date.now()
    expect(waitMs).to.be.within(7_190_000, 7_201_000)
    expect(await read(id)).to.include({ status: 'failing', failures: 1, lastStatus: 503 })
    receiver.sends(500)
    await again()
    const [usual] = await deliveries()
    const usualMs = new Date(usual!.nextAttemptAt as string).getTime() - Date.now()
    expect(usualMs).to.be.within(145_000, 301_000)
    // A day at the most.
    receiver.sends(429, { 'retry-after': '999999' })
    await again()
    const [longest] = await deliveries()
    const longestMs = new Date(longest!.nextAttemptAt as string).getTime() - Date.now()
    expect(longestMs).to.be.within(86_390_000, 86_401_000)
    const [gate] = await sql<{ closedMs: number }>(
      all.world.database.admin,
      `select extract(epoch from closed_until - clock_timestamp()) * 1000 as closed_ms from provider_gate where gate = ?`,
      [`webhook:${id}`],
    )
    expect(Number(gate?.closedMs), 'the gate of the endpoint').to.be.within(86_390_000, 86_401_000)
    receiver.sends(503, { 'retry-after': new Date(Date.now() + 14_400_000).toUTCString() })
    await again()
    const [dated] = await deliveries()
    expect(new Date(dated!.nextAttemptAt as string).getTime() - Date.now()).to.be.within(14_390_000, 14_401_000)
    receiver.sends(200)
    await again()
    expect(await read(id)).to.include({ status: 'active', failures: 0, failingSince: null, lastStatus: 200 })
  })

  it('follow no redirect, and take no endless answer', async () => {
    const { id } = await create()
    receiver.sends(302, { location: 'https://hooks.example/elsewhere' })
    await raiseIn(all.house.tenantId)
    await flow()
    expect((await detail((await deliveries())[0]!.id)).log[0]).to.include({ httpStatus: 302, error: 'redirect' })
    receiver.answers((response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        response.once('drain', more)
      }
      more()
    })
    await again()
    expect((await detail((await deliveries())[0]!.id)).log[0]).to.include({ error: 'too_large' })
    receiver.answers((response) => response.destroy())
    await again()
    expect((await detail((await deliveries())[0]!.id)).log[0]).to.include({ error: 'connect_failed', httpStatus: null })
    expect(receiver.heard).to.have.length(3)
    expect(await read(id)).to.include({ failures: 3 })
  })

  it('end with an endpoint that says 410, and begin again where they ended', async () => {
    const { id } = await create()
    await raiseIn(all.house.tenantId, 2)
    await flow()
    receiver.sends(410)
    const missed = await raiseIn(all.house.tenantId, 3)
    await flow()
    expect(await read(id)).to.include({ status: 'paused', pausedCause: 'gone', pausedBy: null })
    expect((await deliveries('&status=dropped')).length).to.equal(3)
    const later = await raiseIn(all.house.tenantId, 2)
    await flow()
    receiver.heard.splice(0)
    receiver.sends(200)
    const resumed = await all.owner.send('POST', `webhooks/endpoints/${id}/resume`, { replayMissed: true })
    expect([resumed.status, resumed.body.status]).to.deep.equal([200, 'active'])
    await openGates()
    await flow()
    const ids = receiver.events().map(({ headers }) => headers['webhook-id'])
    expect(ids).to.include.members([...missed, ...later])
    expect(ids).to.have.length(5)
  })

  it('that were missed come after a second pause, too, which cuts their replay off before it begins or in the middle', async () => {
    const { id } = await create()
    const move = async (verb: 'pause' | 'resume') =>
      expect(
        (
          await all.owner.send(
            'POST',
            `webhooks/endpoints/${id}/${verb}`,
            verb === 'pause' ? {} : { replayMissed: true },
          )
        ).status,
      ).to.equal(200)
    await move('pause')
    const missed = await raiseIn(all.house.tenantId, 3)
    await flow()
    await move('resume')
    await move('pause')
    await move('resume')
    // Their deliveries are written, and not sent.
    await drain({ kinds: ['webhooks.sequence-events', 'webhooks.replay'] })
    const later = await raiseIn(all.house.tenantId, 2)
    await drain({ kinds: ['webhooks.sequence-events', 'webhooks.replay'] })
    await move('pause')
    expect(receiver.heard).to.deep.equal([])
    await move('resume')
    await openGates()
    await flow()
    const ids = receiver.events().map(({ headers }) => headers['webhook-id'])
    expect(ids).to.include.members([...missed, ...later])
    // Events that were told are not told again.
    receiver.heard.splice(0)
    await move('pause')
    await move('resume')
    await flow()
    expect(receiver.events().map(({ headers }) => headers['webhook-id'])).not.to.include.members([missed[0]])
  })

  it('that were missed stay away where that is not asked for', async () => {
    const { id } = await create()
    const paused = await all.owner.send('POST', `webhooks/endpoints/${id}/pause`, { reason: 'moving' })
    expect(paused.body).to.include({ status: 'paused', pausedCause: 'command', pausedReason: 'moving' })
    expect((await all.owner.send('POST', `webhooks/endpoints/${id}/pause`)).status).to.equal(200)
    await raiseIn(all.house.tenantId, 3)
    await flow()
    await all.owner.send('POST', `webhooks/endpoints/${id}/resume`)
    const [next] = await raiseIn(all.house.tenantId)
    await flow()
    expect(receiver.events().map(({ headers }) => headers['webhook-id'])).to.deep.equal([next])
  })

  it('that are numbered while an endpoint resumes come with what was missed', async () => {
    const { id } = await create()
    await all.owner.send('POST', `webhooks/endpoints/${id}/pause`)
    const missed = await raiseIn(all.house.tenantId, 3)
    const [resumed] = await inTenant(all.house.tenantId, async (trx) => {
      await numberEvents(trx)
      const asked = all.owner.send('POST', `webhooks/endpoints/${id}/resume`, { replayMissed: true })
      await Promise.race([asked, wait(500)])
      return [asked] as const
    })
    expect((await resumed).status).to.equal(200)
    await flow()
    expect(receiver.events().map(({ headers }) => headers['webhook-id'])).to.include.members(missed)
  })

  it('of a tenant do not wait for a receiver that hangs for another tenant', async () => {
    await create({ url: receiver.url('/hangs') })
    const other = await makeHouse()
    await grantWebhooks(other.tenantId)
    await inTenant(other.tenantId, (trx) =>
      createEndpoint(trx, { url: receiver.url('/answers'), types: ['promo_code.*'], subjects: ['PromoCode'] }),
    )
    await flow()
    receiver.heard.splice(0)
    const held: ServerResponse[] = []
    receiver.answers((response, { path }) => {
      if (path === '/hangs') held.push(response)
      else response.writeHead(204).end()
    })
    await raiseIn(all.house.tenantId, 20)
    const hanging = flow()
    await until(() => Promise.resolve(held.length > 0), { what: 'the request that hangs' })
    const [id] = await raiseIn(other.tenantId)
    await flow()
    const heard = receiver.heard.filter(({ path }) => path === '/answers')
    expect(heard.map(({ headers }) => headers['webhook-id'])).to.deep.equal([id])
    expect(held.length).to.be.within(1, 2)
    receiver.sends(204)
    for (const response of held) response.writeHead(204).end()
    await hanging
  })

  it('stop once an endpoint fails for three days and twenty times; owner and admins are written to', async () => {
    const { id } = await create()
    receiver.sends(500)
    await raiseIn(all.house.tenantId)
    await flow()
    const failSince = (days: number, failures: number) =>
      inTenant(all.house.tenantId, (trx) =>
        sql(
          trx,
          `update webhook_health set failing_since = now() - make_interval(days => ?), failures = ? where id = ?`,
          [days, failures, id],
        ),
      )
    const mails = async () =>
      (await sql<{ kind: string }>(all.world.database.admin, `select kind from user_mail order by created_at`)).map(
        ({ kind }) => kind,
      )
    await failSince(4, 5)
    await again()
    expect(await read(id)).to.include({ status: 'failing', failures: 6 })
    expect(await mails()).to.deep.equal(['webhook_failing'])
    await again()
    expect(await mails()).to.deep.equal(['webhook_failing'])
    await failSince(4, 19)
    await again()
    expect(await read(id)).to.include({ status: 'paused', pausedCause: 'failing' })
    expect(await mails()).to.deep.equal(['webhook_failing', 'webhook_paused'])
    const told = (await all.owner.get('events?types=webhook_endpoint.paused')).body.data
    await flow()
    expect(
      told.length + (await all.owner.get('events?types=webhook_endpoint.paused')).body.data.length,
    ).to.be.greaterThan(0)
  })

  it('of a deleted endpoint are dropped, and stay in the log', async () => {
    const { id } = await create()
    receiver.sends(500)
    await raiseIn(all.house.tenantId)
    await flow()
    expect((await all.owner.send('DELETE', `webhooks/endpoints/${id}`)).status).to.equal(200)
    receiver.heard.splice(0)
    await again()
    expect(receiver.heard).to.deep.equal([])
    const [dropped] = await deliveries()
    expect(dropped).to.include({ status: 'dropped', webhookEndpointId: id })
    const refused = await all.owner.send('POST', `webhooks/deliveries/${dropped!.id}/redeliver`)
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'endpoint_not_active'])
    expect((await all.owner.get(`webhooks/endpoints/${id}`)).status).to.equal(404)
  })

  it('of a span come again, once for each replay, and one replay at a time', async () => {
    const { id } = await create()
    await raiseIn(all.house.tenantId, 5)
    await flow()
    const { meta } = (await all.owner.get('events?after=latest')).body
    receiver.heard.splice(0)
    const replay = (body: object) => all.owner.send('POST', `webhooks/endpoints/${id}/replay`, body)
    const first = await replay({ fromSequence: meta.latest - 2 })
    expect([first.status, first.body.events]).to.deep.equal([200, 3])
    const second = await replay({ fromSequence: 1 })
    expect([second.status, second.body.code]).to.deep.equal([409, 'replay_running'])
    await flow()
    expect(receiver.events()).to.have.length(3)
    const third = await replay({ fromSequence: 1, types: ['promo_code.created'] })
    expect(third.body.events).to.equal(5)
    await flow()
    expect(receiver.events()).to.have.length(8)
    const since = new Date(Date.now() - 60_000).toISOString()
    expect((await replay({ from: since })).body.events).to.equal(5)
    await flow()
    expect((await replay({ from: new Date(Date.now() + 60_000).toISOString() })).body.events).to.equal(0)
    Object.assign(webhookLimits, { mostReplayed: 4 })
    try {
      const large = await replay({ fromSequence: 1 })
      expect([large.status, large.body.code]).to.deep.equal([422, 'replay_too_large'])
    } finally {
      Object.assign(webhookLimits, { mostReplayed: 100_000 })
    }
    await sql(all.world.database.admin, `update event_head set oldest_sequence = 3 where tenant_id = ?`, [
      all.house.tenantId,
    ])
    const old = await replay({ fromSequence: 2 })
    expect([old.status, old.body.code]).to.deep.equal([422, 'event_expired'])
    for (const wrong of [
      {},
      { fromSequence: 1, from: since },
      { fromSequence: 0 },
      { fromSequence: 1, types: ['nothing.*'] },
    ])
      expect((await replay(wrong)).status, JSON.stringify(wrong)).to.equal(400)
  })

  it('are not sent without the feature, and nothing of it is shown', async () => {
    const { id } = await create()
    receiver.sends(500)
    await raiseIn(all.house.tenantId)
    await flow()
    const grant = (ended: string) =>
      sql(
        all.world.database.admin,
        `update entitlement_grant set ended_at = ${ended}, end_cause = ${ended === 'null' ? 'null' : `'revoked'`} where tenant_id = ? and key = 'webhooks'`,
        [all.house.tenantId],
      )
    await all.owner.send('POST', `webhooks/endpoints/${id}/test`)
    await grant('now()')
    receiver.heard.splice(0)
    await again()
    await raiseIn(all.house.tenantId)
    await flow()
    expect(receiver.heard).to.deep.equal([])
    for (const path of ['events', 'webhooks/endpoints', 'webhooks/deliveries', 'webhooks/event-types'])
      expect((await all.owner.get(path)).body.code, path).to.equal('feature_not_enabled')
    await grant('null')
    receiver.sends(200)
    expect((await deliveries()).map(({ status }) => status)).to.deep.equal(['dropped'])
    await raiseIn(all.house.tenantId)
    await flow()
    expect(receiver.events()).to.have.length(1)
    expect(await read(id)).to.include({ status: 'active' })
  })

  it('are pinged when they are made and asked for, and readers can wait for the answer', async () => {
    receiver.sends(418, {}, 'I am a teapot')
    const { body: made } = await all.owner.send('POST', 'webhooks/endpoints', {
      url: receiver.url('/tea'),
      types: ['*'],
    })
    expect(made.lastPing).to.include({ status: 'pending' })
    const waiting = all.owner.get(`webhooks/endpoints/${made.id}?since=pending&waitSeconds=10`)
    await flow()
    expect((await waiting).body.lastPing).to.include({ status: 'failed', httpStatus: 418, excerpt: 'I am a teapot' })
    receiver.sends(200)
    const asked = await all.owner.send('POST', `webhooks/endpoints/${made.id}/test`)
    expect([asked.status, asked.body.lastPing.status]).to.deep.equal([200, 'pending'])
    receiver.heard.splice(0)
    await flow()
    expect((await read(made.id as string)).lastPing).to.include({ status: 'delivered', httpStatus: 200 })
    const ping = receiver.heard.find(({ body }) => body.includes('webhook.ping'))!
    expect(verified(made.secret as string, ping)).to.deep.include({
      type: 'webhook.ping',
      sequence: null,
      data: { webhookEndpointId: made.id },
    })
    expect(ping.path).to.equal('/tea')
  })

  /** The answer to a sender that asks for a slot. */
  const slotOf = async (endpointId: string, slot = randomUUID()) => {
    const begun = await inTenant(all.house.tenantId, (trx) => beginSending(trx, endpointId, slot))
    return typeof begun === 'string' ? begun : 'taken'
  }

  it('never go to more than two requests at a time of one endpoint, and four of a tenant', async () => {
    const made = [await create(), await create(), await create()]
    const take = (endpoint: Made, slot = randomUUID()) => slotOf(endpoint.id, slot)
    const own = randomUUID()
    expect(await take(made[0]!, own)).to.equal('taken')
    expect(await take(made[0]!)).to.equal('taken')
    expect(await take(made[0]!)).to.equal('full')
    expect(await take(made[0]!, own)).to.equal('taken')
    expect(await take(made[1]!)).to.equal('taken')
    expect(await take(made[1]!)).to.equal('taken')
    expect(await take(made[2]!)).to.equal('full')
    await inTenant(all.house.tenantId, (trx) =>
      sql(trx, `update webhook_slot set until = now() - interval '1 second' where id = ?`, [own]),
    )
    expect(await take(made[2]!)).to.equal('taken')
  })

  it('never go to more than twenty requests at a time of one host, whatever the tenants', async () => {
    const { id } = await create()
    const other = await makeHouse()
    await sql(all.world.database.admin, `delete from webhook_slot`)
    const hold = (count: number, host: string) =>
      sql(
        all.world.database.admin,
        `insert into webhook_slot (tenant_id, webhook_endpoint_id, host, until)
         select ?, gen_random_uuid(), ?, now() + interval '1 minute' from generate_series(1, ?)`,
        [other.tenantId, host, count],
      )
    const take = () => slotOf(id)
    await hold(30, 'elsewhere.example')
    await hold(19, hookHost)
    expect(await take()).to.equal('taken')
    expect(await take()).to.equal('full')
  })
})
