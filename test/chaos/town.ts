import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { serviceAccount } from '../../scripts/services/account.ts'
import { postgresBinaries } from '../../scripts/services/binaries.ts'
import { signal } from '../../scripts/services/guard.ts'
import { startPostgres } from '../../scripts/services/postgres.ts'
import {
  createDatabase,
  owner,
  prepareDatabase,
  provisionRoles,
  service,
  withClient,
} from '../../scripts/services/provision.ts'
import { redisBinary, startRedis } from '../../scripts/services/redis.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import type { TcpProxy } from '../support/tcp-proxy.ts'
import type { GatewayMood } from './gateway.ts'
import { startFleet } from './fleet.ts'
import type { Fleet, Kind } from './fleet.ts'

const password = 'chaos'
const database = 'pousada'
export const secondMs = 150
/** The key of the gateway's callbacks, and of the carrier's. */
export const peerSecret = 'sandbox-callbacks'
const publicBaseUrl = 'https://pousada.example'

export type Town = {
  fleet: Fleet
  proxies: Record<'postgres' | 'redis' | 'gateway' | 'smtp' | 'carrier', TcpProxy>
  /** As the administrator, past every proxy. */
  adminUrl: () => string
  serviceUrl: () => string
  ownerUrl: () => string
  redisUrl: () => string
  /** A connection to Redis past the proxy. */
  redis: <T>(work: (redis: Redis) => Promise<T>) => Promise<T>
  postgres: {
    kill: () => Promise<void>
    restart: () => Promise<void>
  }
  redisServer: {
    kill: () => Promise<void>
    start: () => Promise<void>
    freeze: () => void
    thaw: () => void
  }
  gateway: (mood: GatewayMood) => Promise<void>
  files: { gateway: string; mail: string; texts: string; hooks: string }
  /** The port of the receiver of webhooks. */
  hookPort: number
  /** The address under which the service is known outside. */
  publicBaseUrl: string
  stop: () => Promise<void>
}

const pidIn = (file: string) => (existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0)

const startPeers = async (built: string, folder: string, apis: () => string[]) => {
  const files = {
    gateway: join(folder, 'gateway.jsonl'),
    mail: join(folder, 'mail.jsonl'),
    texts: join(folder, 'texts.jsonl'),
    hooks: join(folder, 'hooks.jsonl'),
  }
  const peers = spawn(
    process.execPath,
    [
      join(built, 'test/chaos/peers.js'),
      files.gateway,
      files.mail,
      files.texts,
      files.hooks,
      String(secondMs),
      peerSecret,
      ...apis(),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, LOG_LEVEL: 'error' } },
  )
  const lines = createInterface({ input: peers.stdout })
  const next = async () => String(((await once(lines, 'line')) as [string])[0])
  const ports = JSON.parse(await next()) as Record<'gatewayPort' | 'smtpPort' | 'textPort' | 'hookPort', number>
  return {
    files,
    ...ports,
    behave: async (mood: GatewayMood) => {
      const heard = next()
      peers.stdin.write(`${mood}\n`)
      await heard
    },
    stop: async () => {
      const ended = once(peers, 'exit')
      peers.stdin.end()
      await Promise.race([ended, wait(3_000)])
      peers.kill('SIGKILL')
    },
  }
}

/** Everything there is to break: the stores, what stands outside, the proxies before them, and the processes of the service. */
export const buildTown = async (
  built: string,
  folder: string,
  services: string,
  sizes: Record<Kind, number>,
): Promise<Town> => {
  const account = serviceAccount()
  const binaries = postgresBinaries(services, account)
  const binary = redisBinary((line) => console.error(line))
  const directories = { postgres: join(services, 'postgres'), redis: join(services, 'redis') }

  const launchPostgres = (port: number) =>
    startPostgres({ binaries, account, directory: directories.postgres, password, durable: true, port })
  const launchRedis = (port: number) =>
    startRedis({ binary, account, directory: directories.redis, password, durable: true, port })
  let [postgres, redis] = await Promise.all([launchPostgres(0), launchRedis(0)])
  const beginPostgres = async (port: number) => {
    postgres = await launchPostgres(port)
  }
  const beginRedis = async (port: number) => {
    redis = await launchRedis(port)
  }
  const adminUrl = (name = database) => postgres.url(name)
  await withClient(adminUrl('postgres'), async (client) => {
    await provisionRoles(client, { owner: password, service: password })
    await createDatabase(client, database)
  })
  await withClient(adminUrl(), (client) => prepareDatabase(client, database))
  const serviceUrl = () => postgres.url(database, service, password)
  const ownerUrl = () => postgres.url(database, owner, password)

  const apis: string[] = []
  const proxyToPostgres = await startTcpProxy(() => postgres.port)
  const proxyToRedis = await startTcpProxy(() => redis.port)
  const through = (url: string, proxy: TcpProxy) => {
    const changed = new URL(url)
    changed.port = String(proxy.port)
    return changed.href
  }
  const { migrate } = await import('../../db/migrate.ts')
  await migrate(ownerUrl())
  const peersAt = { gateway: 0, smtp: 0, carrier: 0 }
  const proxyToGateway = await startTcpProxy(() => peersAt.gateway)
  const proxyToSmtp = await startTcpProxy(() => peersAt.smtp)
  const proxyToCarrier = await startTcpProxy(() => peersAt.carrier)
  const fleet = await startFleet(sizes, {
    built,
    logs: folder,
    environment: {
      LOG_LEVEL: 'info',
      DATABASE_URL: through(serviceUrl(), proxyToPostgres),
      REDIS_URL: through(redis.url, proxyToRedis),
      SMTP_URL: `smtp://127.0.0.1:${proxyToSmtp.port}`,
      SANDBOX_URL: `http://127.0.0.1:${proxyToGateway.port}`,
      SANDBOX_SECOND_MS: String(secondMs),
      DATABASE_POOL: '10',
      ALLOW_PRIVATE_ADDRESSES: 'on',
      PUBLIC_BASE_URL: publicBaseUrl,
      TWILIO_ACCOUNT_SID: `AC${'0'.repeat(31)}1`,
      TWILIO_AUTH_TOKEN: peerSecret,
      TWILIO_FROM: '+15005550006',
      TWILIO_WHATSAPP_FROM: '+15005550007',
      TWILIO_BASE_URL: `http://127.0.0.1:${proxyToCarrier.port}`,
    },
  })
  apis.push(...fleet.of('api').map((each) => each.baseUrl))
  const peers = await startPeers(built, folder, () => apis)
  peersAt.gateway = peers.gatewayPort
  peersAt.smtp = peers.smtpPort
  peersAt.carrier = peers.textPort

  // Faults of one server follow each other: two at once would start it twice.
  const inTurn = () => {
    let last: Promise<unknown> = Promise.resolve()
    return (work: () => Promise<void>): Promise<void> => {
      const mine = last.then(work)
      last = mine.catch(() => {})
      return mine
    }
  }
  const ofPostgres = inTurn()
  const postmaster = () => pidIn(join(directories.postgres, 'data/postmaster.pid'))
  const redisPid = () => pidIn(join(directories.redis, 'redis.pid'))
  return {
    fleet,
    proxies: {
      postgres: proxyToPostgres,
      redis: proxyToRedis,
      gateway: proxyToGateway,
      smtp: proxyToSmtp,
      carrier: proxyToCarrier,
    },
    adminUrl: () => adminUrl(),
    serviceUrl,
    ownerUrl,
    redisUrl: () => redis.url,
    redis: async (work) => {
      const connection = new Redis(redis.url, { maxRetriesPerRequest: 1, commandTimeout: 5_000 })
      connection.on('error', () => {})
      try {
        return await work(connection)
      } finally {
        connection.disconnect()
      }
    },
    postgres: {
      kill: () =>
        ofPostgres(async () => {
          signal(postmaster(), 'SIGKILL')
          await postgres.exited.catch(() => null)
          await wait(500)
          await beginPostgres(postgres.port)
        }),
      restart: () =>
        ofPostgres(async () => {
          await postgres.stop()
          await beginPostgres(postgres.port)
        }),
    },
    redisServer: {
      kill: async () => {
        signal(redisPid(), 'SIGKILL')
        await redis.exited.catch(() => null)
      },
      start: () => beginRedis(redis.port),
      freeze: () => void signal(redisPid(), 'SIGSTOP'),
      thaw: () => void signal(redisPid(), 'SIGCONT'),
    },
    gateway: peers.behave,
    files: peers.files,
    hookPort: peers.hookPort,
    publicBaseUrl,
    stop: async () => {
      await fleet.stop()
      const proxies = [proxyToPostgres, proxyToRedis, proxyToGateway, proxyToSmtp, proxyToCarrier]
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      signal(redisPid(), 'SIGCONT')
      await Promise.all([peers.stop(), postgres.stop(), redis.stop()])
    },
  }
}
