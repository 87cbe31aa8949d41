import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { syncConnection } from '../../db/channels/lifecycle.ts'
import { beginPush } from '../../db/channels/push.ts'
import { keepUp } from '../../db/channels/upkeep.ts'
import { startRelay } from '../../workers/relay.ts'
import type { RunningRelay } from '../../workers/relay.ts'
import { drain } from '../support/drain.ts'
import type { House } from '../support/factories.ts'
import { startProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { useShop } from './shop.ts'
import { connect, connectionRow, marksLeft, settle } from './support.ts'

describe('What a channel is told, whatever goes wrong', function () {
  this.timeout(120_000)
  const folder = mkdtempSync(join(tmpdir(), 'pousada-channels-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  let relay: RunningRelay | null = null
  afterEach(async () => {
    await relay?.stop()
    relay = null
  })

  const shop = useShop()
  const { simulator, sell, pushNow } = shop
  let house: House
  before(() => void (house = shop.house))

  it('while it changes is told again: a push deletes the marks that it read, and no others', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    await account.behave('waits')
    await sell(15, 1, 1)
    const first = settle()
    await until(async () => (await account.look()).log.at(-1)?.ranges[0]?.available === 2)
    await sell(15, 1, 1)
    await drain({ kinds: ['channels.mark-dirty'] })
    expect(await marksLeft(house, id), 'the mark that was read, and the new one').to.have.length(2)
    await account.behave('well')
    await first
    await settle()
    expect((await account.look()).days[`DBL||${house.day(15)}`]?.available).to.equal(1)
    expect(await marksLeft(house, id)).to.deep.equal([])
  })

  it('is told by one of two who try at once, and the other leaves nothing behind', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    const before = (await account.look()).log.length
    await sell(16)
    await drain({ kinds: ['channels.mark-dirty'] })
    const starts = await Promise.all([1, 2].map(() => house.inHouse((trx) => beginPush(trx, id, randomUUID()))))
    expect(starts.filter((one) => one === 'busy')).to.have.length(1)
    expect(starts.filter((one) => typeof one === 'object')).to.have.length(1)
    await house.inHouse((trx) =>
      sql(trx, `update channel_connection set push_lease_until = now() - interval '1 second' where id = ?`, [id]),
    )
    await settle()
    expect((await account.look()).log).to.have.length(before + 1)
  })

  it('after a worker died between sending and writing is told anew, of the values of then', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    await sell(18)
    await drain({ kinds: ['channels.mark-dirty'] })
    relay = await startRelay()
    const dying = await startProcess('workers', {
      WORKER_QUEUES: 'channels:1',
      CHANNEL_SIMULATOR_PORT: String(simulator.port),
      CRASH_AT: `call.answered/push@${join(folder, 'answered')}`,
    })
    await dying.exited
    await relay.stop()
    relay = null
    expect((await account.look()).days[`DBL||${house.day(18)}`]?.available).to.equal(2)
    expect(await marksLeft(house, id), 'nothing is lost with it').to.have.length(1)
    const { pushLeaseBy } = await connectionRow(house, id)
    const begin = (jobId: string) => house.inHouse((trx) => beginPush(trx, id, jobId))
    expect(await begin(randomUUID()), 'the lease is still there').to.equal('busy')
    expect(await begin(pushLeaseBy ?? ''), 'and the job that has it goes on').to.be.an('object')
    await house.inHouse((trx) =>
      sql(trx, `update channel_connection set push_lease_until = now() - interval '1 second' where id = ?`, [id]),
    )
    await sell(18)
    await settle()
    expect(await marksLeft(house, id)).to.deep.equal([])
    expect((await account.look()).days[`DBL||${house.day(18)}`]?.available).to.equal(1)
    const statuses = await house.inHouse((trx) =>
      sql<{ status: string; error: string | null }>(
        trx,
        `select distinct status, error from channel_push where channel_connection_id = ? order by 1`,
        [id],
      ),
    )
    expect(statuses).to.deep.equal([
      { status: 'accepted', error: null },
      { status: 'failed', error: 'interrupted' },
    ])
  })

  it('that it is busy for, fails at or refuses is kept, said in its record, and told when it is well again', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    for (const [mood, error, from] of [
      ['busy', 'http_429', 21],
      ['failing', 'http_500', 22],
      ['refuses', 'http_403', 23],
    ] as const) {
      await account.behave(mood)
      await sell(from)
      await drain({ kinds: ['channels.mark-dirty'] })
      await pushNow()
      expect(await connectionRow(house, id)).to.include({ lastError: error, pushFailures: 1, pushLeaseUntil: null })
      await account.behave('well')
      await house.inHouse((trx) => sql(trx, `update channel_connection set push_not_before = null where id = ?`, [id]))
      await pushNow()
      expect((await account.look()).days[`DBL||${house.day(from)}`]?.available).to.equal(2)
      expect(await connectionRow(house, id)).to.include({ lastError: null, pushFailures: 0 })
    }
  })

  it('and does not answer is told again: what it may have heard is not taken for said', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    await account.behave('drops')
    await sell(27)
    await drain({ kinds: ['channels.mark-dirty'] })
    await pushNow()
    expect((await account.look()).days[`DBL||${house.day(27)}`]?.available, 'it has acted').to.equal(2)
    expect(await marksLeft(house, id)).to.have.length(1)
    await account.behave('well')
    await house.inHouse((trx) => sql(trx, `update channel_connection set push_not_before = null where id = ?`, [id]))
    await pushNow()
    expect(await marksLeft(house, id)).to.deep.equal([])
    const keys = (await account.look()).log.map((one) => one.key).filter((key) => key !== null)
    expect(new Set(keys), 'each push has its own key').to.have.length(keys.length)
  })

  it('is everything again once a day, and when somebody asks; what was left over is found by the clock', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    const pushed = async () => (await account.look()).log.filter((one) => one.path === '/ari').length
    const look = async () => {
      const before = await pushed()
      await house.inHouse((trx) => keepUp(trx, id))
      await settle()
      return (await pushed()) - before
    }
    expect(await look(), 'the first look tells it once more').to.equal(2)
    expect(await look()).to.equal(0)
    await house.inHouse((trx) =>
      sql(trx, `update channel_connection set resynced_on = resynced_on - 1 where id = ?`, [id]),
    )
    expect(await look(), 'availability and rates').to.equal(2)
    await sell(28)
    await drain({ kinds: ['channels.mark-dirty'] })
    await shop.database.admin.raw(`delete from jobs where kind = 'channels.push'`)
    await shop.database.admin.raw(`update channel_dirty set changed_at = now() - interval '31 seconds'`)
    expect(await look(), 'the push was lost, its marks were not').to.equal(1)
    const before = await pushed()
    await house.inHouse((trx) => syncConnection(trx, id, { rates: true, bookings: false }))
    await settle()
    expect((await pushed()) - before).to.equal(2)
  })

  it('and does not take is said range by range', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    await account.behave('rejects')
    await sell(24)
    await settle()
    expect((await connectionRow(house, id)).lastError).to.equal('DBL: no such room')
    const [push] = await house.inHouse((trx) =>
      sql(
        trx,
        `select status, error from channel_push where channel_connection_id = ? order by started_at desc limit 1`,
        [id],
      ),
    )
    expect(push).to.deep.equal({ status: 'partial', error: 'DBL: no such room' })
  })
})
