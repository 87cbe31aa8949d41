import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { guard, signal, stopGuarded } from '../../scripts/services/guard.ts'
import type { Guarded } from '../../scripts/services/guard.ts'
import { freePort } from '../../scripts/services/port.ts'
import { until } from '../support/until.ts'

export type Kind = 'api' | 'relay' | 'scheduler' | 'worker'

const files: Record<Kind, string> = {
  api: 'api/main.js',
  relay: 'workers/relay.js',
  scheduler: 'workers/scheduler.js',
  worker: 'test/chaos/worker.js',
}

export type Member = {
  name: string
  kind: Kind
  /** Of its HTTP: the api itself, or the health of another. */
  port: number
  baseUrl: string
  logFile: string
  /** As a power cut would; it is started again after a moment. */
  kill: () => void
  /** As a deployment would; it is started again when it has ended. */
  term: () => void
  freeze: () => void
  thaw: () => void
  /** Ends it, and leaves it out until `start`. */
  hold: (how: 'kill' | 'term') => Promise<void>
  /** Starts what was held, with other words in its environment, or under another clock. */
  start: (extra?: Record<string, string>, clockSeconds?: number) => void
  /** Null once it is ready, else what it answered. */
  unreadiness: () => Promise<string | null>
  lastLines: () => string[]
  /** Exits of the process without a request. */
  deaths: () => { at: string; code: number | null; tail: string[] }[]
  starts: () => number
}

type Options = {
  built: string
  logs: string
  environment: Record<string, string>
}

/** Debian's faketime, loaded into the process itself: a wrapper would answer for how it ends. */
const faketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
export const canSkewClocks = existsSync(faketime)

const clockOf = (seconds: number): Record<string, string> =>
  seconds === 0
    ? {}
    : { LD_PRELOAD: faketime, FAKETIME: `${seconds > 0 ? '+' : ''}${seconds}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1' }

const tailOf = (file: string, lines: number) =>
  existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines) : []

const member = async (kind: Kind, number: number, { built, logs, environment }: Options): Promise<Member> => {
  const name = `${kind}-${number}`
  const port = await freePort()
  const logFile = join(logs, `${name}.log`)
  const deaths: { at: string; code: number | null; tail: string[] }[] = []
  let current: Guarded | null = null
  let isHeld = true
  let isAsked = false
  let isFrozen = false
  let count = 0

  const group = () => -(current?.process.pid ?? 0)
  const send = (what: NodeJS.Signals) => current?.process.pid !== undefined && signal(group(), what)

  const begin = (extra: Record<string, string>, clockSeconds: number) => {
    isHeld = false
    isAsked = false
    isFrozen = false
    count += 1
    const mine = guard([process.execPath, '--enable-source-maps', join(built, files[kind])], {
      directory: built,
      account: null,
      logFile,
      stopSignal: 'TERM',
      environment: {
        ...process.env,
        ...environment,
        [kind === 'api' ? 'PORT' : 'METRICS_PORT']: String(port),
        ...clockOf(clockSeconds),
        ...extra,
      },
    })
    current = mine
    void mine.exited
      .catch(() => null)
      .then(async (code) => {
        if (current !== mine) return
        current = null
        if (!isAsked && !extra.CRASH_AT) deaths.push({ at: new Date().toISOString(), code, tail: tailOf(logFile, 12) })
        if (isHeld) return
        await wait(300)
        if (!isHeld && current === null) begin({}, 0)
      })
  }
  const thaw = () => {
    if (isFrozen) send('SIGCONT')
    isFrozen = false
  }
  const kill = () => {
    isAsked = true
    send('SIGKILL')
  }
  const term = () => {
    thaw()
    isAsked = true
    if (current) void stopGuarded(current, 28_000)
  }
  return {
    name,
    kind,
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    logFile,
    kill,
    term,
    freeze: () => {
      isFrozen = send('SIGSTOP')
    },
    thaw,
    hold: async (how) => {
      isHeld = true
      const leaving = current?.exited.catch(() => null)
      if (how === 'kill') kill()
      else term()
      await leaving
    },
    start: (extra = {}, clockSeconds = 0) => {
      if (current === null) begin(extra, clockSeconds)
    },
    unreadiness: async () => {
      if (current === null) return 'it does not run'
      try {
        const reply = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) })
        return reply.ok ? null : `${reply.status} ${await reply.text()}`.trim()
      } catch (error) {
        const cause = error instanceof Error ? error.cause : null
        return `no answer: ${cause instanceof Error ? cause.message : String(error)}`
      }
    },
    lastLines: () => tailOf(logFile, 12),
    deaths: () => deaths,
    starts: () => count,
  }
}

export type Fleet = {
  members: readonly Member[]
  of: (kind: Kind) => Member[]
  /** Waits for all of them. The bound is for a machine that is busy with other things: no promise of the service is measured by it. */
  ready: (withinMs?: number) => Promise<void>
  stop: () => Promise<void>
}

const untilReady = async (each: Member, withinMs: number): Promise<void> => {
  try {
    await until(
      async () => {
        const said = await each.unreadiness()
        if (said !== null) throw new Error(said)
        return true
      },
      { withinMs, everyMs: 100, what: 'readiness' },
    )
  } catch (error) {
    const said = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    const deaths = each.deaths()
    throw new Error(
      [
        `${each.name} is not ready after ${withinMs} ms: ${said}`,
        `started ${each.starts()} times, ended by itself ${deaths.length} times${deaths.map(({ code }) => `, ${code}`).join('')}`,
        ...each.lastLines(),
      ].join('\n  '),
      { cause: error },
    )
  }
}

/** The processes of the service, each one started again when it ends. */
export const startFleet = async (sizes: Record<Kind, number>, options: Options): Promise<Fleet> => {
  const kinds = Object.keys(sizes) as Kind[]
  const members = await Promise.all(
    kinds.flatMap((kind) => Array.from({ length: sizes[kind] }, (_, index) => member(kind, index + 1, options))),
  )
  for (const each of members) each.start()
  return {
    members,
    of: (kind) => members.filter((each) => each.kind === kind),
    ready: async (withinMs = 240_000) => {
      await Promise.all(members.map((each) => untilReady(each, withinMs)))
    },
    stop: async () => {
      await Promise.all(
        members.map((each) => {
          each.thaw()
          return each.hold('kill')
        }),
      )
    },
  }
}
