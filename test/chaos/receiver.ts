import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A line of the receiver's log: a webhook that it has read, and the status that it meant to answer. */
export type Hook = { path: string; id: string; at: number; status: number }

/** One request in so many goes wrong, each time in another way. */
const seldom = 60
const moods = ['fails', 'closes', 'busy', 'hangs'] as const
const hangMs = 1_000

/** A receiver of webhooks that fails, asks for a pause, hangs, and closes after it has read: the last two are sent again. */
export const startReceiver = async (logFile: string) => {
  let count = 0
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      count += 1
      const mood = count % seldom === 0 ? moods[(count / seldom) % moods.length] : 'well'
      const status = mood === 'fails' ? 500 : mood === 'busy' ? 429 : 204
      const heard: Hook = {
        path: request.url ?? '',
        id: String(request.headers['webhook-id']),
        at: Date.now(),
        status,
      }
      appendFileSync(logFile, `${JSON.stringify(heard)}\n`)
      if (mood === 'closes') response.destroy()
      else if (mood === 'hangs') setTimeout(() => response.destroy(), hangMs)
      else response.writeHead(status, mood === 'busy' ? { 'retry-after': '1' } : {}).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
