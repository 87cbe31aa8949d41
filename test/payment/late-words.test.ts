import { expect } from 'chai'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { cancelPaymentById } from '../../db/payment/index.ts'
import { readPayment } from '../../jobs/payment.ts'
import { useDatabase } from '../support/database.ts'
import { bring, creditOf, makeBooking, makeTill, pay, paymentOf, sweep, within, work } from './support.ts'
import type { Till } from './support.ts'

type Charge = { status: string; capturedAmount: number }

/** A gateway that has one charge, which it had not when it was asked before. */
const gatewayWith = (ourId: string, charge: Charge) => {
  const seen: string[] = []
  const shown = () => ({
    object: 'charge',
    id: `ch_${ourId}`,
    ourId,
    amount: 20_000,
    currency: 'BRL',
    authorisedAmount: 20_000,
    ...charge,
  })
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ''
    seen.push(`${request.method} ${path}`)
    if (request.method === 'POST') charge.status = 'cancelled'
    const body = path.includes('?') ? { data: [shown()] } : shown()
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
  }
  return { seen, serve }
}

describe('a gateway whose word comes late', () => {
  useDatabase()
  let till: Till
  let server: Server
  const reset = (request: IncomingMessage) => void request.socket.destroy()
  let serve: (request: IncomingMessage, response: ServerResponse) => void = reset
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

  it('on the end of an authorisation is asked for within seconds, as the guest’s money is held until then', async () => {
    const { id } = await pay(till, await makeBooking(till), { mode: 'authorise' })
    await work()
    serve = reset
    settings.sandboxUrl = url
    await within(till, (trx) => cancelPaymentById(trx, id, 'The guest pays by other means'))
    await work()
    const { status, nextReadAt } = await paymentOf(till, id)
    expect(status).to.equal('authorised')
    const [{ soon } = { soon: false }] = await within(till, (trx) =>
      sql<{ soon: boolean }>(trx, `select ?::timestamptz < now() + interval '1 minute' as soon`, [nextReadAt]),
    )
    expect(soon).to.equal(true)
    settings.sandboxUrl = null
    await bring(till, id, 'cancelled')
  })

  /** A payment that the gateway had not heard of ten minutes after the call. */
  const givenUp = async (bookingId: string, mode: 'charge' | 'authorise'): Promise<string> => {
    const { id } = await pay(till, bookingId, { token: 'timeout_nothing', mode })
    await work()
    await within(till, async (trx) => {
      await sql(trx, `update payment set sent_at = now() - interval '30 minutes', expires_at = now() where id = ?`, [
        id,
      ])
      await sql(
        trx,
        `update external_call set started_at = now() - interval '30 minutes' where idempotency_key = 'pay-' || ?`,
        [id],
      )
    })
    const { failure } = await bring(till, id, 'failed')
    expect(failure).to.include({ code: 'not_found_at_gateway' })
    return id
  }
  const tell = async (id: string) => {
    await within(till, (trx) =>
      enqueue(trx, readPayment, { tenantId: till.tenantId, paymentId: id, cause: 'callback' }),
    )
    await work()
  }

  it('on money that was given up as never sent is heard: it is late money of the booking', async () => {
    const bookingId = await makeBooking(till)
    const id = await givenUp(bookingId, 'charge')
    const gateway = gatewayWith(id, { status: 'captured', capturedAmount: 20_000 })
    serve = gateway.serve
    settings.sandboxUrl = url
    await tell(id)
    expect(await paymentOf(till, id)).to.include({ status: 'captured', late: true, externalId: `ch_${id}` })
    expect(await creditOf(till, bookingId)).to.equal(20_000)
  })

  it('on an authorisation of a payment that was given up frees the guest’s money, though the gateway fails at first', async () => {
    const id = await givenUp(await makeBooking(till), 'authorise')
    const gateway = gatewayWith(id, { status: 'authorised', capturedAmount: 0 })
    let isDown = true
    serve = (request, response) =>
      request.method === 'POST' && isDown ? reset(request) : gateway.serve(request, response)
    settings.sandboxUrl = url
    await tell(id)
    expect(await paymentOf(till, id)).to.include({ status: 'failed', externalId: `ch_${id}` })
    isDown = false
    await within(till, (trx) =>
      sql(trx, `update payment set next_read_at = now() where id = ? and next_read_at < now() + interval '1 minute'`, [
        id,
      ]),
    )
    await sweep()
    await work()
    expect(gateway.seen.filter((one) => one.startsWith('POST'))).to.deep.equal([`POST /charges/ch_${id}/cancel`])
    expect(await paymentOf(till, id)).to.include({ status: 'failed', nextReadAt: null })
  })
})
