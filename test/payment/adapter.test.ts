import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { GatewayPayment, GatewayRefund } from '../../workers/gateways/gateway.ts'
import { sandboxAt } from '../../workers/gateways/sandbox.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => void

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Serve =>
  (_request, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
      .end(JSON.stringify(body))
  }

const payment: GatewayPayment = {
  id: randomUUID(),
  accountRef: 'sbx_1',
  externalId: null,
  linkId: null,
  mode: 'charge',
  platformFee: 0,
  methodRef: null,
  customerRef: null,
  save: false,
  linkMethods: null,
  description: null,
  payer: null,
  createdAt: new Date(),
  amount: 20_000,
  currency: 'BRL',
  method: 'card',
  installments: 1,
  expiresAt: null,
  cardToken: null,
  returnUrl: null,
}
const refund: GatewayRefund = {
  id: randomUUID(),
  accountRef: 'sbx_1',
  externalId: null,
  paymentRef: 'ch_1',
  reason: 'guest_request',
  returnsFee: false,
  amount: 5_000,
  currency: 'BRL',
}

const charge = (change: Record<string, unknown> = {}) => ({
  object: 'charge',
  id: 'ch_1',
  ourId: payment.id,
  status: 'captured',
  amount: 20_000,
  currency: 'BRL',
  authorisedAmount: 20_000,
  capturedAmount: 20_000,
  action: null,
  failure: null,
  ...change,
})

describe('the adapter of a gateway', () => {
  let server: Server
  let serve: Serve = json(200, {})
  let requests: IncomingMessage[] = []
  let url = ''
  const signal = new AbortController().signal
  const where = () => Promise.resolve({ url, secret: 'secret' })
  const gateway = sandboxAt(where)

  before(async () => {
    server = createServer((request, response) => {
      requests.push(request)
      serve(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  beforeEach(() => (requests = []))
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  const submitting = (how: Serve) => {
    serve = how
    return gateway.submit(payment, `pay-${payment.id}`, signal)
  }

  it('knows what the gateway says with the expected object, amount and currency', async () => {
    const outcome = await submitting(json(201, charge()))
    expect(outcome).to.deep.include({ kind: 'known', reference: 'ch_1' })
    expect(requests[0]?.headers['idempotency-key']).to.equal(`pay-${payment.id}`)
  })

  it('takes it for unknown when the gateway hangs', async () => {
    serve = () => undefined
    const outcome = await sandboxAt(where, 500).submit(payment, `pay-${payment.id}`, signal)
    expect(outcome).to.deep.equal({ kind: 'unknown', code: 'TimeoutError' })
    expect(requests).to.have.length(1)
  })

  const unknowns: [string, Serve][] = [
    ['resets the connection', (request) => request.socket.destroy()],
    [
      'breaks off in its reply',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' }).write('{"object"')
        setTimeout(() => response.destroy(), 20)
      },
    ],
    ['answers 500 with JSON', json(500, { error: { code: 'internal_error', message: 'no' } })],
    [
      'answers 502 with HTML',
      (_request, response) =>
        void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>'),
    ],
    ['answers 503 without saying that nothing was done', json(503, { error: { code: 'busy', message: 'no' } })],
    ['answers 409', json(409, { error: { code: 'key_in_use', message: 'no' } })],
    ['answers 302', json(302, charge(), { location: 'http://127.0.0.1:9/' })],
    ['answers 200 with {}', json(200, {})],
    ['answers 200 with an error', json(200, { error: { code: 'declined', message: 'no' } })],
    [
      'answers 200 with HTML',
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
    ],
    [
      'answers 400 with HTML',
      (_request, response) => void response.writeHead(400, { 'content-type': 'text/html' }).end('<html></html>'),
    ],
    ['answers another amount', json(200, charge({ amount: 20_001 }))],
    ['answers another currency', json(200, charge({ currency: 'USD' }))],
    ['answers another payment', json(200, charge({ ourId: randomUUID() }))],
    ['answers another kind of object', json(200, charge({ object: 'refund' }))],
    ['answers an id of another kind', json(200, charge({ id: 're_1' }))],
    ['answers a status that is none', json(200, charge({ status: 'paid' }))],
    ['answers captured without an amount', json(200, charge({ capturedAmount: 0 }))],
    ['answers an amount that is no number', json(200, charge({ capturedAmount: '20000' }))],
  ]
  for (const [how, what] of unknowns)
    it(`takes it for unknown when the gateway ${how}`, async () => {
      const outcome = await submitting(what)
      expect(outcome.kind).to.equal('unknown')
      expect(requests).to.have.length(1)
    })

  const notSent: [string, Serve][] = [
    ['answers 429', json(429, {}, { 'retry-after': '7' })],
    [
      'answers 503 and says that nothing was done',
      json(503, { error: { code: 'maintenance', message: 'later', notProcessed: true } }),
    ],
  ]
  for (const [how, what] of notSent)
    it(`takes it for not sent when the gateway ${how}`, async () => {
      expect((await submitting(what)).kind).to.equal('not_sent')
    })

  it('hands on how long the gateway asks to wait', async () => {
    expect(await submitting(json(429, {}, { 'retry-after': '7' }))).to.include({ afterMs: 7_000 })
  })

  it('takes it for not sent when nobody listens', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const nobody = sandboxAt(() => Promise.resolve({ url: `http://127.0.0.1:${port}`, secret: 'secret' }))
    expect((await nobody.submit(payment, 'pay-1', signal)).kind).to.equal('not_sent')
  })

  it('takes a 402 that names its reason for a refusal', async () => {
    const outcome = await submitting(json(402, { error: { code: 'insufficient_funds', message: 'No funds' } }))
    expect(outcome).to.include({ kind: 'refused', code: 'insufficient_funds' })
  })

  it('does not believe the charge of another reference when it reads one that it knows', async () => {
    serve = json(200, charge({ id: 'ch_2' }))
    expect((await gateway.read({ ...payment, externalId: 'ch_1' }, signal)).kind).to.equal('unknown')
  })

  it('finds nothing, one, and does not trust two', async () => {
    serve = json(200, { data: [] })
    expect(await gateway.find(payment, signal)).to.deep.include({ kind: 'known', snapshot: null })
    serve = json(200, { data: [charge()] })
    expect(await gateway.find(payment, signal)).to.include({ kind: 'known', reference: 'ch_1' })
    serve = json(200, { data: [charge(), charge({ id: 'ch_2' })] })
    expect((await gateway.find(payment, signal)).kind).to.equal('unknown')
  })

  it('judges refunds by the same measure', async () => {
    const body = {
      object: 'refund',
      id: 're_1',
      ourId: refund.id,
      status: 'succeeded',
      amount: 5_000,
      currency: 'BRL',
      failure: null,
    }
    serve = json(201, body)
    expect((await gateway.refund(refund, 'ref-1', signal)).kind).to.equal('known')
    for (const wrong of [
      { amount: 4_999 },
      { currency: 'USD' },
      { ourId: randomUUID() },
      { status: 'done' },
      { object: 'charge' },
    ]) {
      serve = json(201, { ...body, ...wrong })
      expect((await gateway.refund(refund, 'ref-1', signal)).kind, JSON.stringify(wrong)).to.equal('unknown')
    }
  })
})
