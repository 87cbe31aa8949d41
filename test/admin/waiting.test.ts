import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { heldByGates, reportCall, whyWaits } from '../../db/jobs/index.ts'
import type { WaitCause } from '../../db/jobs/index.ts'
import { setGateRate } from '../../db/jobs/gates.ts'
import { useDatabase } from '../support/database.ts'
import { call, newKey } from '../jobs/support.ts'

describe('why a job waits', () => {
  const held = useDatabase()
  const admin = (text: string) => held.database.admin.raw(text)
  beforeEach(() =>
    admin(`delete from jobs; delete from provider_gate; delete from queue_control; delete from worker_heartbeat;
      insert into worker_heartbeat (id, process, name, host, pid, version, queues, running, loop_lag_ms, current)
      values (gen_random_uuid(), 'worker', 'w', 'h', 1, '0', '{"payments": 5}', 0, 0, '[]')`),
  )

  const ask = (at?: Date) =>
    inPlatform(
      async (trx) =>
        (await enqueue(trx, call, { key: newKey() }, { gate: 'sandbox:mine', ...(at ? { at } : {}) })) ?? '',
    )
  const causes = async (id: string): Promise<WaitCause['cause'][]> =>
    (await inPlatform((trx) => whyWaits(trx, id))).map(({ cause }) => cause)

  it('is its time, a pause, its account, a rate, or that nobody takes its queue: all that hold are told', async () => {
    const id = await ask(new Date(Date.now() + 3_600_000))
    expect(await causes(id)).to.deep.equal(['not_due'])
    await admin(
      `insert into queue_control (scope, kind, reason, actor) values ('kind', '${call.name}', 'looking', '{}')`,
    )
    await inPlatform((trx) =>
      reportCall(trx, 'sandbox:mine', 'credentials', { tenantId: null, reason: 'credentials_refused' }),
    )
    await inPlatform((trx) => setGateRate(trx, 'sandbox:mine', 3))
    await admin(`update worker_heartbeat set beat_at = now() - interval '1 minute'`)
    expect(await causes(id)).to.deep.equal(['not_due', 'paused', 'no_calls', 'rate', 'no_worker'])
    const [gate] = (await inPlatform((trx) => whyWaits(trx, id))).filter(({ cause }) => cause === 'no_calls')
    expect(gate).to.include({ gate: 'sandbox:mine', reason: 'credentials_refused' })
  })

  it('is its turn: so many of the same tenant go before it', async () => {
    const first = await ask()
    const second = await ask()
    await admin(`update jobs set run_at = run_at - interval '1 minute' where id = '${first}'`)
    const [cause] = await inPlatform((trx) => whyWaits(trx, second))
    expect(cause).to.deep.equal({ cause: 'turn', before: 1, isMore: false, inRedis: 0 })
    await admin(`update jobs set status = 'dispatched' where id = '${second}'`)
    expect(await causes(second)).to.deep.equal(['place'])
    await admin(`update jobs set status = 'dead' where id = '${second}'`)
    expect(await causes(second), 'a dead job waits for nobody').to.deep.equal([])
  })

  it('is told of a queue: how many wait for which account', async () => {
    for (let n = 0; n < 3; n += 1) await ask()
    await inPlatform((trx) => reportCall(trx, 'sandbox:mine', 'busy', { tenantId: null, reason: 'http_429' }))
    const [found] = await inPlatform((trx) => heldByGates(trx, 'payments'))
    expect(found).to.include({ gate: 'sandbox:mine', waiting: 3, reason: 'http_429' })
    expect(await inPlatform((trx) => heldByGates(trx, 'ledger'))).to.deep.equal([])
    expect(await inPlatform((trx) => sql(trx, `select from jobs where status = 'pending'`))).to.have.length(3)
  })
})
