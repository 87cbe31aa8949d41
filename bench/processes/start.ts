import { fork } from 'node:child_process'
import type { Serializable } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { settings } from '../../config/env.ts'
import { guard, stopGuarded } from '../../scripts/services/guard.ts'
import { build, isBuilt } from '../../scripts/build.ts'

export type Started = { baseUrl: string; stop: () => Promise<void> }

/** The api as it is deployed: compiled, a process of its own. */
export const startApi = async (environment: Record<string, string> = {}): Promise<Started> => {
  if (!isBuilt()) await build({ proves: false })
  const main = fileURLToPath(new URL('../../dist/api/main.js', import.meta.url))
  const profile = process.env.BENCH_PROFILE === 'api' ? ['--cpu-prof', '--cpu-prof-dir=.data/profiles'] : []
  const guarded = guard([process.execPath, ...profile, main], {
    directory: fileURLToPath(new URL('../../', import.meta.url)),
    account: null,
    logFile: null,
    stopSignal: 'TERM',
    environment: {
      ...process.env,
      NODE_ENV: 'development',
      LOG_LEVEL: 'info',
      DATABASE_URL: settings.databaseUrl,
      REDIS_URL: settings.redisUrl,
      REDIS_PREFIX: settings.redisPrefix,
      PORT: '0',
      ...environment,
    },
  })
  const { stdout, stderr } = guarded.process
  stderr?.pipe(process.stderr)
  const baseUrl = await new Promise<string>((resolve, reject) => {
    guarded.exited.then((code) => reject(new Error(`the api ended with ${code}`)), reject)
    if (!stdout) return
    createInterface({ input: stdout }).on('line', (line) => {
      const address = /"address":"([^"]+)"/.exec(line)?.[1]
      if (address) resolve(address)
    })
  })
  return { baseUrl, stop: () => stopGuarded(guarded) }
}

/** A reference process: it is sent what it needs, and answers where it listens. */
export const startReference = async (file: string, message: Serializable): Promise<Started> => {
  const child = fork(new URL(file, import.meta.url), { execArgv: ['--import', 'tsx/esm'], serialization: 'advanced' })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.send(message)
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)))
    child.once('message', (answer) => resolve(Number((answer as { port: number }).port)))
  })
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}
