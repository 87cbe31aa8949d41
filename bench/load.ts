import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { percentile } from './report.ts'

export type Shot = { path: string; method?: string; headers?: Record<string, string>; body?: unknown }
export type Load = { perSecond: number; p50Ms: number; p95Ms: number; p99Ms: number; count: number }

const fire = (
  agent: Agent,
  baseUrl: string,
  { path, method = 'GET', headers = {}, body }: Shot,
): Promise<{ status: number; text: () => string }> =>
  new Promise((resolve, reject) => {
    const content = body === undefined ? undefined : JSON.stringify(body)
    const sent = request(`${baseUrl}${path}`, {
      method,
      agent,
      headers: {
        ...(content === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
        ...headers,
      },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: () => Buffer.concat(parts).toString() }),
      )
    })
    sent.end(content)
  })

/** Keeps so many requests in flight over kept connections for a while; a reply that is not the expected one ends the run. */
export const load = async (
  baseUrl: string,
  shot: (index: number) => Shot,
  {
    seconds,
    inFlight,
    expected,
    most = Infinity,
  }: { seconds: number; inFlight: number; expected: number; most?: number },
): Promise<Load> => {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight })
  const times: number[] = []
  const started = performance.now()
  const until = started + seconds * 1000
  let index = 0
  const lane = async () => {
    while (performance.now() < until && index < most) {
      const from = performance.now()
      const { status, text } = await fire(agent, baseUrl, shot(index++))
      if (status !== expected) throw new Error(`${baseUrl}: ${status} instead of ${expected}: ${text().slice(0, 300)}`)
      times.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const tookMs = performance.now() - started
  agent.destroy()
  return {
    perSecond: (times.length / tookMs) * 1000,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    p99Ms: percentile(times, 0.99),
    count: times.length,
  }
}

/** Sends the shots at a steady rate whatever the answers do; a time counts from when its shot was due. A reply that is not the expected one ends the run. */
export const paced = async (
  baseUrl: string,
  shots: readonly Shot[],
  { perSecond, expected }: { perSecond: number; expected: number },
): Promise<Load> => {
  const agent = new Agent({ keepAlive: true })
  const started = performance.now()
  const times = await Promise.all(
    shots.map(async (shot, index) => {
      const dueMs = (index / perSecond) * 1000
      await wait(dueMs)
      const { status, text } = await fire(agent, baseUrl, shot)
      if (status !== expected)
        throw new Error(`${shot.path}: ${status} instead of ${expected}: ${text().slice(0, 300)}`)
      return performance.now() - started - dueMs
    }),
  )
  const tookMs = performance.now() - started
  agent.destroy()
  return {
    perSecond: (times.length / tookMs) * 1000,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    p99Ms: percentile(times, 0.99),
    count: times.length,
  }
}
