import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

type Direction = 'up' | 'down'
type Pair = { client: Socket; server: Socket; isFrozen: boolean }

export type TcpProxy = {
  port: number
  /** The number of connections that go through it. */
  size: () => number
  /** Connections that stand stop forwarding, both ways, and are not closed: neither side is told. Those made later go through. */
  freeze: () => void
  /** While on, connections made from now on are frozen from their first byte. */
  freezeNew: (on: boolean) => void
  /** Connections made from now on are frozen once they send this text; null: none. */
  freezeOn: (text: string | null) => void
  /** Frozen connections go on, with everything that was kept back. */
  thaw: () => void
  /** Ends every connection with a reset; every `nth` of them where that is said. */
  cut: (nth?: number) => void
  /** Whatever arrives from now on is handed on so much later. */
  delay: (ms: number) => void
  /** Everything sent in this direction (up: to the server) is thrown away, and neither side is told; null: nothing is. */
  drop: (direction: Direction | null) => void
  stop: () => Promise<void>
}

/** Forwards connections from a free port of loopback to a port, until it is told to misbehave. A server may come back on another port. */
export const startTcpProxy = async (target: number | (() => number), host = '127.0.0.1'): Promise<TcpProxy> => {
  const pairs = new Set<Pair>()
  let isFreezingNew = false
  let poison: string | null = null
  let delayMs = 0
  let dropped: Direction | null = null

  const forward = (pair: Pair, from: Socket, to: Socket, direction: Direction) => {
    let readyAt = 0
    const write = (part: Buffer) => {
      if (to.destroyed || to.write(part)) return
      from.pause()
      to.once('drain', () => {
        if (!pair.isFrozen) from.resume()
      })
    }
    from.on('data', (part: Buffer) => {
      if (dropped === direction) return
      if (poison !== null && direction === 'up' && !pair.isFrozen && part.includes(poison)) {
        hold(pair)
        from.unshift(part)
        return
      }
      const now = Date.now()
      // The bytes of a connection keep their order when the delay becomes shorter.
      readyAt = Math.max(now + delayMs, readyAt)
      if (readyAt <= now) write(part)
      else setTimeout(() => write(part), readyAt - now)
    })
    from.on('end', () => {
      setTimeout(() => to.end(), Math.max(0, readyAt - Date.now()))
    })
  }
  const hold = (pair: Pair) => {
    pair.isFrozen = true
    pair.client.pause()
    pair.server.pause()
  }
  const release = (pair: Pair) => {
    pair.isFrozen = false
    pair.client.resume()
    pair.server.resume()
  }
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const port = typeof target === 'number' ? target : target()
    const pair: Pair = {
      client,
      server: connect({ port, host, noDelay: true, allowHalfOpen: true }),
      isFrozen: isFreezingNew,
    }
    client.setNoDelay(true)
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      pair.client.destroy()
      pair.server.destroy()
    }
    for (const side of [client, pair.server]) side.on('error', end).on('close', end)
    forward(pair, client, pair.server, 'up')
    forward(pair, pair.server, client, 'down')
    if (pair.isFrozen) hold(pair)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const cut = (nth = 1) => {
    for (const [index, { client, server }] of [...pairs].entries()) {
      if (index % nth !== 0) continue
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
    freezeOn: (text) => {
      poison = text
    },
    thaw: () => pairs.forEach(release),
    cut,
    delay: (ms) => {
      delayMs = ms
    },
    drop: (direction) => {
      dropped = direction
    },
    stop: async () => {
      cut()
      await new Promise<void>((resolve) => proxy.close(() => resolve()))
    },
  }
}
