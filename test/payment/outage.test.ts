import { expect } from 'chai'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { requestRefund } from '../../db/payment/index.ts'
import { eraseCallbackBodies, readRefund } from '../../jobs/payment.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { until } from '../support/until.ts'
import {
  bring,
  chargesOf,
  creditOf,
  makeBooking,
  makeTill,
  pay,
  paymentOf,
  refundsOf,
  within,
  work,
} from './support.ts'
import type { Till } from './support.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => void

const reply =
  (status: number, body: string, type = 'application/json'): Serve =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': type, connection: 'close' }).end(body)

/** It takes the call in, and never answers. That its caller has a limit is for the tests of the adapter. */
const hang: Serve = (request) => void setTimeout(() => request.socket.destroy(), 300)

const troubles: [string, Serve][] = [
  ['resets', (request) => request.socket.destroy()],
  ['hangs', hang],
  ['answers 500 with JSON', reply(500, '{"error":{"code":"internal","message":"no"}}')],
  ['answers 502 with HTML', reply(502, '<html></html>', 'text/html')],
  ['answers 302', (_request, response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end()],
  ['answers 200 with {}', reply(200, '{}')],
  [
    'answers 200 with another amount',
    reply(200, '{"object":"charge","id":"ch_1","status":"captured","amount":1,"currency":"BRL","capturedAmount":1}'),
  ],
  ['answers 429', reply(429, '{}')],
]

describe('a gateway in trouble', () => {
  const held = useDatabase()
  let till: Till
  let server: Server
  let serve: Serve = reply(500, '{}')
  let url = ''

  before(async () => {
    till = await makeTill()
    server = createServer((request, response) => serve(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => {
    settings.sandboxUrl = null
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  for (const [how, what] of troubles)
    it(`that ${how} causes neither a false paid nor a false failed, and one charge when it is well again`, async () => {
      serve = what
      settings.sandboxUrl = url
      const bookingId = await makeBooking(till)
      const { id } = await pay(till, bookingId)
      await work()
      expect(['created', 'unknown']).to.include((await paymentOf(till, id)).status)
      expect(await creditOf(till, bookingId)).to.equal(0)
      settings.sandboxUrl = null
      await inPlatform((trx) =>
        sql(trx, `update jobs set run_at = now() where kind like 'payments.%' and kind <> 'payments.expire'`),
      )
      await bring(till, id, 'captured')
      expect(await chargesOf(till, id)).to.have.length(1)
      expect(await creditOf(till, bookingId)).to.equal(20_000)
    })

  it('that hangs on a refund sends the money back once, when it is well again', async () => {
    const bookingId = await makeBooking(till)
    const { id } = await pay(till, bookingId)
    await work()
    serve = hang
    settings.sandboxUrl = url
    await within(till, (trx) => requestRefund(trx, { paymentId: id, reason: 'cancellation' }))
    await work()
    expect((await refundsOf(till, id))[0]?.status).to.equal('unknown')
    expect(await paymentOf(till, id)).to.include({ refundReserved: 20_000, refundedAmount: 0 })
    settings.sandboxUrl = null
    await within(till, (trx) => sql(trx, `update refund set next_read_at = now() where payment_id = ?`, [id]))
    await bring(till, id, 'captured')
    expect((await refundsOf(till, id))[0]?.status).to.equal('succeeded')
    const [refund] = await refundsOf(till, id)
    const sent = await within(till, (trx) =>
      sql(trx, `select id from sandbox_object where kind = 'refund' and our_id = ?`, [refund!.id]),
    )
    expect(sent).to.have.length(1)
  })

  it('that tells of a refund which the bank returned, and cannot be read then, is read again', async () => {
    const { id } = await pay(till, await makeBooking(till), { token: 'refund_returns' })
    await work()
    await within(till, (trx) => requestRefund(trx, { paymentId: id, reason: 'cancellation' }))
    await work()
    const [refund] = await refundsOf(till, id)
    expect(refund?.status).to.equal('succeeded')
    await until(
      () =>
        within(till, async (trx) => {
          const [returned] = await sql(
            trx,
            `select from sandbox_object where kind = 'refund' and our_id = ? and (state->>'failsAt')::numeric <= ?`,
            [refund!.id, Date.now()],
          )
          return returned !== undefined
        }),
      { withinMs: 20_000, what: 'the return of the money' },
    )
    serve = (request) => request.socket.destroy()
    settings.sandboxUrl = url
    await within(till, (trx) => enqueue(trx, readRefund, { tenantId: till.tenantId, refundId: refund!.id }))
    await work()
    expect((await refundsOf(till, id))[0]?.status).to.equal('succeeded')
    settings.sandboxUrl = null
    await within(till, (trx) => sql(trx, `update refund set next_read_at = now() where next_read_at is not null`))
    await bring(till, id, 'captured')
    const [known] = await refundsOf(till, id)
    expect([known?.status, known?.nextReadAt]).to.deep.equal(['failed', null])
  })

  it('of long ago: what was told of payers and in callbacks is erased after 90 days', async () => {
    const bookingId = await makeBooking(till)
    const payer = { name: 'Beatriz Prova', document: { type: 'cpf' as const, number: '52998224725' } }
    const { id } = await pay(till, bookingId, { payer, payerIndex: Buffer.alloc(16, 1) })
    const young = await pay(till, await makeBooking(till), { payer })
    await work()
    await inPlatform((trx) =>
      sql(
        trx,
        `insert into gateway_callback (provider, account_ref, event_id, raw_body, headers, body_hash, event_type, object_type, object_ref, received_at)
         select 'sandbox', 'sbx_x', 'evt_' || n, 'x', '{}', 'x', 't', 'charge', 'c', now() - make_interval(days => n) from unnest(array[89, 91]) n`,
      ),
    )
    const erased = async () => {
      await inPlatform((trx) => enqueue(trx, eraseCallbackBodies, {}))
      await drain({ kinds: ['privacy.erase-callback-bodies'] })
      const payment = await paymentOf(till, id)
      return payment.payer === null && payment.payerIndex === null && payment.submission === null
    }
    expect(await erased()).to.equal(false)
    await held.database.admin.raw(`alter table payment disable trigger touch`)
    await held.database.admin.raw(`update payment set updated_at = now() - interval '91 days' where id = ?`, [id])
    await held.database.admin.raw(`alter table payment enable trigger touch`)
    expect(await erased()).to.equal(true)
    expect((await paymentOf(till, young.id)).payer).to.be.instanceOf(Buffer)
    const bodies = await inPlatform((trx) =>
      sql<{ eventId: string }>(trx, `select event_id from gateway_callback where raw_body is not null`),
    )
    expect(bodies.map((row) => row.eventId)).to.deep.equal(['evt_89'])
  })
})
