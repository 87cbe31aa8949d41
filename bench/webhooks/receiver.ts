import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** Notes the first arrival of each event, by its id. */
export const startReceiver = async () => {
  const arrived = new Map<string, number>()
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const id = String(request.headers['webhook-id'])
      if (!arrived.has(id)) arrived.set(id, Date.now())
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  return {
    arrived,
    /** Waits until so many different events and pings have arrived; for half a minute at most. */
    heard: async (count: number) => {
      const until = Date.now() + 30_000
      while (arrived.size < count && Date.now() < until) await wait(100)
    },
    /** Of a host of its own for each tenant. */
    url: (number: number) =>
      `http://127.0.${Math.floor(number / 250)}.${(number % 250) + 1}:${(server.address() as AddressInfo).port}/`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
