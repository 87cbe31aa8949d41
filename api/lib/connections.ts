import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { settings } from '../../config/env.ts'
import { clientOf, isTrustedProxy } from './address.ts'
import { connectionsRefused } from './metrics.ts'

/**
 * Bounds the connections of a server, in all and of one client: a sender that opens many and sends nothing takes the descriptors of everybody
 * else. Proxies carry many clients, so that theirs count in all alone.
 */
export const boundConnections = (server: Server, { perAddress, inAll } = limits()): void => {
  const open = new Map<string, number>()
  server.maxConnections = inAll
  server.on('drop', () => connectionsRefused.inc({ bound: 'all' }))
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isTrustedProxy(address)) return
    const client = clientOf(address)
    const count = (open.get(client) ?? 0) + 1
    if (count > perAddress) {
      connectionsRefused.inc({ bound: 'address' })
      socket.destroy()
      return
    }
    open.set(client, count)
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1
      if (left === 0) open.delete(client)
      else open.set(client, left)
    })
  })
}

const limits = () => ({ perAddress: settings.connectionsPerAddress, inAll: settings.connections })
