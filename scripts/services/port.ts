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

/** The wished port while it is free on loopback, else one that is. */
export const freePort = (wished = 0): Promise<number> =>
  wished === 0 ? listen(0) : listen(wished).catch(() => listen(0))

/** The setting of a process so many places after the api, where a port is named for the api. */
export const metricsPortAfter = (named: string | undefined, place: number): { METRICS_PORT?: string } =>
  named && Number(named) > 0 ? { METRICS_PORT: String(Number(named) + place) } : {}
