import { expect } from 'chai'
import { revokeEntitlement } from '../../db/admin/index.ts'
import { keepUp } from '../../db/channels/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { makeUser, signIn } from '../auth/support.ts'
import { useSimulator } from '../support/channel-simulator/peer.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { connect, connectionRow, makeConnection, settle } from './support.ts'

describe('channels of a tenant whose feature has ended', () => {
  const world = useWorld()
  const simulator = useSimulator()
  let house: House
  let token: string

  beforeEach(async () => {
    await world.database.admin.raw('delete from jobs')
    house = await makeHouse({ units: 3, suite: true, deposit: null })
    token = (await signIn(world, await makeUser({ [house.tenantId]: 'owner' }))).token
  })

  const revoke = () =>
    inPlatform((trx) => revokeEntitlement(trx, { tenantId: house.tenantId, key: 'channels', reason: 'not paid' }))
  const call = (method: 'GET' | 'POST', path: string, body?: object) =>
    world.request(method, `/api/tenants/${house.tenantId}/channel-connections${path}`, {
      token,
      ...(body ? { body } : {}),
    })
  const ends = () =>
    inPlatform((trx) =>
      sql<{ kind: string; outcome: string; reason: string | null }>(
        trx,
        `select kind, outcome, reason from job_archive where tenant_id = ? and kind in ('channels.test', 'channels.push', 'channels.pull') and outcome <> 'done'`,
        [house.tenantId],
      ),
    )

  it('are not called any more by what was asked for before: neither test, nor push, nor pull', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    const draft = await makeConnection(house, { name: 'second', secret: 'x'.repeat(20) })
    expect((await call('POST', `/${draft}/activate`)).status).to.equal(200)
    expect((await call('POST', `/${id}/sync`, {})).status).to.equal(200)
    await revoke()
    const before = (await account.look()).log.length
    await drain({ kinds: ['channels.test', 'channels.push', 'channels.pull'], aheadMs: 60_000 })
    expect((await account.look()).log).to.have.length(before)
    const ended = await ends()
    expect(new Set(ended.map(({ kind }) => kind))).to.deep.equal(
      new Set(['channels.test', 'channels.push', 'channels.pull']),
    )
    for (const one of ended) expect(one).to.include({ outcome: 'skipped', reason: 'feature_not_enabled' })
    await house.inHouse((trx) => sql(trx, `update channel_connection set next_pull_at = null where id = ?`, [id]))
    await house.inHouse((trx) => keepUp(trx, id))
    const asked = await inPlatform((trx) =>
      sql(trx, `select from jobs where tenant_id = ? and kind in ('channels.push', 'channels.pull')`, [house.tenantId]),
    )
    expect(asked, 'nor does the clock ask for more').to.deep.equal([])
  })

  it('can be read, paused and disconnected, and their sales are closed at the channel', async () => {
    const { id, account } = await connect(house, simulator)
    await settle()
    await revoke()
    expect((await call('GET', '')).status).to.equal(200)
    expect((await call('GET', `/${id}`)).body.status).to.equal('active')
    expect((await call('GET', `/${id}/pushes`)).status).to.equal(200)
    expect((await call('POST', `/${id}/sync`, {})).body.code).to.equal('feature_not_enabled')
    expect((await call('POST', `/${id}/activate`)).body.code).to.equal('feature_not_enabled')
    expect((await call('POST', `/${id}/disconnect`, {})).body.status).to.equal('disconnected')
    await settle(60_000)
    const { days } = await account.look()
    expect(Object.values(days).filter((day) => (day?.available ?? 0) > 0)).to.deep.equal([])
    expect(await connectionRow(house, id)).to.include({ credentials: null, closeOutUntil: null })
    const other = await makeConnection(house, { name: 'third', secret: 'x'.repeat(20) })
    await house.inHouse((trx) => sql(trx, `update channel_connection set status = 'active' where id = ?`, [other]))
    await revoke()
    expect((await call('POST', `/${other}/pause`, { reason: 'the feature ended' })).body.status).to.equal('paused')
  })
})
