import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { serviceAccount, serviceRoot } from './account.ts'
import { postgresBinaries } from './binaries.ts'
import type { Keys } from './keys.ts'
import { startPostgres } from './postgres.ts'
import { createDatabase, owner, prepareDatabase, provisionRoles, service, withClient } from './provision.ts'
import { startRedis } from './redis.ts'

type Running = { port: number; stop: () => Promise<void>; exited: Promise<number | null> }
export type Ports = { postgres?: number; redis?: number; api?: number; mail?: number; smtp?: number }
type Say = (line: string) => void

const database = 'pousada'

export const readPorts = (directory: string): Ports => {
  const file = join(directory, 'ports.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Ports) : {}
}

/** The next start takes the same ones while they are free, so that addresses stay. */
export const keepPorts = (directory: string, ports: Ports) =>
  writeFileSync(join(directory, 'ports.json'), `${JSON.stringify({ ...readPorts(directory), ...ports }, null, 2)}\n`)

/** Brings a service back on its port when it dies, until it is stopped. */
const keepRunning = async (
  name: string,
  begin: (port?: number) => Promise<Running>,
  say: Say,
): Promise<{ port: number; stop: () => Promise<void> }> => {
  let isStopping = false
  let current = await begin()
  const { port } = current
  const watch = async () => {
    for (;;) {
      const code = await current.exited.catch(() => null)
      if (isStopping) return
      say(`${name} ended (${code ?? 'signal'}); it is started again`)
      await wait(1_000)
      try {
        current = await begin(port)
      } catch (error) {
        say(`${name} does not start again: ${error instanceof Error ? error.message : String(error)}`)
        await wait(5_000)
      }
      if (isStopping) return
    }
  }
  const watching = watch()
  return {
    port,
    stop: async () => {
      isStopping = true
      await current.stop()
      await Promise.race([watching, wait(7_000, undefined, { ref: false })])
    },
  }
}

export type Embedded = { environment: Record<string, string>; stop: () => Promise<void> }

/** A private PostgreSQL with its two roles and the database, all on loopback. */
export const embeddedPostgres = async (directory: string, keys: Keys, say: Say): Promise<Embedded> => {
  const account = serviceAccount()
  const root = serviceRoot(directory, account)
  const binaries = postgresBinaries(root, account)
  const { admin, owner: ownerPassword, service: servicePassword } = keys.passwords
  const start = (port?: number) =>
    startPostgres({
      binaries,
      account,
      directory: join(root, 'postgres'),
      password: admin,
      durable: true,
      ...(port === undefined ? readPort(directory, 'postgres') : { port }),
    })
  const kept = await keepRunning('postgres', start, say)
  keepPorts(directory, { postgres: kept.port })
  const url = (name: string, user: string, password: string) =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${kept.port}/${name}`
  const asAdmin = (name: string) => url(name, 'pousada_admin', admin)
  await withClient(asAdmin('postgres'), async (client) => {
    await provisionRoles(client, { owner: ownerPassword, service: servicePassword })
    await createDatabase(client, database)
  })
  await withClient(asAdmin(database), (client) => prepareDatabase(client, database))
  return {
    environment: {
      DATABASE_URL: url(database, service, servicePassword),
      DATABASE_OWNER_URL: url(database, owner, ownerPassword),
    },
    stop: kept.stop,
  }
}

const readPort = (directory: string, name: keyof Ports) => {
  const port = readPorts(directory)[name]
  return port === undefined ? {} : { port }
}

/** A private Redis, on loopback with a password. */
export const embeddedRedis = async (directory: string, keys: Keys, binary: string, say: Say): Promise<Embedded> => {
  const account = serviceAccount()
  const root = serviceRoot(directory, account)
  const password = keys.passwords.redis
  const start = (port?: number) =>
    startRedis({
      binary,
      account,
      directory: join(root, 'redis'),
      password,
      durable: true,
      ...(port === undefined ? readPort(directory, 'redis') : { port }),
    })
  const kept = await keepRunning('redis', start, say)
  keepPorts(directory, { redis: kept.port })
  return { environment: { REDIS_URL: `redis://:${password}@127.0.0.1:${kept.port}` }, stop: kept.stop }
}
