import { execFile } from 'node:child_process'
import { chownSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { ownFolder } from './account.ts'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { endOrphan, guard, stopGuarded } from './guard.ts'
import type { Guarded } from './guard.ts'
import { freePort } from './port.ts'

export const admin = 'pousada_admin'

type Options = {
  binaries: Binaries
  account: Account | null
  /** Holds `data` and `postgres.log`. */
  directory: string
  password: string
  /** Tried first. */
  port?: number
  /** False for what may be lost with the machine: tests. */
  durable: boolean
  /** Of PostgreSQL's own buffers, in MB. */
  buffersMb?: number
}

export type PostgresServer = {
  port: number
  url: (database: string, user?: string, password?: string) => string
  stop: () => Promise<void>
  exited: Promise<number | null>
}

const run = promisify(execFile)

export const initialise = async ({
  binaries,
  account,
  directory,
  password,
  durable,
}: Omit<Options, 'port' | 'buffersMb'>) => {
  const data = join(directory, 'data')
  if (existsSync(join(data, 'PG_VERSION')) && existsSync(join(directory, 'initialised'))) return
  rmSync(data, { recursive: true, force: true })
  ownFolder(directory, account)
  const secret = join(directory, 'password')
  writeFileSync(secret, password, { mode: 0o600 })
  if (account) chownSync(secret, account.uid, account.gid)
  const options = [
    '-D',
    data,
    '-U',
    admin,
    '-E',
    'UTF8',
    '--auth=scram-sha-256',
    `--pwfile=${secret}`,
    '--no-instructions',
  ]
  const locale = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  try {
    await run(binaries.initdb, [...options, ...locale, ...(durable ? [] : ['--no-sync', '--set=scram_iterations=1'])], {
      cwd: directory,
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      ...account,
    })
  } finally {
    rmSync(secret, { force: true })
  }
  writeFileSync(join(directory, 'initialised'), '')
}

const lines = (file: string): string[] => {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}

const relaxed = [
  // Of passwords that are set under it: what makes guessing them dear makes each connection dear as well.
  'scram_iterations=1',
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  // Statistics come when a test gathers them, so that plans do not hang on how long it takes.
  'autovacuum=off',
  // In memory, where the files of a run may stand, what is written stays until it is dropped.
  'max_wal_size=256MB',
]

const launch = async (options: Options, port: number): Promise<Guarded | null> => {
  const { directory, account, binaries, durable, buffersMb = 128 } = options
  const data = join(directory, 'data')
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    `shared_buffers=${buffersMb}MB`,
    'timezone=UTC',
    'log_timezone=UTC',
    ...(durable ? [] : relaxed),
  ]
  const guarded = guard(
    [binaries.postgres, '-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    {
      directory,
      account,
      logFile: join(directory, 'postgres.log'),
      stopSignal: 'INT',
    },
  )
  let ended = false
  guarded.exited.then(
    () => (ended = true),
    () => (ended = true),
  )
  for (let waited = 0; waited < 60_000; waited += 20) {
    const [, , , at, , , , state] = lines(join(data, 'postmaster.pid'))
    if (Number(at) === port && state?.trim() === 'ready') return guarded
    if (ended) return null
    await wait(20)
  }
  await stopGuarded(guarded)
  return null
}

/** Starts the server on loopback; what a killed start left of it is ended first, and the server recovers by itself. */
export const startPostgres = async (options: Options): Promise<PostgresServer> => {
  const data = join(options.directory, 'data')
  await initialise(options)
  const pidFile = join(data, 'postmaster.pid')
  await endOrphan(
    Number(lines(pidFile)[0]),
    (command) => command.includes(data) && command.includes('postgres'),
    'SIGINT',
  )
  // A number that another program has since been given would stop the start.
  rmSync(pidFile, { force: true })
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const port = await freePort(attempt === 0 ? options.port : 0)
    const guarded = await launch(options, port)
    if (guarded)
      return {
        port,
        url: (database, user = admin, password = options.password) =>
          `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`,
        stop: () => stopGuarded(guarded),
        exited: guarded.exited,
      }
  }
  const tail = lines(join(options.directory, 'postgres.log')).slice(-12).join('\n')
  throw new Error(`PostgreSQL does not start:\n${tail}`)
}
