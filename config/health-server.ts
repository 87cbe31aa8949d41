import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import { settings } from './env.ts'
import { log } from './log.ts'
import { registry } from './metrics.ts'

export type ProcessKind = 'api' | 'relay' | 'scheduler' | 'worker'

/** The port that Prometheus reads unless `METRICS_PORT` says otherwise. */
const usualPorts: Record<ProcessKind, number> = { api: 9464, relay: 9465, scheduler: 9466, worker: 9467 }

/** Readiness: whether requests or jobs may come, and what is behind it. */
export type Readiness = { isReady: boolean; detail?: object }

const bind = (server: Server, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })

/** A second process of a kind on one machine takes any free port, and says which; `METRICS_PORT` is kept to. */
const listen = async (server: Server, kind: ProcessKind): Promise<void> => {
  if (settings.metricsPort !== null) return bind(server, settings.metricsPort)
  const port = usualPorts[kind]
  try {
    await bind(server, port)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    await bind(server, 0)
    log.warn(
      { process: kind, port, taken: (server.address() as AddressInfo).port },
      'the metrics port is in use; set METRICS_PORT',
    )
  }
}

/** `/healthz`, `/readyz` with its reasons, and `/metrics` of a process, on loopback alone: what reads them runs beside it. */
export const startHealthServer = async (kind: ProcessKind, ready: () => Readiness | Promise<Readiness>) => {
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8') => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
      response.end(body)
    }
    const readiness = async () => {
      const { isReady, detail } = await ready()
      const status = isReady ? 200 : 503
      if (detail) answer(status, `${JSON.stringify(detail)}\n`, 'application/json; charset=utf-8')
      else answer(status, isReady ? 'ready\n' : 'not ready\n')
    }
    const metrics = async () => answer(200, await registry.metrics(), registry.contentType)
    if (request.url === '/healthz') return answer(200, 'alive\n')
    const work = request.url === '/readyz' ? readiness : request.url === '/metrics' ? metrics : null
    if (!work) return answer(404, 'not found\n')
    return void work().catch(() => answer(500, 'not known\n'))
  })
  server.requestTimeout = 5_000
  server.headersTimeout = 5_000
  await listen(server, kind)
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
