import { fork } from 'node:child_process'
import { join } from 'node:path'
import { settings } from '../config/env.ts'
import { built } from '../test/support/built.ts'

type Message = { type: string } & Record<string, unknown>

export type Child = {
  pid: number
  send: (message: Message) => void
  /** The next message of this type. */
  next: <T>(type: string) => Promise<T>
  on: <T>(type: string, listener: (message: T) => void) => void
  stop: () => Promise<void>
  kill: () => Promise<void>
}

/** A process of bench/processes, compiled as the service is where it runs, with the database and Redis of this bench; there once it says `ready`. `detached`: in a session of its own. */
export const startChild = async (
  file: string,
  role: string,
  given: Record<string, unknown> = {},
  { detached = false } = {},
): Promise<Child> => {
  const child = fork(join(await built(), `bench/processes/${file}.js`), [role, JSON.stringify(given)], {
    detached,
    execArgv: process.env.BENCH_PROFILE === role ? ['--cpu-prof', '--cpu-prof-dir=.data/profiles'] : [],
    env: {
      ...process.env,
      LOG_LEVEL: process.env.BENCH_LOG ?? 'error',
      DATABASE_URL: settings.databaseUrl,
      REDIS_URL: settings.redisUrl,
      REDIS_PREFIX: settings.redisPrefix,
    },
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const listeners = new Set<(message: Message) => void>()
  child.on('message', (message) => {
    for (const listener of listeners) listener(message as Message)
  })
  let isStopping = false
  const next = <T>(type: string) =>
    new Promise<T>((resolve, reject) => {
      const onExit = (code: number | null) => isStopping || reject(new Error(`${role} ended with ${code}`))
      const listener = (message: Message) => {
        if (message.type !== type) return
        listeners.delete(listener)
        child.off('exit', onExit)
        resolve(message as T)
      }
      listeners.add(listener)
      child.once('exit', onExit)
    })
  await next('ready')
  const end = async (signal: NodeJS.Signals) => {
    isStopping = true
    child.kill(signal)
    await exited
  }
  return {
    pid: child.pid ?? 0,
    send: (message) => void child.send(message),
    next,
    on: (type, listener) => {
      listeners.add((message) => message.type === type && listener(message as never))
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

/** In a child: what it was started with. */
export const given = <T>(): T => JSON.parse(process.argv[3] ?? '{}') as T

export const tell = (message: Message): void => void process.send?.(message)

/** In a child: answers each message of this type; the answer has the type `answer`. */
export const onAsk = (type: string, answer: (message: Message) => Promise<Record<string, unknown>>): void => {
  process.on('message', (message) => {
    if ((message as Message).type === type)
      answer(message as Message).then(
        (result) => tell({ type: 'answer', ...result }),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
  })
}
