import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { channelConnected } from '../../config/events/channels.ts'
import { grantEntitlement } from '../../db/admin/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { emit } from '../../db/lib/events.ts'
import {
  beginReplay,
  beginSending,
  nextSending,
  numberEvents,
  recordAnswers,
  stepReplay,
} from '../../db/webhooks/index.ts'
import type { Answer, Sending } from '../../db/webhooks/index.ts'
import { webhookLimits } from '../../config/limits.ts'
import { useOwner } from '../properties/support.ts'
import { flow, grantWebhooks, openGates, raiseIn, useReceiver } from './support.ts'

const accepted: Answer = {
  at: new Date(),
  durationMs: 1,
  httpStatus: 204,
  error: null,
  excerpt: null,
  retryAfterMs: null,
}

describe('the choice of what is told', function () {
  this.timeout(30_000)
  const receiver = useReceiver()
  const all = useOwner({ units: 1 }, { anew: true, more: () => ({}) })
  beforeEach(async () => {
    await openGates()
    await grantWebhooks(all.house.tenantId)
  })

  const create = async (given: object = {}): Promise<{ id: string }> => {
    const { status, body } = await all.owner.send('POST', 'webhooks/endpoints', {
      url: receiver.url(),
      types: ['promo_code.*'],
      ...given,
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    await flow()
    receiver.heard.splice(0)
    return body as { id: string }
  }
  const tenant = () => all.house.tenantId

  it('passes over types whose feature is off, in feed, list of types, deliveries and replays, until it is on again', async () => {
    const grant = () =>
      inPlatform((trx) => grantEntitlement(trx, { tenantId: tenant(), key: 'channels', reason: 'a test' }))
    const end = (ended: 'now()' | 'null') =>
      sql(
        all.world.database.admin,
        `update entitlement_grant set ended_at = ${ended}, end_cause = ${ended === 'null' ? 'null' : `'revoked'`} where tenant_id = ? and key = 'channels'`,
        [tenant()],
      )
    await grant()
    const { id } = await create({ types: ['channel.*', 'promo_code.created'] })
    const connect = () =>
      inTenant(tenant(), (trx) => {
        const channelConnectionId = randomUUID()
        return emit(trx, channelConnected, {
          propertyId: null,
          id: channelConnectionId,
          version: 1,
          data: { channelConnectionId, driver: 'bench', cause: null },
        })
      })
    const told = () => receiver.events().map(({ headers }) => String(headers['webhook-id']))
    const shown = async () => {
      const { body } = await all.owner.get('events?types=channel.*,promo_code.*')
      return (body.data as { id: string }[]).map((event) => event.id)
    }
    // One is told; one waits for its next attempt; one comes while the feature is off.
    const before = await connect()
    await flow()
    receiver.sends(500)
    const waiting = await connect()
    await flow()
    await end('now()')
    receiver.sends(204)
    receiver.heard.splice(0)
    const off = await connect()
    const [code] = await raiseIn(tenant())
    await sql(
      all.world.database.admin,
      `update webhook_delivery set due_at = now() where tenant_id = ? and status = 'pending'`,
      [tenant()],
    )
    await openGates()
    await flow()
    expect(told()).to.deep.equal([code])
    expect(await shown()).to.deep.equal([code])
    const types = (await all.owner.get('webhooks/event-types?type=channel.connected')).body.data
    expect(types).to.deep.equal([])
    const dropped = (await all.owner.get('webhooks/deliveries?status=dropped')).body.data as unknown[]
    expect(dropped).to.deep.equal([])
    const replay = { fromSequence: 1, types: ['channel.*'] }
    expect((await all.owner.send('POST', `webhooks/endpoints/${id}/replay`, replay)).body.events).to.equal(0)
    await end('null')
    receiver.heard.splice(0)
    const after = await connect()
    await flow()
    expect(told()).to.deep.equal([after])
    expect(await shown()).to.have.members([before, waiting, off, code, after])
    const statuses = await inTenant(tenant(), (trx) =>
      sql<{ eventId: string; status: string }>(
        trx,
        `select event_id, status from webhook_delivery where type = 'channel.connected'`,
      ),
    )
    expect(Object.fromEntries(statuses.map(({ eventId, status }) => [eventId, status]))).to.deep.equal({
      [before]: 'delivered',
      [waiting]: 'dropped',
      [after]: 'delivered',
    })
  })

  it('sends replays beside live deliveries at half their share, and nothing but replays where nothing else is due', async () => {
    const { id } = await create()
    const { takenAtOnce } = webhookLimits
    await inTenant(tenant(), numberEvents)
    await raiseIn(tenant(), 6 * takenAtOnce)
    await inTenant(tenant(), numberEvents)
    await flow()
    const { replayId } = await inTenant(tenant(), async (trx) => {
      const begun = await beginReplay(trx, id, { fromSequence: 1 })
      await stepReplay(trx, begun.replayId)
      return begun
    })
    await raiseIn(tenant(), 4 * takenAtOnce)
    await inTenant(tenant(), numberEvents)
    const slotId = randomUUID()
    const turns: string[] = []
    const kindOf = async ({ deliveries: [{ deliveryId }] }: Sending) => {
      const [row] = await sql<{ replayId: string | null }>(
        all.world.database.admin,
        `select replay_id from webhook_delivery where id = ?`,
        [deliveryId],
      )
      return row?.replayId === replayId ? 'replayed' : 'live'
    }
    let sending = await inTenant(tenant(), (trx) => beginSending(trx, id, slotId))
    for (let place = 1; sending !== null && typeof sending !== 'string'; place += 1) {
      turns.push(await kindOf(sending))
      const taken: Sending = sending
      sending = await inTenant(tenant(), async (trx) => {
        await recordAnswers(
          trx,
          id,
          taken,
          taken.deliveries.map(() => accepted),
        )
        return nextSending(trx, id, { slotId, place })
      })
    }
    expect(turns.slice(0, 6)).to.deep.equal(['live', 'live', 'replayed', 'live', 'live', 'replayed'])
    expect(turns.slice(6)).to.deep.equal(['replayed', 'replayed', 'replayed', 'replayed'])
  })

  it('takes nothing where its slot was lost meanwhile', async () => {
    const { id } = await create()
    await raiseIn(tenant(), 1)
    await inTenant(tenant(), numberEvents)
    const next = () => inTenant(tenant(), (trx) => nextSending(trx, id, { slotId: randomUUID(), place: 1 }))
    expect(await next()).to.equal(null)
    expect(await inTenant(tenant(), (trx) => beginSending(trx, id, randomUUID()))).to.be.an('object')
  })

  it('is listed by endpoint, state, type, event and time', async () => {
    const [one, other] = [await create(), await create({ types: ['promo_code.created'] })]
    const [first = '', second = ''] = await raiseIn(tenant(), 2)
    await flow()
    const listed = async (query: string) => {
      const { status, body } = await all.owner.get(`webhooks/deliveries?${query}`)
      expect(status, JSON.stringify(body)).to.equal(200)
      return (body.data as { webhookEndpointId: string; eventId: string }[]).map(
        ({ webhookEndpointId, eventId }) =>
          `${webhookEndpointId === one.id ? 'one' : 'other'} ${eventId === first ? 1 : 2}`,
      )
    }
    const four = ['one 1', 'one 2', 'other 1', 'other 2']
    expect(await listed('')).to.have.members(four)
    expect(await listed(`webhookEndpointId=${other.id}`)).to.have.members(['other 1', 'other 2'])
    expect(await listed(`eventId=${second}&status=delivered`)).to.have.members(['one 2', 'other 2'])
    expect(await listed('status=pending')).to.deep.equal([])
    expect(await listed('type=promo_code.created')).to.have.members(four)
    expect(await listed('type=promo_code.archived')).to.deep.equal([])
    const ahead = encodeURIComponent(new Date(Date.now() + 60_000).toISOString())
    expect(await listed(`from=${ahead}`)).to.deep.equal([])
    expect(await listed(`to=${ahead}`)).to.have.members(four)
  })

  it('sends nothing again whose event is not kept any more', async () => {
    await create()
    await raiseIn(tenant())
    await flow()
    const [delivery] = (await all.owner.get('webhooks/deliveries')).body.data as { id: string }[]
    const path = `webhooks/deliveries/${delivery?.id}`
    // As when the month of the event was dropped.
    await sql(all.world.database.admin, `update webhook_delivery set event_id = gen_random_uuid() where id = ?`, [
      delivery?.id,
    ])
    expect((await all.owner.get(path)).body).to.include({ status: 'delivered', body: null })
    const refused = await all.owner.send('POST', `${path}/redeliver`)
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'event_expired'])
    const unknown = await all.owner.send('POST', `webhooks/deliveries/${randomUUID()}/redeliver`)
    expect([unknown.status, unknown.body.code]).to.deep.equal([404, 'not_found'])
  })

  it('sends no header beside those of the contract, over one connection for what is due together', async () => {
    await create()
    const sockets = new Set<unknown>()
    receiver.answers((response) => {
      sockets.add(response.socket)
      response.writeHead(299).end()
    })
    const ids = await raiseIn(tenant(), 5)
    await flow()
    expect(receiver.events().map(({ headers }) => headers['webhook-id'])).to.deep.equal(ids)
    expect(sockets.size).to.equal(1)
    for (const { headers } of receiver.events())
      expect(Object.keys(headers)).to.have.members([
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
        'user-agent',
        'content-type',
        'content-length',
        'host',
        'connection',
      ])
    const delivered = (await all.owner.get('webhooks/deliveries?status=delivered')).body.data as unknown[]
    expect(delivered).to.have.length(5)
  })

  it('is told over a new connection where the kept one was closed meanwhile, within the same attempt', async () => {
    await create()
    let heard = 0
    // Answers, and closes behind its answer without a word of it, as a receiver does whose patience is over.
    receiver.answers((response) => {
      heard += 1
      const { socket } = response
      response.writeHead(204).end(() => setImmediate(() => socket?.destroy()))
    })
    const ids = await raiseIn(tenant(), 4)
    await flow()
    expect([...new Set(receiver.events().map(({ headers }) => headers['webhook-id']))]).to.deep.equal(ids)
    expect(heard).to.be.at.least(4)
    const delivered = (await all.owner.get('webhooks/deliveries?status=delivered')).body.data as { attempts: number }[]
    expect(delivered.map(({ attempts }) => attempts)).to.deep.equal([1, 1, 1, 1])
  })
})
