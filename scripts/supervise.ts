import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { guard, stopGuarded } from './services/guard.ts'
import type { Guarded } from './services/guard.ts'
import { readable, say } from './lines.ts'

export type Program = { name: string; file: string; environment: NodeJS.ProcessEnv }

export type Supervised = {
  pid: () => number | undefined
  /** Resolves with the first log line that the test accepts, of this run or a later one. */
  line: (accepts: (line: Record<string, unknown>) => boolean) => Promise<Record<string, unknown>>
  stop: () => Promise<void>
}

type Listener = {
  accepts: (line: Record<string, unknown>) => boolean
  resolve: (line: Record<string, unknown>) => void
}

const parsed = (line: string): Record<string, unknown> | null => {
  try {
    const content: unknown = JSON.parse(line)
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : null
  } catch {
    return null
  }
}

const mostWaitMs = 10_000
const calmMs = 30_000

/**
 * Keeps a program of the service running: what dies is started again, after a wait that doubles while it keeps dying.
 * @param restarted told of each further start: the process is another then.
 */
export const supervise = (program: Program, directory: string, restarted: () => void): Supervised => {
  let current: Guarded | null = null
  let isStopping = false
  let listeners: Listener[] = []
  const stopping = new AbortController()

  const hear = (line: string) => {
    say(program.name, readable(line))
    const content = parsed(line)
    if (!content) return
    const heard = listeners.filter((listener) => listener.accepts(content))
    listeners = listeners.filter((listener) => !heard.includes(listener))
    for (const listener of heard) listener.resolve(content)
  }

  const run = async () => {
    let waitMs = 500
    let isFirst = true
    while (!isStopping) {
      const started = Date.now()
      const command = [process.execPath, '--enable-source-maps', program.file]
      current = guard(command, {
        directory,
        account: null,
        logFile: null,
        stopSignal: 'TERM',
        environment: program.environment,
      })
      if (!isFirst) restarted()
      isFirst = false
      for (const stream of [current.process.stdout, current.process.stderr])
        if (stream) createInterface({ input: stream }).on('line', hear)
      const code = await current.exited.catch(() => null)
      if (isStopping) return
      if (Date.now() - started > calmMs) waitMs = 500
      say(program.name, `ended with ${code ?? 'no code'}; starting again in ${waitMs / 1000} s`)
      await wait(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
      waitMs = Math.min(waitMs * 2, mostWaitMs)
    }
  }
  const running = run()
  return {
    pid: () => current?.process.pid,
    line: (accepts) => new Promise((resolve) => listeners.push({ accepts, resolve })),
    stop: async () => {
      isStopping = true
      stopping.abort()
      if (current) await stopGuarded(current, 28_000)
      await running
    },
  }
}
