import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const listen = (port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port))
    })
  })

/**
 * Below the ports that systems give to connections and to servers that wish for none (Linux from 32768, others from 49152): one that was
 * found free is still free when its program listens, some seconds later on a busy machine, and again after that was restarted.
 */
const own = { least: 12_000, below: 32_000 }
const given = new Set<number>()

const freeOfOwn = async (): Promise<number> => {
  for (let tries = 0; tries < 50; tries += 1) {
    const port = randomInt(own.least, own.below)
    if (given.has(port)) continue
    const found = await listen(port).catch(() => null)
    if (found === null || given.has(port)) continue
    given.add(port)
    return port
  }
  return listen(0)
}

/** The wished port while it is free on loopback, else one that is. */
export const freePort = (wished = 0): Promise<number> =>
  wished === 0 ? freeOfOwn() : listen(wished).catch(() => freeOfOwn())

/** The setting of a process so many places after the api, where a port is named for the api. */
export const metricsPortAfter = (named: string | undefined, place: number): { METRICS_PORT?: string } =>
  named && Number(named) > 0 ? { METRICS_PORT: String(Number(named) + place) } : {}
