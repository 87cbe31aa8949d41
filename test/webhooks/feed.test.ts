import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { database, inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { rollPartitions } from '../../db/jobs/index.ts'
import { headOf } from '../../db/webhooks/feed.ts'
import { createEndpoint, numberEvents, unnumberedTenants } from '../../db/webhooks/index.ts'
import { nilId } from '../../config/nil-id.ts'
import { forgetLimits, makeTenant } from '../auth/support.ts'
import { openDesk, useOwner } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { aroundFrom } from '../../workers/webhooks/sequence.ts'
import { expectGapless, flow, grantWebhooks, raise, raiseIn } from './support.ts'

type Event = { id: string; sequence: number; type: string; entity: { id: string; version: number } }

describe('the feed of events', function () {
  this.timeout(60_000)
  const all = useOwner({ units: 1 }, { anew: true, more: () => ({}) })
  beforeEach(() => grantWebhooks(all.house.tenantId))

  const number = () => inTenant(all.house.tenantId, numberEvents)
  const feed = async (query = '') => {
    const { status, body } = await all.owner.get(`events${query}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return body as {
      data: Event[]
      meta: { after: number; next: number; latest: number; oldest: number; hasMore: boolean }
    }
  }
  /** Follows the feed from its beginning to its end. */
  const follow = async (query = 'limit=7') => {
    const found: Event[] = []
    for (let after = 0; ;) {
      await forgetLimits(all.world)
      const { data, meta } = await feed(`?after=${after}&${query}`)
      found.push(...data)
      after = meta.next
      if (!meta.hasMore) return found
    }
  }

  it('shows each event once, in one order without gaps, also those from before it was there', async () => {
    await raiseIn(all.house.tenantId, 25)
    await number()
    const found = await follow()
    expectGapless(found.map(({ sequence }) => sequence))
    expect(found[0]?.sequence).to.equal(1)
    expect(new Set(found.map(({ id }) => id)).size).to.equal(found.length)
    const stored = await inTenant(all.house.tenantId, (trx) => sql(trx, `select id from event`))
    expect(found.length).to.equal(stored.length)
    expect(await number()).to.equal(0)
  })

  it('answers the newest number first to those who read the lists before they follow', async () => {
    await number()
    const { data, meta } = await feed('?after=latest')
    expect(data).to.deep.equal([])
    expect(meta.next).to.equal(meta.latest)
    const [id] = await raiseIn(all.house.tenantId)
    await number()
    expect((await feed(`?after=${meta.next}`)).data.map((event) => event.id)).to.deep.equal([id])
  })

  it('narrows by type, property and record, and passes over the rest', async () => {
    const [mine] = await raiseIn(all.house.tenantId, 1, all.house.propertyId)
    await number()
    const narrow = await feed(`?types=promo_code.created&propertyId=${all.house.propertyId}`)
    expect(narrow.data.map(({ id }) => id)).to.deep.equal([mine])
    expect(narrow.meta.next).to.equal(narrow.meta.latest)
    const of = narrow.data[0]!.entity
    expect((await feed(`?entityType=promo_code&entityId=${of.id}`)).data.map(({ id }) => id)).to.deep.equal([mine])
    expect((await feed(`?entityId=${randomUUID()}`)).data).to.deep.equal([])
    expect((await feed('?types=extra.*,promo_code.*')).data.map(({ id }) => id)).to.include(mine)
  })

  it('waits for the first event, and holds no connection meanwhile', async () => {
    await number()
    const from = performance.now()
    const waiting = feed('?after=latest&waitSeconds=20&types=promo_code.*')
    await wait(1_200)
    const { pool } = database().client as { pool: { numUsed: () => number } }
    // Others of this process may ask in between.
    await until(() => pool.numUsed() === 0, { withinMs: 5_000, everyMs: 5, what: 'a pool that is not used' })
    const [id] = await raiseIn(all.house.tenantId)
    await number()
    const { data } = await waiting
    expect(data.map((event) => event.id)).to.deep.equal([id])
    expect(performance.now() - from, 'before the time was over').to.be.lessThan(19_000)
  })

  it('refuses cursors that are no number, lie ahead, or are older than what is kept', async () => {
    await raiseIn(all.house.tenantId, 3)
    await number()
    const { meta } = await feed()
    const ahead = await all.owner.get(`events?after=${meta.latest + 1}`)
    expect([ahead.status, ahead.body.code]).to.deep.equal([400, 'validation_failed'])
    for (const after of ['-1', '1.5', 'first', '01', '99999999999999999999'])
      expect((await all.owner.get(`events?after=${after}`)).status, after).to.equal(400)
    const unknown = await all.owner.get('events?types=promo_code.*,nothing.happened')
    expect([unknown.status, unknown.body.code]).to.deep.equal([400, 'type_unknown'])
  })

  it('forgets whole months once they are 90 days old, and says from where on it knows', async () => {
    const { admin } = all.world.database
    // The last day of the newest month that is wholly past its time.
    const [{ day } = { day: '' }] = await sql<{ day: string }>(
      admin,
      `select (date_trunc('month', (now() at time zone 'UTC')::date - 90) - interval '1 day')::date::text as day`,
    )
    const month = day.slice(0, 7)
    for (const table of ['event', 'webhook_delivery', 'webhook_attempt']) {
      const part = `${table}_${month.replace('-', '')}`
      await admin.raw(
        `create table ${part} partition of ${table} for values from ('${month}-01') to ('${day}'::date + 1)`,
      )
      await admin.raw(
        `do $$ begin execute format('alter table ${part} owner to %I', (select tableowner from pg_tables where tablename = '${table}')); end $$`,
      )
    }
    await inTenant(all.house.tenantId, async (trx) => {
      const ids = [await raise(trx), await raise(trx)]
      await sql(
        trx,
        `insert into event (id, type, entity, occurred_at, actor, request_id, data)
         select gen_random_uuid(), type, entity, ?::date, actor, request_id, data from event where id = any(?)`,
        [day, ids],
      )
    })
    await number()
    expect((await feed()).meta.oldest).to.equal(1)
    await inPlatform(rollPartitions)
    const old = await all.owner.get('events?after=1')
    expect([old.status, old.body.code]).to.deep.equal([422, 'cursor_expired'])
    expect(old.body.errors).to.deep.equal([{ field: 'oldest', message: '3' }])
    expect((await feed('?after=2')).data[0]?.sequence).to.equal(3)
    expect((await feed()).meta.oldest).to.equal(3)
  })

  it('shows only what the role reads, of the houses that it is for, and nothing of another tenant', async () => {
    const other = await makeHouse({ tenantId: all.house.tenantId, units: 1 })
    const [here] = await raiseIn(all.house.tenantId, 1, all.house.propertyId)
    const [there] = await raiseIn(all.house.tenantId, 1, other.propertyId)
    const [none] = await raiseIn(all.house.tenantId, 1, null)
    const stranger = await makeHouse({ units: 1 })
    await grantWebhooks(stranger.tenantId)
    await raiseIn(stranger.tenantId)
    await flow()
    const manager = await openDesk(all.world, all.house, 'manager', [all.house.propertyId])
    const seen = (await manager.get('events?types=promo_code.*')).body.data as Event[]
    expect(seen.map(({ id }) => id)).to.have.members([here, none])
    expect((await manager.get(`events?propertyId=${other.propertyId}`)).status).to.equal(403)
    expect((await follow('types=promo_code.*')).map(({ id }) => id)).to.have.members([here, there, none])
    const types = (await manager.get('webhooks/event-types?limit=100')).body.data as { type: string; subject: string }[]
    expect(types.map(({ subject }) => subject)).not.to.include('ApiKey')
    const receptionist = await openDesk(all.world, all.house, 'receptionist')
    expect((await receptionist.get('events')).status).to.equal(403)
  })

  it('numbers what is committed late after what was committed before, and skips none of it', async () => {
    const late = await database().transaction()
    await late.raw(`select set_config('app.tenant_id', ?, true)`, [all.house.tenantId])
    const lateId = randomUUID()
    await late.raw(
      `insert into event (id, type, entity, actor, request_id, data) values (?, 'promo_code.created', ?, '{"type":"system","id":null}', 'late', ?)`,
      [
        lateId,
        JSON.stringify({ type: 'promo_code', id: lateId, version: 1 }),
        JSON.stringify({ promoCodeId: lateId, code: 'LATE' }),
      ],
    )
    const [soon] = await raiseIn(all.house.tenantId)
    await number()
    await late.commit()
    await number()
    const found = await follow('types=promo_code.*')
    expect(found.map(({ id }) => id)).to.deep.equal([soon, lateId])
  })

  it('is numbered once by several sequencers at once, and wholly after one that was cut off', async () => {
    await raiseIn(all.house.tenantId, 40)
    await inTenant(all.house.tenantId, async (trx) => {
      await numberEvents(trx)
      throw new Error('killed before its commit')
    }).catch(() => undefined)
    expect(await inPlatform((trx) => unnumberedTenants(trx, nilId, 10))).to.deep.include({
      tenantId: all.house.tenantId,
    })
    await Promise.all([1, 2, 3, 4].map(number))
    expectGapless((await follow()).map(({ sequence }) => sequence))
  })

  it('loses and repeats nothing where a sequencer dies at any of its writes', async () => {
    const { admin } = all.world.database
    const listening = await inTenant(all.house.tenantId, (trx) =>
      createEndpoint(trx, { url: 'https://hooks.example/', types: ['promo_code.*'], subjects: ['PromoCode'] }),
    )
    await number()
    const ids = await raiseIn(all.house.tenantId, 5)
    const { last } = await inTenant(all.house.tenantId, headOf)
    // The connection ends in the midst of its transaction, as when its process is killed.
    await admin.raw(`create function die() returns trigger language plpgsql security definer as $$
      begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`)
    const dying = [
      ['update', 'event'],
      ['update', 'event_head'],
      ['insert', 'webhook_delivery'],
      ['insert', 'jobs'],
    ]
    for (const [verb, table] of dying) {
      await admin.raw(`create trigger die before ${verb} on ${table} for each row execute function die()`)
      let died = false
      await number().catch(() => {
        died = true
      })
      expect(died, `${verb} ${table}`).to.equal(true)
      await admin.raw(`drop trigger die on ${table}`)
      expect(await inTenant(all.house.tenantId, headOf)).to.deep.include({ last })
      expect(await inPlatform((trx) => unnumberedTenants(trx, nilId, 10))).to.deep.include({
        tenantId: all.house.tenantId,
      })
    }
    await admin.raw(`drop function die()`)
    // One event goes without its number: the others get none either.
    await admin.raw(`create function pass_over() returns trigger language plpgsql as $$
      begin return case when new.id = '${ids[2]}' then null else new end; end $$`)
    await admin.raw(`create trigger pass_over before update on event for each row execute function pass_over()`)
    let refused = ''
    await number().catch((error: Error) => {
      refused = error.message
    })
    expect(refused).to.include('division by zero')
    await admin.raw(`drop trigger pass_over on event`)
    await admin.raw(`drop function pass_over()`)
    expect(await number()).to.equal(5)
    const found = await follow('types=promo_code.*')
    expect(found.map(({ id }) => id)).to.deep.equal(ids)
    expectGapless(found.map(({ sequence }) => sequence))
    const told = await inTenant(all.house.tenantId, (trx) =>
      sql<{ eventId: string; status: string }>(
        trx,
        `select event_id, status from webhook_delivery where webhook_endpoint_id = ? order by sequence`,
        [listening.id],
      ),
    )
    expect(told).to.deep.equal(ids.map((eventId) => ({ eventId, status: 'pending' })))
    const senders = await sql(admin, `select id from jobs where tenant_id = ? and kind = 'webhooks.deliver'`, [
      all.house.tenantId,
    ])
    expect(senders).to.have.length(1)
  })

  it('is numbered for every tenant in turn, wherever a sequencer begins', async () => {
    for (let count = 0; count < 3; count += 1) await raiseIn(await makeTenant())
    const look = (after: string, most: number) => inPlatform((trx) => unnumberedTenants(trx, after, most))
    const waiting = (await look(nilId, 100)).map(({ tenantId }) => tenantId)
    expect(waiting.length).to.be.at.least(3)
    for (const begun of [nilId, randomUUID(), ...waiting]) {
      const found: string[] = []
      // Taken away, as the sequencer does.
      for await (const some of aroundFrom(look, begun, 2)) found.push(...some.splice(0))
      expect(found).to.deep.equal([
        ...waiting.filter((tenantId) => tenantId > begun),
        ...waiting.filter((tenantId) => tenantId <= begun),
      ])
    }
  })

  it('loses and repeats nothing while 16 write, two number and one follows', async () => {
    await number()
    const ends = Date.now() + 4_000
    const written: string[] = []
    let version = 1
    const record = randomUUID()
    const writer = async (index: number) => {
      for (let turn = 0; Date.now() < ends; turn += 1) {
        const isTakenBack = turn % 5 === 4
        const ids = await inTenant(all.house.tenantId, async (trx) => {
          // One record's versions, in the order of its lock.
          if (index === 0) {
            await sql(trx, `select id from property where id = ? for no key update`, [all.house.propertyId])
            version += 1
          }
          const id = await raise(trx, null, index === 0 ? { id: record, version } : {})
          if (index % 4 === 1) await sql(trx, `select pg_sleep(0.05)`)
          if (isTakenBack) throw new Error('rolled back')
          return [id]
        }).catch(() => [])
        written.push(...ids)
      }
    }
    let [isWritten, isNumbered] = [false, false]
    const sequencer = async () => {
      for (let isLast = false; !isLast;) {
        const all = isWritten
        isLast = (await number()) === 0 && all
        await wait(20)
      }
    }
    const seen: Event[] = []
    const { meta } = await feed('?after=latest')
    let after = meta.next
    const reader = async () => {
      for (let [hasMore, isLast] = [true, false]; hasMore || !isLast;) {
        isLast = isNumbered
        await forgetLimits(all.world)
        const page = await feed(`?after=${after}&types=promo_code.*`)
        seen.push(...page.data)
        after = page.meta.next
        hasMore = page.meta.hasMore
      }
    }
    const writing = Promise.all(Array.from({ length: 16 }, (_, index) => writer(index))).then(() => (isWritten = true))
    const numbering = Promise.all([sequencer(), sequencer()]).then(() => (isNumbered = true))
    await Promise.all([writing, numbering, reader()])
    expect(seen.map(({ sequence }) => sequence)).to.deep.equal(
      seen.map(({ sequence }) => sequence).toSorted((one, other) => one - other),
    )
    const versions = seen.filter(({ entity }) => entity.id === record).map(({ entity }) => entity.version)
    expect(versions.length).to.be.above(10)
    expect(versions).to.deep.equal(versions.toSorted((one, other) => one - other))
    expect(new Set(versions).size).to.equal(versions.length)
    expect(new Set(seen.map(({ id }) => id)).size).to.equal(seen.length)
    expect(seen.map(({ id }) => id).toSorted()).to.deep.equal(written.toSorted())
    expectGapless((await follow('limit=100')).map(({ sequence }) => sequence))
  })

  it('names each type with a schema that its events fit', async () => {
    const first = (await all.owner.get('webhooks/event-types?limit=100')).body
    expect(first.meta.total).to.be.greaterThan(100)
    const one = (await all.owner.get('webhooks/event-types?type=promo_code.created')).body.data
    expect(one).to.have.length(1)
    expect(one[0]).to.deep.include({
      type: 'promo_code.created',
      entity: 'promo_code',
      module: 'properties',
      feature: 'core',
      description: 'Promo code: created',
    })
    expect(one[0].data.required).to.have.members(['promoCodeId', 'code'])
  })
})
