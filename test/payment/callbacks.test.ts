import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { signSandbox } from '../../db/payment/signatures.ts'
import { processCallback } from '../../jobs/payment.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useGuests } from './guests.ts'

describe('callbacks of a gateway', () => {
  const guests = useGuests()
  const { world, request, hold, create, status, columnsOf } = guests
  let house: House
  before(() => {
    house = guests.house()
  })

  const send = (body: Buffer | string, signature: string, provider = 'sandbox') =>
    request('POST', `/api/callbacks/payments/${provider}`, { raw: body, headers: { 'sandbox-signature': signature } })
  const account = async () =>
    (await house.inHouse((trx) => sql<{ externalId: string }>(trx, `select external_id from gateway_account`)))[0]!
      .externalId
  const event = async (change: Record<string, unknown> = {}) =>
    Buffer.from(
      JSON.stringify({
        id: `evt_${randomUUID()}`,
        type: 'charge.captured',
        account: await account(),
        object: 'charge',
        ref: 'ch_none',
        ourId: randomUUID(),
        ...change,
      }),
    )
  const stored = async (body: Buffer) =>
    (
      await world.database.admin.raw(`select status, error, tenant_id from gateway_callback where event_id = ?`, [
        JSON.parse(body.toString()).id,
      ])
    ).rows as {
      status: string
      error: string | null
      tenantId: string | null
    }[]

  it('with a bad signature, or one 301 s old or ahead, are 401 and not stored', async () => {
    const body = await event()
    const now = Date.now()
    for (const signature of [
      '',
      `t=${Math.floor(now / 1000)},v1=${'0'.repeat(64)}`,
      signSandbox(body, new Date(), 'another secret'),
      signSandbox(body, new Date(now - 302_000)),
      signSandbox(body, new Date(now + 302_000)),
    ]) {
      const reply = await send(body, signature)
      expect([reply.status, reply.body.code], signature).to.deep.equal([401, 'signature_invalid'])
    }
    expect(await stored(body)).to.have.length(0)
  })

  it('of a provider that is not here are 404', async () => {
    const body = await event()
    for (const provider of ['stripe', 'other'])
      expect((await send(body, signSandbox(body, new Date()), provider)).status, provider).to.equal(404)
  })

  it('five times at once are stored once, and all are thanked', async () => {
    const body = await event()
    const replies = await Promise.all(Array.from({ length: 5 }, () => send(body, signSandbox(body, new Date()))))
    expect(replies.map((reply) => reply.status)).to.deep.equal([200, 200, 200, 200, 200])
    expect(await stored(body)).to.have.length(1)
  })

  it('of an account that is not known are ignored', async () => {
    const body = await event({ account: 'sbx_nobody' })
    expect((await send(body, signSandbox(body, new Date()))).status).to.equal(200)
    await world.drain()
    expect(await stored(body)).to.deep.equal([{ status: 'ignored', error: 'account_unknown', tenantId: null }])
  })

  it('of a kind of object that nothing here stands for are thanked, kept and ignored', async () => {
    const body = await event({ object: 'other', ref: 'cus_1', ourId: null })
    expect((await send(body, signSandbox(body, new Date()))).status).to.equal(200)
    await world.drain()
    expect((await stored(body)).map(({ status, error }) => [status, error])).to.deep.equal([
      ['ignored', 'object_unknown'],
    ])
  })

  it('that name a payment of another tenant are failed, and change nothing', async () => {
    const { guest } = await hold()
    const made = await create(guest, { method: 'pix', cardToken: 'pix_unpaid' })
    const other = await makeHouse()
    const [theirs] = await other.inHouse((trx) =>
      sql<{ externalId: string }>(trx, `select external_id from gateway_account`),
    )
    const body = await event({ account: theirs?.externalId, ourId: made.body.paymentId })
    await send(body, signSandbox(body, new Date()))
    await world.drain()
    expect(await stored(body)).to.deep.equal([
      { status: 'failed', error: 'not_of_this_account', tenantId: other.tenantId },
    ])
    expect((await columnsOf(made.body.paymentId)).status).to.equal('requires_action')
  })

  it('that end the connection of an account disconnect it once, and call for a person', async () => {
    const other = await makeHouse()
    const read = () =>
      other.inHouse((trx) =>
        sql<{ externalId: string; status: string; kind: string | null }>(
          trx,
          `select a.external_id, a.status, e.kind from gateway_account a left join payment_exception e on e.subject_id = a.id and e.status = 'open'`,
        ),
      )
    const [theirs] = await read()
    for (const _ of ['first', 'again']) {
      const change = { type: 'account.application.deauthorized', object: 'account' }
      const body = await event({ ...change, account: theirs?.externalId, ref: theirs?.externalId, ourId: null })
      await send(body, signSandbox(body, new Date()))
      await world.drain()
    }
    expect((await read()).map(({ status: is, kind }) => [is, kind])).to.deep.equal([['disconnected', 'account_gone']])
    expect(
      await other.inHouse((trx) => sql(trx, `select id from event where type = 'gateway_account.disconnected'`)),
    ).to.have.length(1)
  })

  it('that say paid of what is not paid change nothing: the gateway is asked', async () => {
    const { guest } = await hold()
    const made = await create(guest, { method: 'pix', cardToken: 'pix_unpaid' })
    await world.drain()
    const row = await columnsOf(made.body.paymentId)
    const body = await event({ ref: row.externalId, ourId: made.body.paymentId })
    await send(body, signSandbox(body, new Date()))
    await world.drain()
    expect(await stored(body)).to.deep.include({ status: 'processed', error: null, tenantId: house.tenantId })
    expect((await status(guest, made.body.paymentId)).body.status).to.equal('action_required')
  })

  it('processed again after a month, by an operator or the gateway, change nothing', async () => {
    const { guest } = await hold()
    const made = await create(guest, { method: 'card' })
    await world.drain()
    const paid = await columnsOf(made.body.paymentId)
    expect(paid.status).to.equal('captured')
    const body = await event({ ref: paid.externalId, ourId: made.body.paymentId })
    await send(body, signSandbox(body, new Date()))
    await world.drain()
    const counts = async () =>
      house.inHouse((trx) =>
        sql(
          trx,
          `select (select count(*) from payment_history where payment_id = :id) as moves, (select count(*) from posting_event where source_id = :id) as postings,
             (select count(*) from event where entity->>'id' = :id) as events, (select captured_amount from payment where id = :id) as captured`,
          { id: made.body.paymentId },
        ),
      )
    const before = await counts()
    const { eventId } = { eventId: JSON.parse(body.toString()).id as string }
    await world.database.admin.raw(
      `update gateway_callback set received_at = now() - interval '31 days', processed_at = now() - interval '31 days' where event_id = ?`,
      [eventId],
    )
    const { rows } = await world.database.admin.raw(`select id from gateway_callback where event_id = ?`, [eventId])
    await inPlatform((trx) => enqueue(trx, processCallback, { callbackId: rows[0].id }))
    await world.drain()
    expect((await send(body, signSandbox(body, new Date()))).status).to.equal(200)
    await world.drain()
    expect(await counts()).to.deep.equal(before)
    expect(await stored(body)).to.have.length(1)
  })

  it('over 1 MiB are refused', async () => {
    const body = Buffer.alloc(1_048_577, 32)
    const reply = await send(body, signSandbox(body, new Date()))
    expect(reply.status).to.equal(400)
  })

  it('are kept sealed', async () => {
    const body = await event()
    await send(body, signSandbox(body, new Date()))
    const { rows } = await world.database.admin.raw<{ rows: { rawBody: Buffer }[] }>(
      `select raw_body from gateway_callback where event_id = ?`,
      [JSON.parse(body.toString()).id],
    )
    expect(rows[0]?.rawBody.includes(Buffer.from('charge.captured'))).to.equal(false)
  })
})
