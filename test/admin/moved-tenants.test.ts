import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { addDays } from '../../config/time.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { endSupportSessions } from '../../jobs/admin.ts'
import { forgetLimits, makeSuperuser, makeTenant, makeUser, password, signIn } from '../auth/support.ts'
import { drain } from '../support/drain.ts'
import { useWorld } from '../support/world.ts'

describe('a tenant that has moved to another installation', function () {
  this.timeout(60_000)
  const world = useWorld()
  let n1: string
  before(async () => {
    n1 = (await signIn(world, await makeSuperuser('N1'))).token
  })
  beforeEach(() => forgetLimits(world))

  const ask = (method: string, path: string, token: string, body?: object) =>
    world.request(method, path, { token, ...(body ? { body } : {}) })
  const operate = (method: string, path: string, body?: object) => ask(method, `/superuser/${path}`, n1, body)
  const move = async (tenantId: string) => {
    await operate('POST', `tenants/${tenantId}/suspend`, { reason: 'it moves' })
    await sql(
      world.database.admin,
      `insert into tenant_move (tenant_id, direction, ticket_id, receipt_hash) values (?, 'out', ?, '\\x00'::bytea)`,
      [tenantId, randomUUID()],
    )
  }
  /** A person with sessions in a tenant that has moved since, and works for another one, too. */
  const person = async () => {
    const [gone, here] = [await makeTenant(), await makeTenant()]
    const user = await makeUser({ [gone]: 'manager', [here]: 'manager' })
    const sessions = [(await signIn(world, user)).token, (await signIn(world, user)).token] as const
    for (const token of sessions)
      expect((await ask('PUT', '/api/auth/tenant-context', token, { tenantId: gone })).status).to.equal(200)
    await move(gone)
    return { user, sessions, gone }
  }
  const livesOf = async (userId: string) =>
    (await sql(world.database.admin, `select 1 from session where user_id = ? and revoked_at is null`, [userId])).length

  it('keeps nobody from ending the sessions that were in it', async () => {
    const one = await person()
    expect((await ask('POST', '/api/auth/sign-out', one.sessions[0])).status).to.equal(200)
    const all = await ask('POST', '/api/auth/revoke-all', one.sessions[1])
    expect([all.status, all.body.revoked, await livesOf(one.user.userId)]).to.deep.equal([200, 1, 0])
    const other = await person()
    const changed = await ask('POST', '/api/auth/password/change', other.sessions[0], {
      currentPassword: password,
      newPassword: 'mar azul e vento norte',
    })
    expect([changed.status, await livesOf(other.user.userId)], JSON.stringify(changed.body)).to.deep.equal([200, 1])
    const locked = await operate('POST', `users/${other.user.userId}/lock`, { reason: 'The laptop was stolen' })
    expect([locked.status, await livesOf(other.user.userId)], JSON.stringify(locked.body)).to.deep.equal([200, 0])
    const told = await sql(world.database.admin, `select 1 from event where tenant_id = any(?::uuid[]) and type = 'session.revoked'`, [
      [one.gone, other.gone],
    ]) // oxfmt-ignore
    expect(told).to.deep.equal([])
  })

  it('keeps no superuser from the next support session', async () => {
    const [gone, here] = [await makeTenant(), await makeTenant()]
    const start = (tenantId: string) =>
      operate('POST', 'support-sessions', { tenantId, reason: 'Ticket 4711: prices do not load' })
    const first = (await start(gone)).body as { id: string }
    await move(gone)
    await sql(
      world.database.admin,
      `update support_session set started_at = now() - interval '1 hour', expires_at = now() - interval '1 minute' where id = ?`,
      [first.id],
    )
    await inPlatform((trx) => enqueue(trx, endSupportSessions, {}))
    await drain({ kinds: ['maintenance.end-support-sessions'] })
    expect(
      await sql(world.database.admin, `select end_cause from support_session where id = ?`, [first.id]),
    ).to.deep.equal([{ endCause: 'expired' }])
    const second = await start(here)
    expect(second.status, JSON.stringify(second.body)).to.equal(201)
    await move(here)
    const { id } = second.body as { id: string }
    expect((await operate('POST', `support-sessions/${id}/end`)).body.endCause).to.equal('ended')
  })

  it('is billed no more here, and pays what it owes here', async () => {
    const tenantId = await makeTenant('Starter')
    const run = async () => {
      const [period] = await sql<{ end: string }>(
        world.database.admin,
        `select period_end::text as "end" from subscription where tenant_id = ?`,
        [tenantId],
      )
      const { body } = await operate('POST', 'billing-runs', {
        date: addDays(period?.end ?? '', 1),
        tenantIds: [tenantId],
      })
      await drain({ kinds: ['billing.close-period'] })
      return body as { tenants: number }
    }
    for (const _ of [1, 2]) expect((await run()).tenants).to.equal(1)
    await move(tenantId)
    expect((await run()).tenants).to.equal(0)
    const { data } = (await operate('GET', `invoices?tenantId=${tenantId}`)).body as { data: { id: string }[] }
    const [one, other] = data
    const paid = await operate('POST', `invoices/${one?.id}/record-payment`, {
      paidOn: '2026-11-20',
      reference: 'TED 1',
    })
    const voided = await operate('POST', `invoices/${other?.id}/void`, { reason: 'It has moved' })
    expect([paid, voided].map(({ status, body }) => [status, body.status])).to.deep.equal([
      [200, 'paid'],
      [200, 'void'],
    ])
  })
})
