import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

type Pair = { client: Socket; server: Socket }

export type TcpProxy = {
  port: number
  /** How many connections go through it. */
  size: () => number
  /** Connections that stand stop forwarding, both ways, and are not closed: neither side is told. Those made later go through. */
  freeze: () => void
  /** While on, connections made from now on are frozen from their first byte. */
  freezeNew: (on: boolean) => void
  /** What was frozen goes on, with all that was kept back. */
  thaw: () => void
  /** Ends every connection with a reset. */
  cut: () => void
  stop: () => Promise<void>
}

/** Forwards connections from a free port of loopback to `port`, until it is told to misbehave. */
export const startTcpProxy = async (port: number, host = '127.0.0.1'): Promise<TcpProxy> => {
  const pairs = new Set<Pair>()
  let isFreezingNew = false
  const hold = ({ client, server }: Pair) => {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const)
      from.unpipe(to).pause()
  }
  const join = ({ client, server }: Pair) => {
    client.pipe(server)
    server.pipe(client)
  }
  const proxy = createServer({ allowHalfOpen: false }, (client) => {
    const pair = { client, server: connect({ port, host, noDelay: true }) }
    client.setNoDelay(true)
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      pair.client.destroy()
      pair.server.destroy()
    }
    for (const side of [client, pair.server]) side.on('error', end).on('close', end)
    if (isFreezingNew) client.pause()
    else join(pair)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy()
      server.destroy()
    }
  }
  return {
    port: (proxy.address() as AddressInfo).port,
    size: () => pairs.size,
    freeze: () => pairs.forEach(hold),
    freezeNew: (on) => {
      isFreezingNew = on
    },
    thaw: () => pairs.forEach(join),
    cut,
    stop: async () => {
      cut()
      await new Promise<void>((resolve) => proxy.close(() => resolve()))
    },
  }
}
