import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { markDispatched } from '../../db/jobs/dispatch.ts'
import { failuresToClose, kindGate, listGates, openGate, setGateRate } from '../../db/jobs/gates.ts'
import { rollPartitions } from '../../db/jobs/operate.ts'
import type { CallOutcome } from '../../workers/lib/external-call.ts'
import { signOf } from '../../workers/lib/gate.ts'
import { useDatabase } from '../support/database.ts'
import { ask, gateOf, mine, other, report } from './gates.ts'
import { call, note, pick } from './support.ts'

describe('the gates of accounts, kinds and pauses', () => {
  const held = useDatabase()
  const admin = (text: string) => held.database.admin.raw(text)
  afterEach(() =>
    admin(`delete from jobs; delete from provider_gate; delete from queue_control; delete from relay_turn`),
  )

  /** The gates, in order, of what the relay would hand over now; it is marked as handed over. */
  const taken = (): Promise<string[]> =>
    inPlatform(async (trx) => {
      const { jobs } = await pick(trx, 'payments')
      markDispatched(
        trx,
        jobs.map((job) => job.id),
      )
      return jobs.map((job) => job.gate).sort((one, two) => one.localeCompare(two))
    })
  /** As if so many milliseconds had passed for all gates. */
  const pass = (ms: number) =>
    admin(`update provider_gate set tokens_at = tokens_at - interval '${ms} ms', closed_until = closed_until - interval '${ms} ms',
      probe_until = probe_until - interval '${ms} ms'`)

  it('429 closes the gate of one account for as long as it asked, and not its neighbour’s', async () => {
    await ask(mine, 2)
    await ask(other, 2)
    expect(await report(mine, 'busy', 30_000)).to.be.within(29_000, 31_000)
    expect(await taken()).to.deep.equal([other, other])
    await pass(29_000)
    expect(await taken()).to.deep.equal([])
    await pass(2_000)
    expect(await taken(), 'one tries whether it answers').to.deep.equal([mine])
    expect(await taken(), 'and nobody else meanwhile').to.deep.equal([])
    await report(mine, 'up')
    expect(await taken()).to.deep.equal([mine])
  })

  it('failures in a row close a gate; a success in between begins the count again', async () => {
    for (let n = 1; n < failuresToClose; n += 1) expect(await report(mine, 'down')).to.equal(null)
    await report(mine, 'up')
    for (let n = 1; n < failuresToClose; n += 1) expect(await report(mine, 'down')).to.equal(null)
    expect(await report(mine, 'down')).to.be.within(3_000, 6_000)
    expect(await gateOf(mine)).to.include({
      state: 'closed',
      failures: failuresToClose,
      closures: 1,
      provider: 'sandbox',
    })
  })

  it('a probe that fails closes the gate for longer, up to five minutes; failures that were under way do not', async () => {
    for (let n = 0; n < failuresToClose; n += 1) await report(mine, 'down')
    const waits: number[] = []
    for (let n = 0; n < 9; n += 1) {
      await pass(400_000)
      waits.push((await report(mine, 'down')) ?? 0)
      const again = (await report(mine, 'down')) ?? 0
      expect(again, 'the same outage').to.be.at.most(waits.at(-1) ?? 0)
    }
    expect(waits[0]).to.be.within(7_000, 11_000)
    expect(waits[1]).to.be.within(14_000, 21_000)
    expect(waits[8]).to.be.within(220_000, 300_500)
  })

  it('refused credentials close a gate at once, for half a minute at first and five minutes at most', async () => {
    await ask(mine, 2)
    expect(await report(mine, 'credentials')).to.be.within(22_000, 30_500)
    expect(await gateOf(mine)).to.include({ state: 'closed', failures: 1, lastSuccessAt: null })
    expect(await taken()).to.deep.equal([])
    for (let n = 0; n < 5; n += 1) {
      await pass(400_000)
      expect(await report(mine, 'credentials')).to.be.most(300_500)
    }
    await pass(400_000)
    expect(await taken(), 'one tries whether they are right now').to.deep.equal([mine])
  })

  it('a probe that is lost leaves its place to another after a minute', async () => {
    await ask(mine, 3)
    await report(mine, 'busy', 1_000)
    await pass(2_000)
    expect(await taken()).to.deep.equal([mine])
    await pass(59_000)
    expect(await taken()).to.deep.equal([])
    await pass(2_000)
    expect(await taken()).to.deep.equal([mine])
  })

  it('a gate that nobody used for a month goes, unless it has a rate', async () => {
    for (const gate of [mine, other, 'sandbox:rated']) await report(gate, 'up')
    await inPlatform((trx) => setGateRate(trx, 'sandbox:rated', 5))
    await admin(`update provider_gate set updated_at = now() - interval '31 days' where gate <> '${other}'`)
    await inPlatform(rollPartitions)
    const gates = await inPlatform((trx) => listGates(trx))
    expect(gates.map(({ gate }) => gate)).to.have.members([other, 'sandbox:rated'])
  })

  it('what an operator opens is open at once', async () => {
    await ask(mine, 2)
    await report(mine, 'busy', 3_600_000)
    expect(await taken()).to.deep.equal([])
    expect(await inPlatform((trx) => openGate(trx, mine))).to.equal(true)
    expect(await taken()).to.deep.equal([mine, mine])
    expect(await inPlatform((trx) => openGate(trx, mine))).to.equal(false)
  })

  it('at most n jobs a second go through an account with a rate; others are not held up', async () => {
    await inPlatform((trx) => setGateRate(trx, mine, 4))
    await ask(mine, 20)
    await ask(other, 3)
    const from = performance.now()
    expect(await taken()).to.deep.equal([mine, mine, mine, mine, other, other, other])
    // The time that passes meanwhile lets more jobs through: as many as its seconds have.
    const since = () => Math.floor((4 * (performance.now() - from)) / 1_000)
    const early = (await taken()).length
    expect(early).to.be.most(since())
    await pass(500)
    const later = (await taken()).length
    expect(early + later).to.be.within(2, 2 + since())
    await pass(60_000)
    expect(await taken(), 'what was not used is not saved up').to.have.lengthOf(4)
    await inPlatform((trx) => setGateRate(trx, mine, null))
    expect(await taken()).to.have.lengthOf(20 - 4 - early - later - 4)
  })

  it('a kind may have a rate, whatever it calls', async () => {
    await inPlatform((trx) => setGateRate(trx, kindGate(call.name), 3))
    await ask(mine, 4)
    await ask('', 4)
    expect(await taken()).to.have.lengthOf(3)
    await pass(1_000)
    expect(await taken()).to.have.lengthOf(3)
  })

  it('two relays that take from one account at once take no more than its tokens', async () => {
    await inPlatform((trx) => setGateRate(trx, mine, 5))
    await ask(mine, 20)
    await held.database.admin.raw(`update jobs set queue = 'messages' where seq % 2 = 0`)
    const from = performance.now()
    const counts = await Promise.all(
      (['payments', 'messages'] as const).map((queue) =>
        inPlatform(async (trx) => (await pick(trx, queue)).jobs.length),
      ),
    )
    const refilled = Math.floor((5 * (performance.now() - from)) / 1_000)
    expect(counts.reduce((sum, count) => sum + count, 0)).to.be.within(5, 5 + refilled)
  })

  it('a pause holds a queue, a kind, a tenant or a provider, in one queue or in all, and ends by itself', async () => {
    const tenant = randomUUID()
    const insert = (values: string) =>
      admin(`delete from queue_control; insert into queue_control (scope, queue, kind, tenant_id, provider, until, reason, actor)
        values (${values}, 'a test', '{}')`)
    const left = () => inPlatform(async (trx) => (await pick(trx, 'payments')).jobs.map((job) => job.gate || job.kind))
    await ask(mine)
    await ask('twilio')
    await inPlatform((trx) => enqueue(trx, note, { key: 'k' }))
    await admin(`update jobs set queue = 'payments', tenant_id = '${tenant}' where kind = '${note.name}'`)
    const cases: [string, string[]][] = [
      [`'kind', null, '${call.name}', null, null, null`, [note.name]],
      [`'kind', 'payments', '${call.name}', null, null, null`, [note.name]],
      [`'kind', 'ledger', '${call.name}', null, null, null`, [mine, 'twilio', note.name]],
      [`'tenant', null, null, '${tenant}', null, null`, [mine, 'twilio']],
      [`'tenant', 'messages', null, '${tenant}', null, null`, [mine, 'twilio', note.name]],
      [`'provider', null, null, null, 'sandbox', null`, ['twilio', note.name]],
      [`'provider', 'payments', null, null, 'twilio', null`, [mine, note.name]],
      [`'provider', 'messages', null, null, 'twilio', null`, [mine, 'twilio', note.name]],
      [`'queue', 'payments', null, null, null, null`, []],
      [`'queue', 'payments', null, null, null, now() - interval '1 second'`, [mine, 'twilio', note.name]],
    ]
    for (const [values, expected] of cases) {
      await insert(values)
      expect(await left(), values).to.have.members(expected)
    }
  })

  it('a backlog behind a closed gate is not walked through', async () => {
    await admin(`insert into jobs (id, queue, kind, payload, gate, request_id, actor)
      select gen_random_uuid(), 'payments', '${call.name}', '{"key": "k"}', '${mine}', 'r', '{}' from generate_series(1, 3000)`)
    await ask(other)
    await admin('analyze jobs')
    await report(mine, 'busy', 60_000)
    const read = await inPlatform(async (trx) => {
      const seen = async () =>
        (
          await sql<{ count: number }>(
            trx,
            `select coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) as count from pg_stat_xact_user_tables where relname = 'jobs'`,
          )
        )[0]?.count ?? 0
      const before = await seen()
      expect((await pick(trx, 'payments')).jobs.map((job) => job.gate)).to.deep.equal([other])
      return (await seen()) - before
    })
    expect(read).to.be.at.most(30)
  })

  it('an answer of any kind says that an account works; 429 that it is busy; 5xx, no connection and no answer that it is down', () => {
    const cases: [CallOutcome, ReturnType<typeof signOf>][] = [
      [{ kind: 'known' }, 'up'],
      [{ kind: 'refused', code: 'declined', httpStatus: 402 }, 'up'],
      [{ kind: 'not_sent', httpStatus: 429 }, 'busy'],
      [{ kind: 'not_sent', httpStatus: 503 }, 'down'],
      [{ kind: 'unknown', httpStatus: 502 }, 'down'],
      [{ kind: 'not_sent', code: 'ECONNREFUSED' }, 'down'],
      [{ kind: 'unknown', code: 'TimeoutError' }, 'down'],
      [{ kind: 'unknown', code: 'unexpected_reply', httpStatus: 200 }, null],
      [{ kind: 'not_sent', code: 'smtp_421' }, 'busy'],
      [{ kind: 'not_sent', code: 'credentials_refused', httpStatus: 401 }, 'credentials'],
      [{ kind: 'unknown', code: 'Error', httpStatus: 401 }, 'credentials'],
      [{ kind: 'refused', code: 'http_401', httpStatus: 401 }, null],
      [{ kind: 'not_sent', code: 'smtp_451' }, null],
      [{ kind: 'not_sent', code: 'smtp_not_set' }, null],
    ]
    for (const [outcome, sign] of cases) expect(signOf(outcome), JSON.stringify(outcome)).to.equal(sign)
  })
})
