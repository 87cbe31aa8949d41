import { expect } from 'chai'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { readGate } from '../../db/jobs/gates.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { cancelPaymentById, requestCapture, requestRefund } from '../../db/payment/index.ts'
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
  sweep,
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

  for (const status of [401, 403])
    it(`that refuses our credentials with ${status} fails no guest’s payment: it waits at the closed gate, and is charged once afterwards`, async () => {
      await inPlatform((trx) => sql(trx, `delete from jobs`))
      serve = reply(status, '{"error":{"code":"invalid_api_key","message":"no such key"}}')
      settings.sandboxUrl = url
      const bookingId = await makeBooking(till)
      const { id } = await pay(till, bookingId)
      const retry = () =>
        held.database.admin.raw(
          `update jobs set run_at = now() where kind like 'payments.%' and kind <> 'payments.expire' and status = 'pending'; update provider_gate set closed_until = now()`,
        )
      for (let tries = 0; tries < 12; tries += 1) {
        await work()
        await retry()
      }
      expect((await paymentOf(till, id)).status).to.equal('created')
      const gate = `sandbox:${till.accountId}`
      expect(await inPlatform((trx) => readGate(trx, gate))).to.include({
        state: 'closed',
        reason: 'credentials_refused',
        failures: 12,
      })
      const [job] = await inPlatform((trx) =>
        sql<{ status: string; attempts: number }>(
          trx,
          `select status, attempts from jobs where kind = 'payments.submit'`,
        ),
      )
      expect(job).to.deep.equal({ status: 'pending', attempts: 0 })
      settings.sandboxUrl = null
      await bring(till, id, 'captured')
      expect(await chargesOf(till, id)).to.have.length(1)
      expect((await inPlatform((trx) => readGate(trx, gate)))?.state).to.equal('open')
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

  it('that has forgotten the key of a refund is asked for the refund first: the money goes back once', async () => {
    const { id } = await pay(till, await makeBooking(till))
    await work()
    serve = hang
    settings.sandboxUrl = url
    await within(till, (trx) => requestRefund(trx, { paymentId: id, reason: 'cancellation' }))
    await work()
    const [lost] = await refundsOf(till, id)
    expect(lost).to.include({ status: 'unknown', externalId: null })
    const made = { object: 'refund', id: `re_${id}`, ourId: lost!.id, amount: 20_000, currency: 'BRL' }
    const kept = { ...made, status: 'succeeded', failure: null }
    const sent: string[] = []
    serve = (request, response) => {
      if (request.method === 'POST') sent.push(request.url ?? '')
      reply(200, JSON.stringify(request.method === 'POST' ? kept : { data: [kept] }))(request, response)
    }
    await within(till, (trx) =>
      sql(trx, `update refund set created_at = now() - interval '25 hours', next_read_at = now() where id = ?`, [
        lost!.id,
      ]),
    )
    await sweep()
    await work()
    expect(await refundsOf(till, id)).to.have.length(1)
    expect((await refundsOf(till, id))[0]).to.include({ status: 'succeeded', externalId: kept.id })
    expect(sent).to.deep.equal([])
  })

  /** Refuses to change the charge, and tells on reading that it was paid. */
  const paidAndRefusing = async (id: string): Promise<Serve> => {
    const { externalId } = await paymentOf(till, id)
    const charge = { object: 'charge', id: externalId, ourId: id, amount: 20_000, currency: 'BRL', status: 'captured' }
    const paid = JSON.stringify({ ...charge, authorisedAmount: 20_000, capturedAmount: 20_000 })
    return (request, response) =>
      request.method === 'POST'
        ? reply(400, '{"error":{"code":"unexpected_state","message":"The charge was paid"}}')(request, response)
        : reply(200, paid)(request, response)
  }

  it('that refuses to close what was paid is read: the money is booked', async () => {
    const bookingId = await makeBooking(till)
    const { id } = await pay(till, bookingId, { method: 'pix', token: 'pix_unpaid' })
    await work()
    serve = await paidAndRefusing(id)
    settings.sandboxUrl = url
    await within(till, (trx) => cancelPaymentById(trx, id, 'The guest pays by other means'))
    await work()
    expect(await paymentOf(till, id)).to.include({ status: 'captured', capturedAmount: 20_000 })
    expect(await creditOf(till, bookingId)).to.equal(20_000)
  })

  it('that refuses to capture what it has captured is read: the money is booked', async () => {
    const bookingId = await makeBooking(till)
    const { id } = await pay(till, bookingId, { mode: 'authorise' })
    await work()
    expect((await paymentOf(till, id)).status).to.equal('authorised')
    serve = await paidAndRefusing(id)
    settings.sandboxUrl = url
    await within(till, (trx) => requestCapture(trx, id, undefined))
    await drain({ kinds: ['payments.capture'] })
    await bring(till, id, 'captured')
    expect(await creditOf(till, bookingId)).to.equal(20_000)
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
