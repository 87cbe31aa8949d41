import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { settings } from '../../config/env.ts'
import { guard, signal, stopGuarded } from '../../scripts/services/guard.ts'
import { built } from './built.ts'
import { until } from './until.ts'

const checkout = fileURLToPath(new URL('../../', import.meta.url))

export type Line = Record<string, unknown>

export type RunningProcess = {
  /** Base address of its health endpoints; of the api, its own. */
  baseUrl: string
  /** The address of its metrics, and of its readiness with reasons. */
  metricsUrl: string
  lines: Line[]
  /** To the process and its guard alike. */
  signal: (name: NodeJS.Signals) => void
  /** As a power cut would. */
  kill: () => Promise<void>
  /** As a deployment would: SIGTERM, and what is under way comes to its end. */
  stop: () => Promise<void>
  exited: Promise<number | null>
}

/** As they stand compiled. */
const files = {
  api: 'api/main.js',
  relay: 'workers/relay.js',
  scheduler: 'workers/scheduler.js',
  workers: 'workers/main.js',
  testJobs: 'test/jobs/process.js',
}

const parsed = (text: string): Line => {
  try {
    return JSON.parse(text) as Line
  } catch {
    return { msg: text }
  }
}

const ok = async (url: string) => {
  const { ok: is } = await fetch(url, { signal: AbortSignal.timeout(1_000) })
  return is
}

/** A compiled program against the database and Redis of this test, which ends with the run, however that ends. */
export const guardProgram = (file: string, environment: Record<string, string>) =>
  guard([process.execPath, file], {
    directory: checkout,
    account: null,
    logFile: null,
    stopSignal: 'TERM',
    environment: {
      ...process.env,
      DATABASE_URL: settings.databaseUrl,
      REDIS_URL: settings.redisUrl,
      ...environment,
    },
  })

/**
 * A real process of the service against the database and Redis of this test. It ends with the run, however that ends.
 * @param environment over what this process has, such as CRASH_AT.
 */
export const startProcess = async (
  kind: keyof typeof files,
  environment: Record<string, string> = {},
  { ready = true } = {},
): Promise<RunningProcess> => {
  const guarded = guardProgram(join(await built(), files[kind]), {
    LOG_LEVEL: 'info',
    REDIS_PREFIX: settings.redisPrefix,
    REDIS_PATIENCE_MS: String(settings.redisPatienceMs),
    LOCK_PATIENCE_MS: String(settings.lockPatienceMs),
    PORT: '0',
    METRICS_PORT: '0',
    SANDBOX_SECOND_MS: String(settings.sandboxSecondMs),
    PASSWORD_MEMORY_KIB: String(settings.passwordMemoryKib),
    PASSWORD_PASSES: String(settings.passwordPasses),
    ...environment,
  })
  const lines: Line[] = []
  const { stdout, stderr, pid = 0 } = guarded.process
  for (const stream of [stdout, stderr])
    if (stream) createInterface({ input: stream }).on('line', (text) => lines.push(parsed(text)))
  let hasEnded = false
  const exited = guarded.exited.finally(() => (hasEnded = true))
  const begun = await until<Line>(
    () => {
      if (hasEnded) return { msg: 'ended' }
      return lines.find((line) => line.msg === 'api ready' || line.msg === 'started')
    },
    { withinMs: 60_000, what: `the start of ${kind}` },
  )
  const baseUrl = typeof begun.address === 'string' ? begun.address : `http://127.0.0.1:${Number(begun.healthPort)}`
  if (ready)
    await until(() => hasEnded || ok(`${baseUrl}/readyz`), { withinMs: 60_000, what: `the readiness of ${kind}` })
  // One that is to die may have found its point before it could say that it is ready.
  if (hasEnded && ready && environment.CRASH_AT === undefined)
    throw new Error(`${kind} ended at its start:\n${lines.map((line) => JSON.stringify(line)).join('\n')}`)
  return {
    baseUrl,
    metricsUrl: `http://127.0.0.1:${Number(begun.healthPort)}`,
    lines,
    exited,
    signal: (name) => void signal(-pid, name),
    kill: async () => {
      signal(-pid, 'SIGKILL')
      await exited.catch(() => null)
    },
    stop: () => stopGuarded(guarded, 28_000),
  }
}
