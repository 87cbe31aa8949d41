import { expect } from 'chai'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { boundConnections } from '../../api/lib/connections.ts'
import { listen, makeServer } from '../../api/server.ts'
import { settings } from '../../config/env.ts'
import { until } from '../support/until.ts'

const part = 'GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: '
const body =
  'POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'

const openOf = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))))

describe('senders that take their time', () => {
  let server: Server
  let port = 0
  const sockets: Socket[] = []
  const open = (text: string, from = '127.0.0.1') =>
    new Promise<Socket>((resolve) => {
      // The other half stays open, as an attacker would leave it.
      const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true }, () => {
        socket.write(text)
        resolve(socket)
      })
      socket.on('error', () => {})
      socket.resume()
      sockets.push(socket)
    })

  before(async () => {
    server = await makeServer([], { headersMs: 150, requestMs: 300, lookMs: 50 })
    port = Number(new URL(await listen(server, 0)).port)
  })
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
  })

  for (const [what, text] of [
    ['nothing', ''],
    ['half of their headers', part],
    ['half of a body', body],
    ['what is no request', 'nonsense\r\n\r\n'],
  ] as const)
    it(`keep no socket after ${what}, though they never close their half`, async () => {
      await Promise.all(Array.from({ length: 30 }, () => open(text)))
      await until(async () => (await openOf(server)) === 0, { withinMs: 8_000, what: 'the end of every socket' })
    })

  it('are so many of one address as it may have, and those of another are served', async () => {
    const bounded = await makeServer([])
    bounded.removeAllListeners('drop')
    boundConnections(bounded, { perAddress: 5, inAll: 12 })
    const own = port
    port = Number(new URL(await listen(bounded, 0)).port)
    try {
      await Promise.all(Array.from({ length: 20 }, () => open(part)))
      await until(async () => (await openOf(bounded)) === 5, { what: 'the fifteen that are closed unread' })
      await Promise.all(Array.from({ length: 3 }, () => open(part, '127.0.0.2')))
      await until(async () => (await openOf(bounded)) === 8, { what: 'those of another address' })
      for (const from of ['127.0.0.3', '127.0.0.4'])
        await Promise.all(Array.from({ length: 4 }, () => open(part, from)))
      await until(async () => (await openOf(bounded)) === 12, { what: 'as many as there may be in all' })
    } finally {
      port = own
      bounded.closeAllConnections()
      bounded.close()
    }
  })

  it('have bounds in production that leave room for everybody else', () => {
    expect(settings.connectionsPerAddress).to.be.below(settings.connections)
    expect(server.maxConnections).to.equal(settings.connections)
    expect(server.timeout).to.be.greaterThan(60_000)
  })
})
