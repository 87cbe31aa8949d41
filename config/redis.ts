import { Cluster, Redis } from 'ioredis'
import { required, settings } from './env.ts'
import type { QueueName } from './queues.ts'

export type RedisConnection = Redis | Cluster

/** Options in which connections of the service differ; see ioredis. */
export type ConnectionOptions = {
  connectTimeout: number
  /** Answers that take longer are errors. */
  commandTimeout?: number
  /** A connection that owes an answer for so long is dropped. */
  socketTimeout: number
  keepAlive?: number
  maxRetriesPerRequest: number | null
  enableOfflineQueue?: boolean
  keyPrefix?: string
  /** Commands of one turn of the loop, and those that come while others are answered, go together. */
  enableAutoPipelining?: boolean
}

/**
 * Parses REDIS_URL: one server (`redis://`, `rediss://`), or a cluster: several addresses of its nodes separated by commas, or one
 * address of it under `redis+cluster://` or `rediss+cluster://`.
 */
export const redisAddresses = (url: string): { cluster: boolean; urls: URL[] } => {
  const parts = url
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const isCluster = parts.length > 1 || parts.some((part) => /^rediss?\+cluster:/.test(part))
  return { cluster: isCluster, urls: parts.map((part) => new URL(part.replace(/^(rediss?)\+cluster:/, '$1:'))) }
}

const backoff = (times: number) => Math.min(50 * times, 1_000)

const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '')

const credentialsOf = (url: URL) => ({
  ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
  ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
  ...(url.protocol === 'rediss:' ? { tls: { servername: hostOf(url) } } : {}),
})

/** A connection to REDIS_URL or another; tries again at most a second apart, for as long as the process lives. */
export const connectTo = (
  options: ConnectionOptions,
  url = required(settings.redisUrl, 'REDIS_URL'),
): RedisConnection => {
  const { cluster, urls } = redisAddresses(url)
  const [first] = urls
  if (!cluster || !first) return new Redis(url, { ...options, retryStrategy: backoff })
  if (!/\{.+\}/.test(settings.redisPrefix))
    throw new Error('REDIS_PREFIX: on a cluster a part of it stands in braces, so that keys used together lie together')
  const { keyPrefix, enableOfflineQueue, enableAutoPipelining, ...ofNodes } = options
  return new Cluster(
    urls.map((each) => ({ host: hostOf(each), port: Number(each.port || 6379) })),
    {
      clusterRetryStrategy: backoff,
      slotsRefreshTimeout: 2_000,
      // Without it a node that restarts in place stays forgotten until another one says where its slots are.
      slotsRefreshInterval: 2_000,
      redisOptions: { ...credentialsOf(first), ...ofNodes },
      ...(keyPrefix === undefined ? {} : { keyPrefix }),
      ...(enableOfflineQueue === undefined ? {} : { enableOfflineQueue }),
      ...(enableAutoPipelining === undefined ? {} : { enableAutoPipelining }),
    },
  )
}

/** The servers that hold data: one, or the masters of a cluster. */
export const mastersOf = (redis: RedisConnection): Redis[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis]

/**
 * Prefix of a queue's keys. All keys of a queue must lie in one slot of a cluster, so the part in braces decides: there each
 * queue has its own, and they spread over the nodes.
 */
export const queuePrefix = (queue: QueueName): string => {
  const { redisPrefix, redisUrl } = settings
  if (!redisAddresses(redisUrl).cluster) return redisPrefix
  return `{${redisPrefix.replace(/[{}]/g, '')}:${queue}}`
}
