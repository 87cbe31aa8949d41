import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pathSchema } from '../../api/lib/input.ts'
import type { AnyRoute } from '../../api/lib/route.ts'
import { settings } from '../../config/env.ts'
import { compile, compileQuery } from '../../config/validator.ts'
import { build, isBuilt } from '../../scripts/build.ts'
import type { Bench } from '../bench.ts'
import { compiledWith } from '../boot/catalogue.ts'
import { judge, percentile } from '../report.ts'
import type { Goal } from '../report.ts'
import { sized } from '../size.ts'

/** Routes of the whole catalogue. */
const catalogue = 713
const rounds = sized(7, 3)

type Start = { ms: number; mb: number }

/** Resident memory of a process, in MB. */
const memoryOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

const once = (command: string[], environment: NodeJS.ProcessEnv, isReady: (line: string) => string | null) =>
  new Promise<Start>((resolve, reject) => {
    const from = performance.now()
    const child = spawn(process.execPath, command, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it was ready`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const address = isReady(line)
      if (address === null) return
      const measure = async () => {
        for (;;) {
          const response = await fetch(`${address}/readyz`)
          if (response.ok) break
        }
        const ms = performance.now() - from
        child.removeAllListeners('exit')
        child.once('exit', () => resolve({ ms, mb }))
        const mb = memoryOf(child.pid ?? 0)
        child.kill('SIGTERM')
      }
      measure().catch(reject)
    })
  })

const addressIn = (line: string): string | null => {
  try {
    const { msg, address } = JSON.parse(line) as { msg?: string; address?: string }
    return msg === 'api ready' && address ? address : null
  } catch {
    return null
  }
}

const bare = `
  const http = require('node:http')
  const server = http.createServer((request, response) => response.end('ok')).listen(0, '127.0.0.1', () =>
    console.log(JSON.stringify({ msg: 'api ready', address: 'http://127.0.0.1:' + server.address().port })))`

type Check = { name: string; first: () => unknown }

/** Every check of the routes, to be called for the first time. */
const checksOf = (routes: readonly AnyRoute[]): Check[] =>
  routes.flatMap((route) => {
    const { id, query, body } = route
    return [
      { name: `${id} path`, first: () => compileQuery(pathSchema(route))({}) },
      ...(query ? [{ name: `${id} query`, first: () => compileQuery(query)({}) }] : []),
      ...(body ? [{ name: `${id} body`, first: () => compile(body)({}) }] : []),
    ]
  })

/** The longest first use of a check: an event loop stands still as long. */
const slowestFirstUse = (checks: readonly Check[]): { name: string; ms: number } => {
  let slowest = { name: '', ms: 0 }
  for (const { name, first } of checks) {
    const from = performance.now()
    first()
    const ms = performance.now() - from
    if (ms > slowest.ms) slowest = { name, ms }
  }
  return slowest
}

export const bench: Bench = async () => {
  if (!isBuilt()) await build({ proves: false })
  const { routes } = await import('../../api/routes.ts')
  const whole = await compiledWith(catalogue, routes.length)
  const today = fileURLToPath(new URL('../../dist/api/main.js', import.meta.url))
  const environment = {
    ...process.env,
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    DATABASE_URL: settings.databaseUrl,
    REDIS_URL: settings.redisUrl,
    REDIS_PREFIX: settings.redisPrefix,
    PORT: '0',
  }
  const starts = { whole: [] as Start[], today: [] as Start[], reference: [] as Start[] }
  try {
    for (let round = 0; round < rounds; round += 1) {
      starts.whole.push(await once([whole.main], environment, addressIn))
      starts.today.push(await once([today], environment, addressIn))
      starts.reference.push(await once(['-e', bare], process.env, addressIn))
    }
  } finally {
    whole.remove()
  }
  const middle = (list: Start[], of: keyof Start) =>
    percentile(
      list.map((one) => one[of]),
      0.5,
    )
  const measured = (name: string, list: Start[], goals: { seconds: Goal; megabytes: Goal }) => [
    judge(
      {
        name: `boot of the api ${name}`,
        unit: 's',
        ours: middle(list, 'ms') / 1000,
        reference: middle(starts.reference, 'ms') / 1000,
      },
      goals.seconds,
    ),
    judge(
      {
        name: `memory of the api ${name}`,
        unit: 'MB',
        ours: middle(list, 'mb'),
        reference: middle(starts.reference, 'mb'),
      },
      goals.megabytes,
    ),
  ]
  const slowest = slowestFirstUse(checksOf(routes))
  return {
    results: [
      ...measured(`with ${catalogue} routes`, starts.whole, { seconds: { most: 1.5 }, megabytes: { most: 160 } }),
      ...measured(`with the ${routes.length} routes of today`, starts.today, { seconds: null, megabytes: null }),
      judge({ name: 'longest first use of a check', unit: 'ms', ours: slowest.ms, reference: null }, { most: 50 }),
    ],
    notes: [
      `Median of ${rounds} starts: from the start of the process to /readyz saying yes, and its resident memory then.`,
      `The catalogue has ${catalogue} routes. Those that are missing are copies of all modules of api and db under other names, paths and ids: with schemas, handlers and statements of their own.`,
      `A check is compiled when it is first used, which no other request gets past. The longest was ${slowest.name}.`,
      'Reference: a bare node:http server.',
    ],
  }
}
