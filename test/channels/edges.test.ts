import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { simulatorHost } from '../../config/channels.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { changeConnection } from '../../db/channels/connections.ts'
import { disconnect, requestPull } from '../../db/channels/lifecycle.ts'
import { beginPush, pushArrived, pushFailed } from '../../db/channels/push.ts'
import { dueChannels, keepUp } from '../../db/channels/upkeep.ts'
import { open } from '../../workers/channels/drivers/open.ts'
import { standIn } from '../../workers/lib/outgoing.ts'
import { drain } from '../support/drain.ts'
import type { House } from '../support/factories.ts'
import { useShop } from './shop.ts'
import {
  connect,
  connectionRow,
  makeConnection,
  marksLeft,
  newExternalId,
  receive,
  revisionOf,
  settle,
  staysOf,
} from './support.ts'

describe('What a channel says that is out of the common', function () {
  this.timeout(120_000)
  const shop = useShop()
  let house: House
  let id: string
  before(() => void (house = shop.house))
  beforeEach(async () => {
    id = await makeConnection(house, { name: newExternalId(), secret: 'x'.repeat(20) })
  })
  const revision = (given: Parameters<typeof revisionOf>[1] = {}) => revisionOf(house, { from: 40, ...given })

  it('of a booking of which a guest has left leaves his room alone, and takes no other for it', async () => {
    const externalId = newExternalId()
    const [stored] = await receive(house, id, revision({ externalId, rooms: 2 }))
    const [first, second] = await staysOf(house, stored?.bookingId ?? null)
    for (const moved of [
      `status = 'checked_in', actual_check_in_at = now(), check_in_business_date = arrival`,
      `status = 'checked_out', actual_check_out_at = now(), check_out_business_date = departure`,
    ])
      await house.inHouse((trx) => sql(trx, `update reservation set ${moved} where id = ?`, [first?.id]))
    const said = revision({ externalId, revision: 2, kind: 'modified', rooms: 2 })
    const longer = revision({ nights: 3 }).rooms
    const [changed] = await receive(house, id, { ...said, rooms: [said.rooms[0]!, longer[0]!], total: 5 * 17_333 })
    expect(changed).to.include({ status: 'applied', error: null })
    expect(
      (await staysOf(house, stored?.bookingId ?? null)).map((stay) => [stay.id, stay.status, stay.departure]),
    ).to.deep.equal([
      [first?.id, 'checked_out', house.day(42)],
      [second?.id, 'confirmed', house.day(43)],
    ])
    const [over] = await receive(house, id, revision({ externalId, revision: 3, kind: 'modified', rooms: 1 }))
    expect((await staysOf(house, stored?.bookingId ?? null)).map((stay) => stay.status)).to.deep.equal([
      'checked_out',
      'cancelled',
    ])
    const [late] = await receive(
      house,
      id,
      revision({ externalId, revision: 4, kind: 'modified', rooms: 1, amount: 1 }),
    )
    expect([over?.status, late?.status]).to.deep.equal(['applied', 'applied'])
    expect(await staysOf(house, stored?.bookingId ?? null), 'nobody comes again').to.have.length(2)
    const missedId = newExternalId()
    const [missed] = await receive(house, id, revision({ externalId: missedId }))
    await house.inHouse((trx) =>
      sql(trx, `update reservation set status = 'no_show' where booking_id = ?`, [missed?.bookingId]),
    )
    const moved = (given: object) => receive(house, id, revision({ externalId: missedId, kind: 'modified', ...given }))
    const [same] = await moved({ revision: 2, amount: 9_000 })
    const [other] = await moved({ revision: 3, from: 41 })
    expect([same?.status, other?.status]).to.deep.equal(['applied', 'failed'])
    expect(other?.error).to.contain('transition_blocked')
  })

  it('does not keep its other bookings from coming, whatever it is made of', async () => {
    const { id: at, account } = await connect(house, shop.simulator)
    const pull = async () => {
      await house.inHouse((trx) => requestPull(trx, at))
      await drain({ kinds: ['channels.pull', 'channels.apply-booking', 'channels.acknowledge'] })
    }
    const said = [
      { id: 'nul\0', externalId: 'x\0', revision: 1 },
      { id: 'half', externalId: 'y\ud800', revision: 1, ['k\0'.repeat(900)]: 1 },
      { id: 'notes', ...revision({ notes: 'late\0 arrival' }) },
      { id: 'well', ...revision() },
    ]
    await account.sell(said)
    await pull()
    expect((await account.look()).acknowledged).to.have.members(['nul', 'half', 'notes', 'well'])
    const kept = () =>
      house.inHouse((trx) =>
        sql<{ externalId: string; status: string }>(
          trx,
          `select external_id, status from channel_booking where channel_connection_id = ? order by external_id`,
          [at],
        ),
      )
    expect((await kept()).map((row) => row.status)).to.have.members(['applied', 'applied', 'failed', 'failed'])
  })

  it('is no page of bookings where it nests without an end, or is more than anybody asked for', async () => {
    let body = ''
    const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const takeBack = standIn({ host: 'wild.example', port: (server.address() as AddressInfo).port })
    const account = {
      connectionId: id,
      driver: 'open',
      endpointUrl: 'https://wild.example',
      externalPropertyId: 'W',
      secret: 's',
    } as const
    const pull = () => open.pull(account, { after: null, limit: 100 }, new AbortController().signal)
    try {
      body = `{"revisions":[${'['.repeat(100_000)}${']'.repeat(100_000)}]}`
      expect(await pull()).to.include({ kind: 'unknown', code: 'not_json' })
      body = `{"revisions":[${'{},'.repeat(1_000)}{}]}`
      expect(await pull()).to.include({ kind: 'unknown', code: 'not_understood' })
    } finally {
      takeBack()
      server.close()
    }
  })

  it('and does not say in time is not waited for; it is told again', async () => {
    const { id: at, account } = await connect(house, shop.simulator)
    await settle()
    const takeBack = standIn({ host: simulatorHost, port: shop.simulator.port, timeoutMs: 200 })
    try {
      await account.behave('waits')
      await shop.sell(38)
      await drain({ kinds: ['channels.mark-dirty'] })
      await shop.pushNow()
      expect(await connectionRow(house, at)).to.include({
        lastError: 'timed_out',
        pushFailures: 1,
        pushLeaseUntil: null,
      })
      expect(await marksLeft(house, at)).to.have.length(1)
      await house.inHouse((trx) => requestPull(trx, at))
      await drain({ kinds: ['channels.pull'] })
      expect((await connectionRow(house, at)).pullFailingSince).to.be.a('date')
    } finally {
      takeBack()
      standIn({ host: simulatorHost, port: shop.simulator.port })
      await account.behave('well')
    }
    await house.inHouse((trx) => sql(trx, `update channel_connection set push_not_before = null where id = ?`, [at]))
    await shop.pushNow()
    expect(await connectionRow(house, at)).to.include({ lastError: null, pushFailures: 0 })
    expect((await account.look()).days[`DBL||${house.day(38)}`]?.available).to.equal(2)
  })

  it('is heard of all days that it was told of: beyond a nearer horizon they are closed', async () => {
    const { id: at, account } = await connect(house, shop.simulator)
    await settle()
    const told = async (day: number) => {
      const { days } = await account.look()
      return [days[`DBL||${house.day(day)}`]?.available, days[`DBL|BAR|${house.day(day)}`]?.restrictions?.stopSell]
    }
    expect(await told(35)).to.deep.equal([3, false])
    await house.inHouse((trx) => changeConnection(trx, at, { horizonDays: 10 }))
    await settle()
    expect(await told(9)).to.deep.equal([3, false])
    expect(await told(10)).to.deep.equal([0, true])
    expect(await told(39)).to.deep.equal([0, true])
  })

  it('elsewhere is asked for from its beginning, and told everything', async () => {
    const { id: at, account } = await connect(house, shop.simulator)
    await settle()
    const first = { id: 'first', ...revision() }
    await account.sell([first])
    await house.inHouse((trx) => requestPull(trx, at))
    await drain({ kinds: ['channels.pull'] })
    expect((await connectionRow(house, at)).pullCursor).to.equal('1')
    const before = (await account.look()).log.filter((one) => one.path.endsWith('/ari')).length
    await house.inHouse((trx) => changeConnection(trx, at, { endpointUrl: `https://${simulatorHost}:8443` }))
    expect((await connectionRow(house, at)).pullCursor).to.equal(null)
    await settle()
    expect((await account.look()).log.filter((one) => one.path.endsWith('/ari')).length - before).to.equal(2)
    for (const endpointUrl of [
      `https://${simulatorHost}/?a=`,
      `https://${simulatorHost}/#`,
      `https://:word@${simulatorHost}/`,
    ]) {
      const error = await house
        .inHouse((trx) => changeConnection(trx, at, { endpointUrl }))
        .then(
          () => null,
          (reason: unknown) => reason,
        )
      expect(error, endpointUrl).to.include({ code: 'validation_failed' })
    }
  })

  it('is told once more by one that stood still while another told it: nothing stale is the last word', async () => {
    const { id: at } = await connect(house, shop.simulator)
    await settle()
    await shop.sell(36)
    await drain({ kinds: ['channels.mark-dirty'] })
    const [slow, quick] = [randomUUID(), randomUUID()]
    const begin = async (jobId: string) => {
      const push = await house.inHouse((trx) => beginPush(trx, at, jobId))
      if (typeof push === 'string') throw new Error(`the push is ${push}`)
      return push
    }
    for (const end of ['answered', 'failed'] as const) {
      const stale = await begin(slow)
      await house.inHouse((trx) =>
        sql(trx, `update channel_connection set push_lease_until = now() - interval '1 second' where id = ?`, [at]),
      )
      const fresh = await begin(quick)
      await house.inHouse((trx) => pushArrived(trx, at, quick, fresh, []))
      expect(await marksLeft(house, at)).to.deep.equal([])
      await house.inHouse(async (trx) => {
        if (end === 'answered') await pushArrived(trx, at, slow, stale, [])
        else await pushFailed(trx, at, slow, stale, { code: 'timed_out' })
      })
      expect(await marksLeft(house, at), end).to.have.length(1)
      expect(await connectionRow(house, at)).to.include({ pushFailures: 0, pushLeaseBy: null })
    }
  })

  it('is called for where it cannot be applied, though the connection has ended', async () => {
    const [stuck] = await receive(house, id, revision({ currency: 'EUR' }))
    await house.inHouse((trx) => disconnect(trx, id, false))
    await house.inHouse((trx) =>
      sql(trx, `update channel_booking set created_at = now() - interval '11 minutes' where id = ?`, [stuck?.id]),
    )
    const due = await inPlatform((trx) => dueChannels(trx, '00000000-0000-0000-0000-000000000000', 200))
    expect(due.map((one) => one.id)).to.include(id)
    for (const _ of [1, 2]) await house.inHouse((trx) => keepUp(trx, id))
    const calls = await house.inHouse((trx) =>
      sql<{ cause: string }>(
        trx,
        `select data ->> 'cause' as cause from event where type = 'channel.attention_needed' and data ->> 'channelConnectionId' = ?`,
        [id],
      ),
    )
    expect(calls).to.deep.equal([{ cause: 'bookings_unapplied' }])
  })

  it('of a house that is archived waits for people: nothing is sold there any more', async () => {
    const set = (status: string) =>
      house.inHouse((trx) => sql(trx, `update property set status = ? where id = ?`, [status, house.propertyId]))
    await set('archived')
    const [late] = await receive(house, id, revision())
    await set('live')
    expect(late).to.include({ status: 'failed', error: 'property_not_selling', bookingId: null })
  })
})
