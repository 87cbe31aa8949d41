import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { settings } from '../../config/env.ts'
import { registry } from '../../config/metrics.ts'

/** `/healthz`, `/readyz` and `/metrics` of a process, on loopback: what reads them runs beside it. Port 0 takes any free one. */
export const startHealthServer = async (isReady: () => boolean, port = settings.metricsPort) => {
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8') => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
      response.end(body)
    }
    if (request.url === '/healthz') return answer(200, 'alive\n')
    if (request.url === '/readyz') return isReady() ? answer(200, 'ready\n') : answer(503, 'not ready\n')
    if (request.url === '/metrics')
      return void registry.metrics().then(
        (text) => answer(200, text, registry.contentType),
        () => answer(500, 'no metrics\n'),
      )
    return answer(404, 'not found\n')
  })
  server.requestTimeout = 5_000
  server.headersTimeout = 5_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
