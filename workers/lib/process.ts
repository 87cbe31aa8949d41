import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { log } from '../../config/log.ts'
import { startTracing, stopTracing } from '../../config/tracing.ts'
import { closeDatabase, openDatabase } from '../../db/lib/connection.ts'
import { checkRole } from '../../db/lib/role-check.ts'
import { startHealthServer } from '../../config/health-server.ts'
import type { ProcessKind } from '../../config/health-server.ts'

/** Tells whether this process was started with a module, rather than imports it. */
export const isEntry = (moduleUrl: string): boolean => {
  const [, entry] = process.argv
  return entry !== undefined && realpathSync(entry) === fileURLToPath(moduleUrl)
}

const deadlineMs = 25_000

type Part = {
  isReady: () => boolean
  stop: (options?: { deadlineMs?: number }) => Promise<void>
  /** Resolves when only a new process can help. */
  failed?: Promise<Error>
}

const kindOf = (name: string): ProcessKind => (name === 'relay' || name === 'scheduler' ? name : 'worker')

/**
 * The frame of a background process: database, health server, and an end within 25 s of SIGTERM or SIGINT. A second signal ends it
 * at once.
 */
export const runProcess = async (name: string, pool: number, start: () => Promise<Part>): Promise<void> => {
  let part: Part | null = null
  let isEnding = false
  const end = async (code = 0) => {
    const timer = setTimeout(() => process.exit(1), deadlineMs)
    timer.unref()
    await health.stop()
    await part?.stop({ deadlineMs: deadlineMs - 2_000 })
    await stopTracing()
    await Promise.race([closeDatabase(), new Promise((resolve) => setTimeout(resolve, 1_000).unref())])
    log.info({ process: name }, 'ended')
    process.exit(code)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    if (isEnding) process.exit(1)
    isEnding = true
    log.info({ process: name, signal }, 'ending')
    end().catch((error: unknown) => {
      log.error({ err: error }, 'the end failed')
      process.exit(1)
    })
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  await startTracing(`pousada-${name}`)
  await openDatabase(undefined, pool)
  await checkRole((why) => {
    log.fatal({ process: name }, why)
    process.exit(1)
  })
  const health = await startHealthServer(kindOf(name), () => ({
    isReady: !isEnding && (part?.isReady() ?? false),
  }))
  try {
    part = await start()
  } catch (error) {
    log.fatal({ err: error, process: name }, 'cannot start')
    await new Promise((resolve) => log.flush(resolve))
    process.exit(1)
  }
  part.failed
    ?.then((error) => {
      if (isEnding) return undefined
      isEnding = true
      log.fatal({ err: error, process: name }, 'ends, to be started anew')
      return end(1)
    })
    .catch(() => process.exit(1))
  log.info({ process: name, healthPort: health.port }, 'started')
}
