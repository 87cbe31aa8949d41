import { expect } from 'chai'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { changeConnection } from '../../db/channels/connections.ts'
import { activateConnection } from '../../db/channels/lifecycle.ts'
import { readPayload } from '../../db/channels/revisions.ts'
import { keepUp } from '../../db/channels/upkeep.ts'
import { eraseChannelPayloads } from '../../jobs/channels.ts'
import { drain } from '../support/drain.ts'
import type { House } from '../support/factories.ts'
import { useShop } from './shop.ts'
import {
  bookingRow,
  connect,
  connectionRow,
  counters,
  makeConnection,
  newExternalId,
  receive,
  revisionOf,
} from './support.ts'

describe('What a channel is asked', function () {
  this.timeout(120_000)
  const shop = useShop()
  const { simulator } = shop
  let house: House
  before(() => void (house = shop.house))
  const revision = (given: Parameters<typeof revisionOf>[1] = {}) => revisionOf(house, given)
  const keeping = () => makeConnection(house, { name: 'keeping', secret: 'x'.repeat(20) })

  it('keeps what a channel said sealed, without what a card number may be, and erases it', async () => {
    const [stored] = await receive(
      house,
      await keeping(),
      revision({ from: 24, notes: 'Pay with 4111 1111 1111 1111, CVV 123' }),
    )
    const row = await bookingRow(house, stored?.id ?? '')
    expect(row.payload?.toString('utf8')).to.not.contain('Ana Clara')
    const said = await house.inHouse((trx) => readPayload(trx, row))
    expect(said?.notes).to.equal('Pay with [removed], [removed]')
    await house.inHouse((trx) =>
      sql(trx, `update channel_booking set departure = current_date - 91 where id = ?`, [row.id]),
    )
    await inPlatform((trx) => enqueue(trx, eraseChannelPayloads, {}))
    await drain({ kinds: ['privacy.erase-channel-payloads'] })
    expect((await bookingRow(house, row.id)).payload).to.equal(null)
  })

  it('is fetched page by page, repeated and out of order, kept before it is acknowledged, and never twice', async () => {
    const { id: at, account } = await connect(house, simulator)
    const externalId = newExternalId()
    const revisions = [
      { id: 'r1', ...revision({ externalId }) },
      { id: 'r2', ...revision({ externalId, revision: 2, kind: 'modified', nights: 1 }) },
      { id: 'r3', ...revision({ from: 34 }), rooms: 'none' },
    ]
    await account.sell(revisions)
    const pull = async () => {
      await house.inHouse((trx) => sql(trx, `update channel_connection set next_pull_at = null where id = ?`, [at]))
      await house.inHouse((trx) => keepUp(trx, at))
      await drain({ kinds: ['channels.pull'] })
    }
    await pull()
    const stored = await house.inHouse((trx) =>
      sql<{ externalId: string; acknowledgedAt: Date | null }>(
        trx,
        `select external_id, acknowledged_at from channel_booking where channel_connection_id = ?`,
        [at],
      ),
    )
    expect(stored.map((row) => row.acknowledgedAt)).to.deep.equal([null, null, null])
    expect((await account.look()).acknowledged).to.deep.equal([])
    await account.behave('repeats')
    await pull()
    await drain({ kinds: ['channels.apply-booking', 'channels.acknowledge'] })
    const rows = await house.inHouse((trx) =>
      sql<{ revision: number; status: string; said: boolean }>(
        trx,
        `select revision, status, acknowledged_at is not null as said from channel_booking where channel_connection_id = ? order by created_at, revision`,
        [at],
      ),
    )
    expect(rows.map((row) => [row.revision, row.status, row.said])).to.have.deep.members([
      [1, 'applied', true],
      [2, 'applied', true],
      [1, 'failed', true],
    ])
    expect((await account.look()).acknowledged).to.have.members(['r1', 'r2', 'r3'])
    expect((await counters(house, 30, 2)).map((night) => night.sold)).to.deep.equal([1, 0])
  })

  it('calls for somebody once an hour when it cannot be fetched, or is not applied, for ten minutes', async () => {
    const { id: at, account } = await connect(house, simulator)
    await account.behave('failing')
    const calls = async () => {
      await house.inHouse((trx) => keepUp(trx, at))
      await drain({ kinds: ['channels.pull'] })
      const rows = await house.inHouse((trx) =>
        sql<{ cause: string }>(
          trx,
          `select data ->> 'cause' as cause from event where type = 'channel.attention_needed' and data ->> 'channelConnectionId' = ? order by occurred_at, id`,
          [at],
        ),
      )
      return rows.map((row) => row.cause)
    }
    const set = (columns: string) =>
      house.inHouse((trx) => sql(trx, `update channel_connection set ${columns} where id = ?`, [at]))
    await set('next_pull_at = null')
    expect(await calls()).to.deep.equal([])
    expect((await connectionRow(house, at)).pullFailingSince).to.not.equal(null)
    await set(`pull_failing_since = now() - interval '11 minutes'`)
    expect(await calls()).to.deep.equal(['pull_failed'])
    expect(await calls(), 'once an hour').to.deep.equal(['pull_failed'])
    await set(
      `attention_at = now() - interval '61 minutes', pull_failing_since = null, next_pull_at = now() + interval '1 hour'`,
    )
    const [stuck] = await receive(house, at, revision({ currency: 'EUR' }))
    expect(await calls()).to.deep.equal(['pull_failed'])
    await house.inHouse((trx) =>
      sql(trx, `update channel_booking set created_at = now() - interval '11 minutes' where id = ?`, [stuck?.id]),
    )
    expect(await calls()).to.deep.equal(['pull_failed', 'bookings_unapplied'])
  })

  it('begins with a test: refused, or not answered three times, it has failed', async () => {
    const account = await simulator.account('never-there')
    const at = await makeConnection(house, { ...account, secret: 'another secret, which is wrong' })
    const activate = async () => {
      await house.inHouse((trx) => activateConnection(trx, at))
      const done = await drain({ kinds: ['channels.test'] })
      return { tries: done.length, row: await connectionRow(house, at) }
    }
    const refused = await activate()
    expect(refused.row).to.include({ status: 'failed', lastError: 'http_401' })
    expect(refused.tries).to.equal(1)
    await house.inHouse((trx) => changeConnection(trx, at, { credentials: { secret: account.secret } }))
    await account.behave('failing')
    const silent = await activate()
    expect(silent.row).to.include({ status: 'failed', lastError: 'http_500' })
    expect(silent.tries).to.equal(3)
    await account.behave('well')
    expect((await activate()).row).to.include({ status: 'active', lastError: null })
  })
})
