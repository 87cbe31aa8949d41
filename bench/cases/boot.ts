import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { settings } from '../../config/env.ts'
import { build, isBuilt } from '../../scripts/build.ts'
import type { Bench } from '../bench.ts'
import { judge, percentile } from '../report.ts'

const starts = 7

/** Resident memory of a process, in MB. */
const memoryOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

const once = (command: string[], environment: NodeJS.ProcessEnv, isReady: (line: string) => string | null) =>
  new Promise<{ ms: number; mb: number }>((resolve, reject) => {
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

export const bench: Bench = async () => {
  if (!isBuilt()) await build()
  const main = fileURLToPath(new URL('../../dist/api/main.js', import.meta.url))
  const environment = {
    ...process.env,
    NODE_ENV: 'development',
    LOG_LEVEL: 'info',
    DATABASE_URL: settings.databaseUrl,
    REDIS_URL: settings.redisUrl,
    REDIS_PREFIX: settings.redisPrefix,
    PORT: '0',
  }
  const ours: { ms: number; mb: number }[] = []
  const reference: { ms: number; mb: number }[] = []
  for (let index = 0; index < starts; index += 1) {
    ours.push(await once([main], environment, addressIn))
    reference.push(await once(['-e', bare], process.env, addressIn))
  }
  const middle = (list: { ms: number; mb: number }[], of: 'ms' | 'mb') =>
    percentile(
      list.map((one) => one[of]),
      0.5,
    )
  const { routes } = await import('../../api/routes.ts')
  return {
    results: [
      judge(
        {
          name: 'boot of the api',
          unit: 's',
          ours: middle(ours, 'ms') / 1000,
          reference: middle(reference, 'ms') / 1000,
        },
        { most: 1.5 },
      ),
      judge(
        { name: 'memory of the api', unit: 'MB', ours: middle(ours, 'mb'), reference: middle(reference, 'mb') },
        { most: 160 },
      ),
    ],
    notes: [
      `Median of ${starts} starts with ${routes.length} routes: from the start of the process to /readyz saying yes, and its resident memory then.`,
      'Reference: a bare node:http server.',
    ],
  }
}
