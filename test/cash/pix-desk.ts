import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import { until } from '../support/until.ts'
import type { World } from '../support/world.ts'

export const key = '123e4567-e12b-42d1-a456-426655440000'
export const credentials = { clientId: 'pousada', clientSecret: 'right' }

/** A house with a bank account for Pix, and its people over HTTP. The bank is the sandbox; `connect` sets its connection up. */
export const openPix = async (world: World) => {
  const house = await makeHouse({ units: 4 })
  await forgetLimits(world)
  const owner = await openDesk(world, house, 'owner')
  const finance = await openDesk(world, house, 'finance')
  const send = (desk: Desk, method: string, path: string, body: object = {}) =>
    desk.send(method, `cash/${path}`, body, { idempotencyKey: randomUUID() })
  const bankId = done(
    await send(finance, 'POST', 'accounts', {
      kind: 'bank',
      code: 'PIX',
      name: 'Banco',
      propertyId: house.propertyId,
      opening: { amount: 1_000_000, on: house.today },
    }),
    201,
  ).id as string
  const [found] = await house.inHouse((trx) => sql<{ id: string }>(trx, `select id from account where code = '6.1.10'`))
  const expense = found?.id ?? ''
  const rows = <Row = Parsed>(text: string, values: Record<string, unknown> = {}): Promise<Row[]> =>
    sql<Row>(world.database.admin, text, { tenantId: house.tenantId, bankId, ...values })
  const balance = async () => done(await owner.get(`cash/accounts/${bankId}`)).balance as number
  const charge = async (body: object, status = 201): Promise<Parsed> =>
    done(await send(finance, 'POST', 'pix/charges', { kind: 'immediate', cashAccountId: bankId, ...body }), status)
  const read = async (id: string): Promise<Parsed> => done(await finance.get(`cash/pix/charges/${id}`))
  const hook = async () => {
    const [found] = await rows<{ url: string }>(
      `select h.state ->> 'url' as url from sandbox_object h join pix_connection c on h.account_ref = cast(c.id as text)
       where h.kind = 'pix_hook' and c.cash_account_id = :bankId`,
    )
    return new URL(found?.url ?? '').pathname
  }
  /** Money that the bank has for a charge by now. */
  const comes = async (txid: string, count = 1): Promise<string[]> => {
    let found: { id: string }[] = []
    await until(async () => {
      found = await rows<{ id: string }>(
        `select our_id as id from sandbox_object where kind = 'pix' and state ->> 'txid' = :txid and (state ->> 'at')::timestamptz <= clock_timestamp() order by 1`,
        { txid },
      )
      return found.length === count
    })
    return found.map(({ id }) => id)
  }
  const call = async (ids: readonly string[], path?: string) =>
    (
      await fetch(`${world.baseUrl}${path ?? (await hook())}/pix`, {
        method: 'POST',
        body: JSON.stringify({ pix: ids.map((endToEndId) => ({ endToEndId, valor: '1.00', horario: 'now' })) }),
      })
    ).status
  const movementsOf = (endToEndId: string) =>
    rows(`select id, amount, kind from cash_movement where tenant_id = :tenantId and end_to_end_id = :endToEndId`, {
      endToEndId,
    })

  /** Sets the connection with the bank up, with this secret. */
  const connect = async (clientSecret = 'right'): Promise<void> => {
    const connection = { provider: 'sandbox', credentials: { ...credentials, clientSecret } }
    done(await send(owner, 'PUT', `accounts/${bankId}/pix`, { keys: [{ type: 'random', key }], connection }))
    await world.drain()
  }
  return {
    house,
    owner,
    finance,
    bankId,
    expense,
    send,
    rows,
    balance,
    charge,
    read,
    hook,
    comes,
    call,
    movementsOf,
    connect,
  }
}
