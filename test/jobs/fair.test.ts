import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import type { PlatformTrx } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import type { EnqueueOptions } from '../../db/lib/enqueue.ts'
import { allocate } from '../../db/jobs/rules/allocation.ts'
import type { Lane } from '../../db/jobs/rules/allocation.ts'
import { lookAt, markDispatched, windowOf } from '../../db/jobs/dispatch.ts'
import type { Candidate, Room } from '../../db/jobs/dispatch.ts'
import { startRelay } from '../../workers/relay.ts'
import { useDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { inTenantJob, note, openRedis, pick, wipe } from './support.ts'

/** Tenants in the order of their turns. */
const tenants = Array.from({ length: 12 }, () => randomUUID()).sort()
const [a = '', b = '', c = '', d = ''] = tenants

let number = 0
const ask = (tenantId: string, count: number, options: EnqueueOptions = {}) =>
  inPlatform(async (trx) => {
    for (let n = 0; n < count; n += 1) await enqueue(trx, inTenantJob, { tenantId, number: (number += 1) }, options)
  })

/** A backlog, quicker than one by one. */
const flood = (trx: PlatformTrx, tenantId: string, count: number) =>
  sql(
    trx,
    `insert into jobs (id, tenant_id, queue, kind, payload, request_id, actor)
     select gen_random_uuid(), ?, 'inventory', ?, jsonb_build_object('tenantId', ?::text, 'number', n), 'flood', '{"type": "system", "id": null}'
     from generate_series(1, ?) as n`,
    [tenantId, inTenantJob.name, tenantId, count],
  )

const order: readonly (string | null)[] = tenants
const namesOf = (jobs: readonly { tenantId: string | null }[]) =>
  jobs.map((job) => 'abcdefghijkl'[order.indexOf(job.tenantId)] ?? '-').join('')

const tally = (names: string) =>
  Object.fromEntries([...new Set(names)].sort().map((name) => [name, names.split(name).length - 1]))

describe('the turns of tenants', () => {
  const held = useDatabase()
  const empty = () => held.database.admin.raw(`delete from jobs; delete from relay_turn; delete from worker_heartbeat`)
  afterEach(empty)

  /** The jobs that one turn of the relay hands over. Looks follow each other while room is left and more jobs are due. */
  const take = async (room: Partial<Room> = {}): Promise<Candidate[]> => {
    const taken: Candidate[] = []
    for (let more = true; more;)
      more = await inPlatform(async (trx) => {
        const left = room.due === undefined ? {} : { due: room.due - taken.length }
        const picked = await pick(trx, 'inventory', { ...room, ...left })
        markDispatched(
          trx,
          picked.jobs.map((job) => job.id),
        )
        taken.push(...picked.jobs)
        return picked.more
      })
    return taken
  }
  const done = () => inPlatform((trx) => sql(trx, `delete from jobs where status = 'dispatched'`))

  it('one job of each in its turn, however many one of them has', async () => {
    await inPlatform((trx) => flood(trx, a, 300))
    await ask(b, 3)
    await ask(c, 1)
    expect(namesOf(await take({ due: 8 }))).to.equal('abcababa')
  })

  it('the round goes on where it stopped, with whichever relay is next', async () => {
    for (const tenant of [a, b, c, d]) await ask(tenant, 6)
    const rounds: string[] = []
    for (let n = 0; n < 4; n += 1) rounds.push(namesOf(await take({ due: 3 })))
    expect(rounds).to.deep.equal(['abc', 'dab', 'cda', 'bcd'])
  })

  it('a tenant whose turn comes has it though it came last: nobody waits longer than one round', async () => {
    for (const tenant of [b, c, d]) await inPlatform((trx) => flood(trx, tenant, 200))
    await take({ due: 2 })
    await ask(a, 1)
    expect(namesOf(await take({ due: 3 }))).to.include('a')
  })

  it('jobs without a tenant take their turn as one', async () => {
    await inPlatform(async (trx) => {
      for (let n = 0; n < 6; n += 1) await enqueue(trx, note, { key: `${n}` })
    })
    await ask(a, 6)
    expect(tally(namesOf(await take({ due: 6 })))).to.deep.equal({ '-': 3, a: 3 })
  })

  it('kinds of a tenant go in the order of their times, and count as one', async () => {
    await inPlatform(async (trx) => {
      await flood(trx, a, 2)
      await sql(trx, `update jobs set kind = 'inventory.test-other', run_at = now() - seq * interval '1 second'`)
      await flood(trx, a, 2)
    })
    await ask(b, 4)
    const jobs = await take({ due: 8 })
    expect(namesOf(jobs)).to.equal('abababab')
    expect(jobs.filter((job) => job.tenantId === a).map((job) => job.kind)).to.deep.equal([
      'inventory.test-other',
      'inventory.test-other',
      inTenantJob.name,
      inTenantJob.name,
    ])
  })

  it('while others wait a tenant has at most its share of the window, and what nobody else wants', async () => {
    for (const tenant of [a, b, c, d, tenants[4] ?? '']) await inPlatform((trx) => flood(trx, tenant, 100))
    expect(tally(namesOf(await take()))).to.deep.equal({ a: 10, b: 10, c: 10, d: 10, e: 10 })
    await empty()
    await inPlatform((trx) => flood(trx, a, 100))
    await ask(b, 1)
    expect(tally(namesOf(await take()))).to.deep.equal({ a: 49, b: 1 })
    await done()
    await held.database.admin.raw(`delete from jobs where tenant_id = ?`, [b])
    expect(await take()).to.have.lengthOf(50)
  })

  it('what a tenant has in Redis counts for its share, whoever works on it', async () => {
    for (const tenant of [a, b, c, d, tenants[4] ?? '']) await inPlatform((trx) => flood(trx, tenant, 100))
    await take({ readyClasses: ['normal'] })
    await inPlatform((trx) => sql(trx, `delete from jobs where status = 'dispatched' and tenant_id <> ?`, [a]))
    const more = tally(namesOf(await take()))
    expect(more.a, 'twelve is a quarter of fifty').to.be.at.most(2)
    expect(Object.values(more).reduce((sum, count) => sum + count, 0)).to.equal(40)
  })

  it('urgent goes before normal before bulk, and each that waits has a tenth of the window', async () => {
    await ask(a, 80, { class: 'urgent' })
    await ask(b, 80, { class: 'normal' })
    await ask(c, 80, { class: 'bulk' })
    const counts = tally(namesOf(await take()))
    expect(counts).to.deep.include({ b: 5, c: 5 })
    expect(counts.a).to.be.within(17, 40)
    await done()
    await held.database.admin.raw(`delete from jobs where class <> 'bulk'`)
    expect(namesOf(await take()), 'nothing is kept free for those who do not wait').to.have.lengthOf(50)
  })

  it('of many tenants one with much that is urgent has its share of it before anything that is not', async () => {
    await ask(a, 30, { class: 'urgent' })
    for (const tenant of tenants.slice(1, 9)) await ask(tenant, 1, { class: 'urgent' })
    await ask(tenants[9] ?? '', 60)
    const counts = tally(namesOf(await take()))
    expect(counts.a, 'twelve is a quarter of fifty').to.be.at.least(12)
    expect(counts).to.include({ b: 1, i: 1 })
    expect(counts.j).to.be.within(5, 30)
  })

  it('what waits for its time is not walked past, is due when it comes, and waits in Redis for its last minute', async () => {
    await inPlatform(async (trx) => {
      await sql(
        trx,
        `insert into jobs (id, tenant_id, queue, kind, payload, run_at, request_id, actor)
         select gen_random_uuid(), gen_random_uuid(), 'inventory', 'inventory.test-tenant', '{}', now() + interval '1 day', 'r', '{"type": "system", "id": null}'
         from generate_series(1, 2000)`,
      )
    })
    await ask(b, 1, { at: new Date(Date.now() + 30_000) })
    await ask(c, 1)
    expect(namesOf(await take({ due: 5, waiting: 5 }))).to.equal('cb')
    await ask(d, 1, { at: new Date(Date.now() + 20_000) })
    await held.database.admin.raw(
      `update jobs set run_at = now() - interval '1 second', ready = false where tenant_id = ?`,
      [d],
    )
    expect(namesOf(await take({ due: 5, waiting: 0 }))).to.equal('d')
  })

  it('of what falls due within a minute a tenant has its share of the room as well', async () => {
    await ask(a, 60, { at: new Date(Date.now() + 20_000) })
    await ask(b, 1, { at: new Date(Date.now() + 30_000) })
    expect(tally(namesOf(await take({ waiting: 50 })))).to.deep.equal({ a: 12, b: 1 })
  })

  it('a pick looks at as many rows as it takes, not at those that wait', async () => {
    const read = async (): Promise<number> => {
      await held.database.admin.raw(`analyze jobs`)
      const touched = await inPlatform(async (trx) => {
        const seen = () =>
          sql<{ count: number }>(
            trx,
            `select coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) as count from pg_stat_xact_user_tables where relname = 'jobs'`,
          )
        const look = await lookAt(trx, 'inventory')
        const [before] = await seen()
        await pick(trx, 'inventory', { ...look, due: 20, readyClasses: ['normal'], depth: 20 })
        const [after] = await seen()
        return (after?.count ?? 0) - (before?.count ?? 0)
      })
      return touched
    }
    for (const tenant of tenants) await inPlatform((trx) => flood(trx, tenant, 40))
    const few = await read()
    for (const tenant of tenants) await inPlatform((trx) => flood(trx, tenant, 2_000))
    const many = await read()
    expect(few).to.be.greaterThan(20)
    expect(many).to.be.at.most(few + 20)
  })

  it('windows follow live workers: twice what they run, from 50 to 500; who fell silent does not count', async () => {
    expect([0, 10, 25, 26, 200, 4_000].map(windowOf)).to.deep.equal([50, 50, 50, 52, 400, 500])
    await held.database.admin.raw(`
      insert into worker_heartbeat (id, process, host, pid, version, queues, beat_at) values
        (gen_random_uuid(), 'worker', 'h', 1, 'v', '{"inventory": 40, "ledger": 7}', now()),
        (gen_random_uuid(), 'worker', 'h', 2, 'v', '{"inventory": 30}', now() - interval '9 seconds'),
        (gen_random_uuid(), 'worker', 'h', 3, 'v', '{"inventory": 99}', now() - interval '21 seconds'),
        (gen_random_uuid(), 'relay', 'h', 4, 'v', '{"inventory": 99}', now())`)
    const look = await inPlatform((trx) => lookAt(trx, 'inventory'))
    expect(look).to.include({ concurrency: 70, window: 140, share: 35 })
  })

  it('who stands at a gate with a rate is drawn by lot, and leaves half of the room to the others', () => {
    const lane = (tenant: string, isLimited: boolean): Lane<{ runAt: Date; seq: number; tenant: string }> => ({
      tenant,
      gate: isLimited ? 'smtp' : '',
      kind: 'k',
      isLimited,
      isCut: false,
      jobs: Array.from({ length: 9 }, (_, seq) => ({ runAt: new Date(0), seq, tenant })),
    })
    const share = (tokens: number, random: () => number) =>
      allocate(
        [lane('a', true), lane('b', true), lane('c', false)],
        { room: 8, share: 8, depth: 8, held: new Map(), tokens: new Map([['smtp', tokens]]) },
        random,
      )
        .jobs.map((job) => job.tenant)
        .sort()
        .join('')
    expect(share(9, () => 0)).to.equal('aabbcccc')
    expect(share(3, () => 0.99)).to.match(/^aabccccc$|^abbccccc$/)
    expect([share(1, () => 0)[0], share(1, () => 0.99)[0]]).to.have.members(['a', 'b'])
  })

  it('one tenant waits behind the flood of another for a round, through relay and Redis', async () => {
    const redis = openRedis()
    await inPlatform((trx) => flood(trx, a, 2_000))
    const seen: Candidate[] = []
    const relay = await startRelay({ afterAdd: async (jobs) => void seen.push(...jobs) })
    await until(() => Promise.resolve(seen.length >= 50))
    await ask(b, 1)
    for (let n = 0; n < 2 && !seen.some((job) => job.tenantId === b); n += 1) {
      const before = seen.length
      // Jobs that were seen may not be committed as handed over yet.
      await until(async () => {
        await done()
        relay.wake()
        return seen.length > before
      })
    }
    await relay.stop()
    expect(seen.findIndex((job) => job.tenantId === b)).to.be.within(50, 100)
    await wipe(redis)
    redis.disconnect()
  })
})
