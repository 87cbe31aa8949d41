import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { guard, signal, stopGuarded } from '../../scripts/services/guard.ts'
import type { Guarded } from '../../scripts/services/guard.ts'
import { freePort } from '../../scripts/services/port.ts'
import { redisBinary } from '../../scripts/services/redis.ts'
import { until } from './until.ts'

const slots = 16_384
const password = 'test'

type Node = { port: number; guarded: Guarded; redis: Redis; first: number; last: number }

export type RedisCluster = {
  /** As REDIS_URL names it. */
  url: string
  /** Kills the node that holds the slot, as a power cut would; what it held is gone. Answers how to start it again, empty. */
  kill: (slot: number) => Promise<() => Promise<void>>
  stop: () => Promise<void>
}

/** The bus of a node is 10,000 ports above its own. */
const lowPort = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 30_000)
    if ((await freePort(port)) === port && (await freePort(port + 10_000)) === port + 10_000) return port
  }
}

/** Three masters on loopback that share the slots, without replicas: a killed one takes its slots along until it is back. */
export const startRedisCluster = async (): Promise<RedisCluster> => {
  const binary = redisBinary(() => {})
  const directory = mkdtempSync(join(tmpdir(), 'pousada-cluster-'))
  const begin = (port: number) => {
    const folder = join(directory, String(port))
    mkdirSync(folder, { recursive: true })
    const options = {
      port,
      bind: '127.0.0.1',
      dir: folder,
      requirepass: password,
      'cluster-enabled': 'yes',
      'cluster-node-timeout': 1_000,
      'cluster-announce-ip': '127.0.0.1',
      'cluster-require-full-coverage': 'no',
      'maxmemory-policy': 'noeviction',
      appendonly: 'no',
    }
    const command = [binary, ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])]
    return guard([...command, '--save', ''], {
      directory: folder,
      account: null,
      logFile: join(folder, 'redis.log'),
      stopSignal: 'TERM',
    })
  }
  const connect = (port: number) => {
    const redis = new Redis({ port, host: '127.0.0.1', password, retryStrategy: () => 50, maxRetriesPerRequest: null })
    redis.on('error', () => {})
    return redis
  }
  const nodes: Node[] = []
  for (const index of [0, 1, 2]) {
    const port = await lowPort()
    const [first, last] = [Math.ceil((slots * index) / 3), Math.ceil((slots * (index + 1)) / 3) - 1]
    nodes.push({ port, guarded: begin(port), redis: connect(port), first, last })
  }
  const ok = async () => {
    for (const { redis } of nodes) {
      const info = await redis.cluster('INFO')
      if (!/cluster_state:ok/.test(info) || !/cluster_slots_ok:16384/.test(info) || !/cluster_size:3/.test(info))
        return false
    }
    return true
  }
  for (const [index, { redis, first, last, port }] of nodes.entries()) {
    await redis.cluster('SET-CONFIG-EPOCH', index + 1)
    await redis.cluster('ADDSLOTS', ...Array.from({ length: last - first + 1 }, (_, offset) => first + offset))
    if (index > 0) await nodes[0]?.redis.cluster('MEET', '127.0.0.1', port)
  }
  await until(ok, { withinMs: 30_000, what: 'the cluster' })
  return {
    url: nodes.map(({ port }) => `redis://:${password}@127.0.0.1:${port}`).join(','),
    kill: async (slot) => {
      const node = nodes.find(({ first, last }) => slot >= first && slot <= last)
      if (!node) throw new Error(`no node holds slot ${slot}`)
      signal(-(node.guarded.process.pid ?? 0), 'SIGKILL')
      await node.guarded.exited.catch(() => null)
      return async () => {
        node.guarded = begin(node.port)
        await until(ok, { withinMs: 30_000, what: 'the cluster, whole again' })
      }
    },
    stop: async () => {
      for (const { redis } of nodes) redis.disconnect()
      await Promise.all(nodes.map(({ guarded }) => stopGuarded(guarded)))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
