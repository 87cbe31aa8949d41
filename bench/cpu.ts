import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { settings } from '../config/env.ts'
import { database, sql } from '../db/lib/connection.ts'

const ticksPerSecond = 100

/** Fields of /proc/<pid>/stat from the third on; the second, a name in brackets, may hold blanks. */
const statOf = (pid: number): string[] => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
const parentOf = (pid: number) => Number(statOf(pid)[1])
const sum = (stat: string[], ...places: number[]) =>
  (places.reduce((total, place) => total + Number(stat[place] ?? 0), 0) * 1_000) / ticksPerSecond
/** Milliseconds of a processor that a process has used. */
const ownMs = (pid: number) => sum(statOf(pid), 11, 12)
/** With those of its children that have ended. */
const familyMs = (pid: number) => sum(statOf(pid), 11, 12, 13, 14)

export type Used = Record<string, number>

/** Tells the milliseconds of a processor that PostgreSQL, Redis, this process and the named ones have used so far. On Linux alone. */
export const watchProcessors = async (named: Readonly<Record<string, number>>): Promise<() => Used> => {
  if (!existsSync('/proc/self/stat')) return () => ({})
  const [backend] = await sql<{ pid: number }>(database(), `select pg_backend_pid() as pid`)
  const postmaster = parentOf(backend?.pid ?? 0)
  const redis = new Redis(settings.redisUrl)
  const redisPid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1])
  redis.disconnect()
  const processes = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return () => ({
    PostgreSQL: processes()
      .map(Number)
      .filter((pid) => parentOf(pid) === postmaster)
      .reduce((total, pid) => total + ownMs(pid), familyMs(postmaster)),
    Redis: ownMs(redisPid),
    ...Object.fromEntries(Object.entries(named).map(([name, pid]) => [name, ownMs(pid)])),
    bench: ownMs(process.pid),
  })
}

/** Milliseconds of a processor for each of `count` things, between two looks. */
export const usedEach = (before: Used, after: Used, count: number): Used =>
  Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / Math.max(1, count)]))

export const totalOf = (used: Used): number => Object.values(used).reduce((total, ms) => total + ms, 0)

export const toldUse = (used: Used): string =>
  Object.entries(used)
    .map(([name, ms]) => `${name} ${ms.toFixed(2)}`)
    .join(', ')
