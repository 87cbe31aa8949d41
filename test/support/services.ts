import { createHash, randomUUID } from 'node:crypto'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type pg from 'pg'
import { ownFolder, serviceAccount, serviceRoot } from '../../scripts/services/account.ts'
import { postgresBinaries } from '../../scripts/services/binaries.ts'
import { signal } from '../../scripts/services/guard.ts'
import { initialise, startPostgres } from '../../scripts/services/postgres.ts'
import type { PostgresServer } from '../../scripts/services/postgres.ts'
import {
  createDatabase,
  owner,
  prepareDatabase,
  provisionRoles,
  refuseTemporary,
  service,
  withClient,
} from '../../scripts/services/provision.ts'
import { redisBinary, startRedis } from '../../scripts/services/redis.ts'
import type { RedisServer } from '../../scripts/services/redis.ts'
import { memoryFor } from './memory.ts'

const checkout = fileURLToPath(new URL('../../', import.meta.url))
const password = 'test'
const template = 'pousada_template'
const run = promisify(execFile)

const account = serviceAccount()
const root = serviceRoot(join(process.env.POUSADA_DATA_DIR ?? join(checkout, '.data'), 'test'), account)
const binaries = postgresBinaries(root, account)
/** The folder of services that only live as long as this run. */
let directory = join(root, `run-${process.pid}`)

/** Source files of the schema: every file that a migration may read. */
const sources = (folder: string): string[] =>
  readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|sql|tsv)$/.test(file))
    .map((file) => join(checkout, folder, file))
    .sort()

const schemaHash = () => {
  const hash = createHash('sha256').update(binaries.version)
  for (const file of [
    ...sources('db/migrations'),
    ...sources('config').filter((name) => name.endsWith('.tsv')),
    join(checkout, 'db/migrate.ts'),
    join(checkout, 'config/features.ts'),
    join(checkout, 'config/plans.ts'),
  ])
    if (existsSync(file)) hash.update(file).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

const server = (folder: string, { durable = false, port = 0, buffersMb = 128 } = {}) =>
  startPostgres({ binaries, account, directory: folder, password, durable, port, buffersMb })

const copy = async (from: string, to: string) => {
  await run('cp', ['-a', from, to])
}

/** Puts a finished folder in its place; another run may have been first. */
const place = (draft: string, target: string) => {
  try {
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(target)) throw error
  }
}

/** A cluster with the two roles, made once per version of PostgreSQL. */
const baseCluster = async (): Promise<string> => {
  const target = join(root, `base-${binaries.version}`)
  if (existsSync(target)) return target
  const draft = `${target}.${process.pid}`
  await initialise({ binaries, account, directory: draft, password, durable: false })
  const started = await server(draft)
  try {
    await withClient(started.url('postgres'), (client) =>
      provisionRoles(client, { owner: password, service: password }),
    )
  } finally {
    await started.stop()
  }
  place(draft, target)
  return target
}

/** A cluster with the migrated template database, made once per state of the migrations. */
const migratedCluster = async (): Promise<string> => {
  const target = join(root, `schema-${schemaHash()}`)
  if (existsSync(target)) return target
  const draft = `${target}.${process.pid}`
  await copy(await baseCluster(), draft)
  const started = await server(draft)
  try {
    await withClient(started.url('postgres'), (client) => createDatabase(client, template))
    await withClient(started.url(template), (client) => prepareDatabase(client, template))
    const { migrate } = await import('../../db/migrate.ts')
    await migrate(started.url(template, owner, password))
    await withClient(started.url(template), (client) => client.query('vacuum analyze'))
  } catch (error) {
    await started.stop()
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
  await started.stop()
  place(draft, target)
  return target
}

/** Removes what killed runs left, and all but the newest schemas. */
const tidy = (folder: string) => {
  const names = readdirSync(folder)
  const abandoned = names.filter((name) => {
    const pid = /^(?:run-|.*\.)(\d+)$/.exec(name)?.[1]
    return pid !== undefined && !/^base-[\d.a-z-]+$/.test(name) && !signal(Number(pid), 0)
  })
  const schemas = names
    .filter((name) => /^schema-[0-9a-f]+$/.test(name))
    .map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at)
  for (const name of [...abandoned, ...schemas.slice(6).map((entry) => entry.name)])
    rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 })
}

let postgres: PostgresServer | null = null
let redis: RedisServer | null = null
let schemaFailure: unknown = null

const running = <T>(part: T | null): T => {
  if (!part) throw new Error('the services of the tests are not running')
  return part
}

/**
 * One PostgreSQL and one Redis for this run alone; several runs at once do not meet.
 * @param durable on the disk as in production, for measurements; tests do not wait for it.
 * @param buffersMb what PostgreSQL keeps in memory itself.
 */
export const startServices = async ({ durable = false, buffersMb = 128 } = {}) => {
  mkdirSync(root, { recursive: true })
  const memory = durable ? null : memoryFor(root, account)
  for (const folder of [root, memory]) if (folder) tidy(folder)
  directory = join(memory ?? root, `run-${process.pid}`)
  ownFolder(directory, account)
  let cluster: string
  try {
    cluster = await migratedCluster()
  } catch (error) {
    // Tests without a database still run; the others say what is wrong with the schema.
    schemaFailure = error
    cluster = await baseCluster()
  }
  // The schemas in use stay: tidy() of another run keeps the newest.
  const now = new Date()
  utimesSync(cluster, now, now)
  await copy(cluster, join(directory, 'postgres'))
  const binary = redisBinary((line) => console.error(line))
  const parts = await Promise.all([
    server(join(directory, 'postgres'), { durable, buffersMb }),
    startRedis({ binary, account, directory: join(directory, 'redis'), password, durable }),
  ])
  postgres = parts[0]
  redis = parts[1]
}

export const stopServices = async () => {
  await Promise.all([postgres?.stop(), redis?.stop()])
  postgres = null
  redis = null
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
}

/** A service must come back where it stood: addresses do not change. */
const sameAddress = (was: { port: number }, is: { port: number }) => {
  if (was.port !== is.port) throw new Error(`port ${was.port} was taken meanwhile`)
}

/** Does something while PostgreSQL is stopped, and starts it again with its data. */
export const withoutPostgres = async <T>(work: () => Promise<T>): Promise<T> => {
  const stopped = running(postgres)
  await stopped.stop()
  try {
    return await work()
  } finally {
    postgres = await server(join(directory, 'postgres'), { port: stopped.port })
    sameAddress(stopped, postgres)
  }
}

/** Does something while Redis is stopped, and starts it again, empty. */
export const withoutRedis = async <T>(work: () => Promise<T>): Promise<T> => {
  const stopped = running(redis)
  await stopped.stop()
  try {
    return await work()
  } finally {
    const binary = redisBinary((line) => console.error(line))
    const folder = join(directory, 'redis')
    redis = await startRedis({ binary, account, directory: folder, password, durable: false, port: stopped.port })
    sameAddress(stopped, redis)
  }
}

/** A Redis beside the one of this run, for tests that hang it. */
export const startOwnRedis = (): Promise<RedisServer> =>
  startRedis({
    binary: redisBinary((line) => console.error(line)),
    account,
    directory: join(directory, `redis-${randomUUID().slice(0, 8)}`),
    password,
    durable: false,
  })

export type TestDatabase = {
  name: string
  /** As the service's role. */
  url: string
  ownerUrl: string
  adminUrl: string
  drop: () => Promise<void>
}

/** A database of its own with every migration applied; `empty` leaves the migrations out. */
export const createTestDatabase = async ({ empty = false } = {}): Promise<TestDatabase> => {
  if (schemaFailure && !empty) throw new Error('the migrations do not apply', { cause: schemaFailure })
  const { url } = running(postgres)
  const name = `t_${randomUUID().replaceAll('-', '').slice(0, 16)}`
  await asAdmin(async (client) => {
    await client.query(
      `create database ${name} owner ${owner} ${empty ? '' : `template ${template} strategy file_copy`}`,
    )
    // A copy has none of its template's own privileges.
    await refuseTemporary(client, name)
  })
  if (empty) await withClient(url(name), (client) => prepareDatabase(client, name))
  return {
    name,
    url: url(name, service, password),
    ownerUrl: url(name, owner, password),
    adminUrl: url(name),
    drop: async () => void (await asAdmin((client) => client.query(`drop database if exists ${name} with (force)`))),
  }
}

const asAdmin = <T>(work: (client: pg.Client) => Promise<T>) => withClient(running(postgres).url('postgres'), work)

export const testRedisUrl = () => running(redis).url
