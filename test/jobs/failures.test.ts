import { expect } from 'chai'
import { conflict, unavailable } from '../../config/errors.ts'
import { Bool, Obj, Text } from '../../config/schema.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { job } from '../../jobs/job.ts'
import { onDatabase, processor } from '../../workers/lib/processor.ts'
import { useDatabase } from '../support/database.ts'
import { deliver, dispatch, ready, refused } from './deliver.ts'
import { archived, call, effects, makeEffects, note, once, rowOf, send } from './support.ts'

describe('failures of jobs', () => {
  const held = useDatabase()
  before(() => makeEffects(held.database.admin))

  it('a failure is counted in the row, keeps its error, and is tried again; success ends it', async () => {
    const id = await ready(note)
    let failures = 2
    const each = onDatabase(note, async (trx, { key }) => {
      await sql(trx, `insert into effect (key) values (?)`, [key])
      if ((failures -= 1) >= 0) throw new Error('not yet')
    })
    expect(await deliver(each, id, 1)).to.equal('again in a moment')
    const row = await rowOf(id)
    expect(row).to.include({ status: 'dispatched', attempts: 1, starts: 1, delivery: 1 })
    expect(row?.lastError).to.include({ code: 'Error', message: 'not yet' })
    expect(row?.lastError?.stackHash).to.match(/^[0-9a-f]{16}$/)
    expect(await effects()).to.deep.equal([])
    expect(await deliver(each, id, 2)).to.equal('again in a moment')
    expect(await deliver(each, id, 3)).to.equal('done')
    expect(await archived(id)).to.include({ outcome: 'done', attempts: 2 })
    expect(await effects()).to.have.lengthOf(1)
  })

  it('the short tier over, the job waits in PostgreSQL; all over, it is dead and keeps payload and error', async () => {
    const id = await ready(call)
    const each = processor(call, () => Promise.reject(unavailable('away')))
    for (let delivery = 1; delivery < 5; delivery += 1) expect(await deliver(each, id, delivery)).to.match(/^again/)
    expect(await deliver(each, id, 5)).to.equal('later')
    const row = await rowOf(id)
    expect(row).to.include({ status: 'pending', attempts: 5 })
    const waitMs = (row?.runAt.getTime() ?? 0) - Date.now()
    expect(waitMs).to.be.within(140_000, 301_000)
    for (let round = 2; round <= 6; round += 1) {
      await dispatch(id)
      expect(await deliver(each, id, 1, round)).to.equal('later')
    }
    await dispatch(id)
    expect(await deliver(each, id, 1, 7)).to.equal('given up: service_unavailable')
    expect(await rowOf(id)).to.include({ status: 'dead', attempts: 11 })
  })

  it('a job that meets another change of its records never dies of it, and keeps its tries for its own failures', async () => {
    const few = { ...call, tries: 3 }
    const id = await ready(call)
    const contended = processor(few, () => Promise.reject(conflict('payment_busy', 'in use')))
    for (let delivery = 1; delivery < 8; delivery += 1)
      expect(await deliver(contended, id, delivery)).to.equal('again in a moment')
    expect(await deliver(contended, id, 8)).to.equal('later')
    expect(await rowOf(id)).to.include({ status: 'pending', attempts: 0, starts: 0 })
    for (let round = 2; round <= 60; round += 1) {
      await dispatch(id)
      expect(await deliver(contended, id, 1, round)).to.equal('later')
    }
    const row = await rowOf(id)
    expect(row).to.include({ status: 'pending', attempts: 0, starts: 0 })
    expect(row?.lastError).to.include({ code: 'payment_busy' })
    await dispatch(id)
    const away = processor(few, () => Promise.reject(unavailable('away')))
    for (const delivery of [1, 2]) expect(await deliver(away, id, delivery, 61)).to.match(/^again/)
    expect(await deliver(away, id, 3, 61)).to.equal('given up: service_unavailable')
  })

  it('what another try cannot mend is dead at once', async () => {
    const id = await ready(note)
    expect(await refused(id)).to.equal('given up: forbidden')
    const other = await ready(call)
    const each = processor(call, async (context) => context.giveUp('card_declined', 'the card was declined'))
    expect(await deliver(each, other, 1)).to.equal('given up: card_declined')
    expect((await rowOf(other))?.lastError).to.include({ code: 'card_declined', message: 'the card was declined' })
  })

  it('a wait that the other side asks for is kept', async () => {
    const id = await ready(call)
    const each = processor(call, async (context) => context.retryLater('busy', { afterMs: 120_000 }))
    expect(await deliver(each, id, 1)).to.equal('later')
    expect(((await rowOf(id))?.runAt.getTime() ?? 0) - Date.now()).to.be.within(60_000, 121_000)
  })

  it('a message that never passes expires; a kind with one try has one', async () => {
    const id = await ready(send)
    const each = processor(send, () => Promise.reject(new Error('greylisted')))
    for (let delivery = 1; delivery < 4; delivery += 1) await deliver(each, id, delivery)
    for (let round = 1; round <= 3; round += 1) {
      expect(await deliver(each, id, round === 1 ? 4 : 1, round)).to.equal('later')
      await dispatch(id)
    }
    expect(await deliver(each, id, 1, 4)).to.equal('given up: Error')
    expect(await rowOf(id)).to.equal(null)
    expect(await archived(id)).to.include({ outcome: 'expired', reason: 'Error' })
    const single = await ready(once)
    expect(
      await deliver(
        processor(once, () => Promise.reject(new Error('no'))),
        single,
        1,
      ),
    ).to.equal('given up: Error')
  })

  it('nothing to do ends as skipped, and rolls back what the start did', async () => {
    const id = await ready(note)
    const each = onDatabase(note, async (trx, _payload, context) => {
      await sql(trx, `insert into effect (key) values ('skipped')`)
      context.skip('hold_confirmed')
    })
    expect(await deliver(each, id, 1)).to.equal('skipped')
    expect(await archived(id)).to.include({ outcome: 'skipped', reason: 'hold_confirmed' })
    expect(await effects('skipped')).to.deep.equal([])
  })

  it('a payload that fits no more is dead at once', async () => {
    const broken = await ready(note)
    await held.database.admin.raw(`update jobs set payload = '{"other": 1}' where id = ?`, [broken])
    const each = onDatabase(note, () => Promise.resolve())
    expect(await deliver(each, broken, 1)).to.equal('given up: payload_invalid')
  })

  it('an older payload is brought up to date step by step before it is checked, whatever its version', async () => {
    const third = job({
      ...note,
      payload: Obj({ key: Text(1, 60), urgent: Bool }),
      upcasts: [({ name }) => ({ keys: [name] }), ({ keys }) => ({ key: (keys as string[])[0], urgent: false })],
    })
    expect(third.version).to.equal(3)
    const seen: unknown[] = []
    const each = onDatabase(third, async (_trx, payload) => void seen.push(payload))
    for (const [version, payload] of [
      [1, { name: 'first' }],
      [2, { keys: ['second'] }],
      [3, { key: 'third', urgent: true }],
    ] as const) {
      const id = await ready(note)
      await held.database.admin.raw(`update jobs set payload = ?, version = ? where id = ?`, [
        JSON.stringify(payload),
        version,
        id,
      ])
      expect(await deliver(each, id, 1), `version ${version}`).to.equal('done')
    }
    expect(seen).to.deep.equal([
      { key: 'first', urgent: false },
      { key: 'second', urgent: false },
      { key: 'third', urgent: true },
    ])
  })

  it('a payload of a newer release is put back for a minute by older code, in both styles, and no failure is counted', async () => {
    for (const each of [onDatabase(note, () => Promise.resolve()), processor(call, () => Promise.resolve())]) {
      const id = await ready(each.job as typeof note)
      await held.database.admin.raw(`update jobs set version = 2, payload = '{"unheard": "of"}' where id = ?`, [id])
      for (const dispatchNo of [1, 2, 3, 4, 5]) {
        if (dispatchNo > 1) await dispatch(id)
        expect(await deliver(each, id, 1, dispatchNo)).to.equal('returned')
      }
      const row = await rowOf(id)
      expect(row).to.include({ status: 'pending', attempts: 0, starts: 0, lastError: null })
      expect((row?.runAt.getTime() ?? 0) - Date.now()).to.be.within(30_000, 61_000)
      const newest = {
        ...each,
        job: job({ ...each.job, payload: Obj({ unheard: Text(1, 9) }), upcasts: [(old) => old] }),
      }
      await dispatch(id)
      expect(await deliver(newest, id, 1, 6)).to.equal('done')
    }
  })

  it('a job under which PostgreSQL went away goes back uncounted, in both styles', async () => {
    const away = () => Promise.reject(new Error('Connection terminated unexpectedly'))
    for (const each of [onDatabase(note, away), processor(call, away)]) {
      const id = await ready(each.style === 'database' ? note : call)
      expect(await deliver(each, id, 1)).to.equal('returned')
      expect(await rowOf(id)).to.include({ status: 'pending', attempts: 0, starts: 0, lastError: null })
    }
  })

  it('what fails while it is paused waits in PostgreSQL, not in Redis, which would start it again by itself', async () => {
    const id = await ready(note)
    await held.database.admin.raw(
      `insert into queue_control (scope, kind, reason, actor) values ('kind', '${note.name}', 'a test', '{}')`,
    )
    await deliver(
      onDatabase(note, () => Promise.reject(new Error('no'))),
      id,
      1,
    )
    expect(await rowOf(id)).to.include({ status: 'pending', attempts: 1 })
    await held.database.admin.raw(`delete from queue_control`)
  })

  it('however many fail, at most five hundred of a queue wait in Redis', async () => {
    const failing = onDatabase(note, () => Promise.reject(new Error('no')))
    const fill = (count: number) =>
      held.database.admin.raw(
        `insert into jobs (id, queue, kind, payload, status, run_at, request_id, actor)
         select gen_random_uuid(), 'inventory', '${note.name}', '{}', 'dispatched', now() + interval '1 minute', 'flood', '{}'
         from generate_series(1, ${count})`,
      )
    await held.database.admin.raw(`delete from jobs`)
    const [last, first] = [await ready(note), await ready(note)]
    await fill(499)
    await deliver(failing, last, 1)
    await fill(1)
    await deliver(failing, first, 1)
    expect(await rowOf(last)).to.include({ status: 'dispatched', attempts: 1 })
    expect(await rowOf(first)).to.include({ status: 'pending', attempts: 1 })
    await held.database.admin.raw(`delete from jobs where request_id = 'flood'`)
  })

  it('a job keeps the newest fifty entries of its history', async () => {
    const id = await ready(note)
    await inPlatform((trx) =>
      sql(trx, `update jobs set history = (select jsonb_agg(n) from generate_series(1, 50) n) where id = ?`, [id]),
    )
    await deliver(
      onDatabase(note, () => Promise.reject(new Error('not yet'))),
      id,
      1,
    ).catch(() => {})
    const [row] = await inPlatform((trx) =>
      sql<{ history: unknown[] }>(trx, `select history from jobs where id = ?`, [id]),
    )
    expect(row?.history).to.have.lengthOf(50)
    expect(row?.history[0]).to.equal(2)
    expect(row?.history.at(-1)).to.include({ what: 'failed', attempts: 1, message: 'not yet' })
  })
})
