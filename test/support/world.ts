import type { Server } from 'node:http'
import { Redis } from 'ioredis'
import { settings } from '../../config/env.ts'
import { clientOf } from './client.ts'
import type { Client, Reply } from './client.ts'
import { freshDatabase, leaveDatabase } from './database.ts'
import type { Database } from './database.ts'
import { checkContract, checkTrail } from './contract.ts'
import { drain } from './drain.ts'
import { connectRedis } from './redis.ts'

export type World = {
  readonly database: Database
  /** A connection to this run's Redis; keys of the service begin with settings.redisPrefix. */
  readonly redis: Redis
  /** Base address of the API in this process. */
  readonly baseUrl: string
  /** Sends a request to the API in this process. */
  readonly request: Client
  /** The API's address and client, for tests written as `(await world.api()).request(...)`. */
  readonly api: () => Promise<{ baseUrl: string; request: Client }>
  readonly drain: typeof drain
}

type Parts = { database: Database; redis: Redis; server: Server; baseUrl: string; closeRedis: () => void }

const begin = async (): Promise<Parts> => {
  const database = await freshDatabase()
  const { closeRedis } = await import('../../api/lib/redis.ts')
  const { listen, makeServer } = await import('../../api/server.ts')
  try {
    await connectRedis()
    const server = await makeServer()
    const baseUrl = await listen(server, 0, '127.0.0.1')
    return { database, redis: new Redis(settings.redisUrl), server, baseUrl, closeRedis }
  } catch (error) {
    // A world that never was is not ended: a connection that stays would keep the run from ending.
    closeRedis()
    await leaveDatabase()
    throw error
  }
}

const end = async ({ server, redis, closeRedis }: Parts) => {
  server.closeAllConnections()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  closeRedis()
  redis.disconnect()
  await leaveDatabase()
}

/** Requests of a test before the one in question must not count. */
export const forgetLimits = async ({ redis }: Pick<World, 'redis'>): Promise<void> => {
  const keys = await redis.keys('*rl:*')
  if (keys.length > 0) await redis.del(keys)
}

/** One that has nothing to say of limits asks more often than a person may, the more so where the machine is slow. */
const isLimited = ({ status, body }: Reply) =>
  status === 429 && ((body as { message?: string }).message ?? '').endsWith(' requests in this minute')

const worldOf = (here: () => Parts, { keepsLimits = false } = {}): World => {
  const request: Client = async (method, path, options) => {
    const ask = () => clientOf(here().baseUrl)(method, path, options)
    const first = await ask()
    const isCaller = options?.token !== undefined || options?.key !== undefined
    const again = !keepsLimits && isCaller && isLimited(first)
    if (again) await forgetLimits(here())
    const reply = again ? await ask() : first
    checkContract(method, path, reply)
    await checkTrail(here().database, method, path, reply)
    return reply as never
  }
  return {
    get database() {
      return here().database
    },
    get redis() {
      return here().redis
    },
    get baseUrl() {
      return here().baseUrl
    },
    request,
    api: () => Promise.resolve({ baseUrl: here().baseUrl, request }),
    drain,
  }
}

/** A world for a program that is no test; its end is up to the caller. */
export const openWorld = async (): Promise<{ world: World; close: () => Promise<void> }> => {
  const parts = await begin()
  return { world: worldOf(() => parts), close: () => end(parts) }
}

/**
 * A migrated database, Redis, the API on a free port and the job processors, for the tests of the surrounding `describe`, or of the
 * file. Everything is closed after them.
 * @param keepsLimits that a caller may ask 100 times a minute holds here too.
 */
export const useWorld = ({ keepsLimits = false } = {}): World => {
  let parts: Parts | null = null
  before(async () => {
    parts = await begin()
  })
  after(async () => {
    if (parts) await end(parts)
    parts = null
  })
  return worldOf(
    () => {
      if (!parts) throw new Error('the world is there from the first before hook on')
      return parts
    },
    { keepsLimits },
  )
}
