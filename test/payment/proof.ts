import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { checkBook } from '../../db/financial/checks.ts'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

export type Body = Parsed

/** A house for each test whose account takes 150 basis points for the platform, and what its owner asks of the proof against the gateway. */
export const useProof = () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  let bookingId: string

  beforeEach(async () => {
    settings.sandboxSecondMs = 80
    settings.publicBaseUrl = world.baseUrl
    await forgetLimits(world)
    house = await makeHouse({ units: 4 })
    owner = await openDesk(world, house, 'owner')
    await house.inHouse((trx) => sql(trx, `update gateway_account set platform_fee_rate = 150`))
    bookingId = await makeHold(house, { from: 4 })
  })

  const post = (path: string, body: object) =>
    owner.send('POST', `payments${path}`, body, { idempotencyKey: randomUUID() })
  const get = async (path: string): Promise<Body> => (await owner.send('GET', `payments${path}`)).body
  const work = () => world.drain({ starts: 2_000, aheadMs: 11_000 })
  const today = () => new Date().toISOString().slice(0, 10)
  const pay = async (more: object = {}): Promise<string> => {
    const wanted = { method: 'card', amount: 12_000, currency: 'BRL', targetType: 'booking', targetId: bookingId }
    const { body } = await post('', { ...wanted, ...more })
    await work()
    return body.id
  }
  const becomes = (path: string, is: (body: Body) => boolean, what: string): Promise<Body> =>
    until(
      async () => {
        await work()
        await forgetLimits(world)
        const body = await get(path)
        return is(body) && body
      },
      { withinMs: 20_000, what },
    )
  const reconcile = async (): Promise<Body> => {
    const made = await post('/reconciliations', { gatewayAccountId: house.gatewayAccountId, date: today() })
    expect([200, 201], JSON.stringify(made.body)).to.include(made.status)
    await work()
    return (await get(`/reconciliations?gatewayAccountId=${house.gatewayAccountId}&from=${today()}`)).data[0]
  }
  /** Balance of an account of the ledger by its role, debits positive. */
  const balanceOf = async (role: string): Promise<number> => {
    const [row] = await house.inHouse((trx) =>
      sql<{ balance: number }>(
        trx,
        `select coalesce(sum(l.debit - l.credit), 0)::bigint as balance from journal_line l join account a on a.tenant_id = l.tenant_id and a.id = l.account_id
         where a.role = ?`,
        [role],
      ),
    )
    return row?.balance ?? 0
  }
  const open = async (kind: string): Promise<Body[]> => (await get(`/exceptions?status=open&kind=${kind}`)).data
  const resolve = (id: string, body: object) => post(`/exceptions/${id}/resolve`, { reason: 'as agreed', ...body })
  /** An account of the ledger for differences. */
  const lossAccount = async () =>
    (await house.inHouse((trx) => sql<{ id: string }>(trx, `select id from account where code = '6.1.10'`)))[0]?.id
  const writeOff = async (id: string) => {
    const done = await resolve(id, { resolution: 'written_off', accountId: await lossAccount() })
    expect(done.body, JSON.stringify(done.body)).to.include({ status: 'resolved', resolution: 'written_off' })
    await work()
  }
  /** The nightly check of the money at gateways against the records (R25). */
  const clearingIsProven = async () => {
    const checks = await house.inHouse((trx) => checkBook(trx, house.bookId))
    expect(checks.find(({ check }) => check === 'control_gateway')).to.deep.include({ status: 'passed', findings: [] })
  }
  return {
    world,
    work,
    post,
    get,
    pay,
    becomes,
    reconcile,
    balanceOf,
    open,
    resolve,
    writeOff,
    lossAccount,
    clearingIsProven,
    house: () => house,
    owner: () => owner,
    bookingId: () => bookingId,
  }
}
