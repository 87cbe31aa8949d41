import type { Knex } from 'knex'
import { LRUCache } from 'lru-cache'
import type { Changes } from '../../db/auth/index.ts'
import { keptSeconds } from '../../db/auth/index.ts'
import { database } from '../../db/lib/connection.ts'
import { quickly } from './redis.ts'

const lookEveryMs = 500
const markSeconds = 10
const ownMs = 5_000
const gone = 'revoked'
const changed = 'changed'

type Versioned = { version: number }

type Kind<T> = {
  /** Prefix of its keys in Redis. */
  prefix: 'sess' | 'key'
  /** Reads the record from PostgreSQL; null if there is none, or it has ended. */
  read: (knex: Knex, id: string) => Promise<T | null>
  /** Records that changed lately, with their versions. */
  changed: (knex: Knex, since: Date | null) => Promise<Changes>
}

/** A window of the limiter that is counted where the state is read: both are one round trip. */
export type Counted = {
  key: string
  lifeMs: number
  /** It counts only where what is kept holds one of these; without them it counts in any case. */
  ifHolds?: readonly string[]
}
export type Found<T> = {
  state: T | null
  /** The count after this request; null where Redis did not count. */
  used: number | null
  /** From the database itself, and not from anything remembered. */
  isFresh: boolean
}

// One answer of Redis to both questions of a request: what is kept of its credential, and how often it came in this minute.
const ask = `
local kept = redis.call('get', KEYS[1])
local counts = #ARGV == 1
for i = 2, #ARGV do
  if kept and string.find(kept, ARGV[i], 1, true) then counts = true end
end
if not counts then return {kept, false} end
local n = redis.call('incr', KEYS[2])
if n == 1 then redis.call('pexpire', KEYS[2], ARGV[1]) end
return {kept, n}`

// Neither a tombstone, nor a mark, nor a newer version gives way to what a slow reader brings.
const refill = `
local kept = redis.call('get', KEYS[1])
if kept == '${gone}' or kept == '${changed}' then return 0 end
if kept and tonumber(string.match(kept, '^(%d+)|') or '0') >= tonumber(ARGV[1]) then return 0 end
redis.call('set', KEYS[1], ARGV[1] .. '|' .. ARGV[2], 'EX', ARGV[3])
return 1`

export type Memory<T> = {
  /** One round trip to Redis; PostgreSQL where Redis knows nothing, something old, or is away. */
  find: (id: string, counted: Counted) => Promise<Found<T>>
  /** The truth, whatever is remembered; and it is remembered from now on. */
  reread: (id: string) => Promise<T | null>
  /** After the commit: these are over, everywhere and at once. */
  bury: (ids: readonly string[]) => Promise<void>
  /** After the commit: what is kept of these is old. */
  forget: (ids: readonly string[]) => Promise<void>
}

/**
 * Caches sessions or keys in Redis, and for seconds in the process while Redis is away. PostgreSQL is
 * the truth: at most twice a second a request reads what has changed, and older versions are not believed. So an end
 * holds everywhere within a second, even if Redis was emptied, was down, or missed a message.
 */
export const remember = <T extends Versioned>({ prefix, read, changed: changedSince }: Kind<T>): Memory<T> => {
  let changes: { of: Knex; since: number; at: Date | null; lookedAt: number; versions: Map<string, number> } | null =
    null
  let looking: Promise<void> | null = null
  // While Redis is away: this process alone, for seconds.
  const own = new LRUCache<string, T>({ max: 10_000, ttl: ownMs, perf: Date })

  const look = async (knex: Knex): Promise<void> => {
    // Entries older than any cache are forgotten by beginning anew.
    const goesOn = changes?.of === knex && Date.now() - changes.since < keptSeconds * 1_000
    const known =
      goesOn && changes
        ? changes
        : { of: knex, since: Date.now(), at: null, lookedAt: 0, versions: new Map<string, number>() }
    const begun = Date.now()
    const { at, versions } = await changedSince(knex, known.at)
    for (const [id, version] of versions) {
      known.versions.delete(id)
      known.versions.set(id, version)
    }
    changes = { ...known, at, lookedAt: begun }
  }

  const lookAtChanges = async (knex: Knex): Promise<void> => {
    if (changes?.of === knex && Date.now() - changes.lookedAt < lookEveryMs) return
    looking ??= look(knex).finally(() => {
      looking = null
    })
    await looking
  }

  const isOld = (id: string, version: number) => version < (changes?.versions.get(id) ?? 0)

  const load = async (id: string, redisAnswers: boolean): Promise<T | null> => {
    const state = await read(database(), id)
    if (!state) return null
    if (redisAnswers)
      await quickly((redis) =>
        redis.eval(refill, 1, `${prefix}:${id}`, state.version, JSON.stringify(state), keptSeconds),
      )
    else own.set(id, state)
    return state
  }

  const tell = async (ids: readonly string[], what: string, seconds: number): Promise<void> => {
    if (ids.length === 0) return
    for (const id of ids) own.delete(id)
    if (changes) changes.lookedAt = 0
    await quickly(async (redis) => {
      const pipeline = redis.pipeline()
      for (const id of ids) pipeline.set(`${prefix}:${id}`, what, 'EX', seconds)
      await pipeline.exec()
    })
  }

  return {
    find: async (id, { key, lifeMs, ifHolds = [] }) => {
      const knex = database()
      const asking = quickly(
        (redis) =>
          redis.eval(ask, 2, `${prefix}:${id}`, key, lifeMs, ...ifHolds) as Promise<[string | null, number | null]>,
      )
      const [answer] = await Promise.all([asking, lookAtChanges(knex)])
      const [kept, used] = answer ?? [null, null]
      if (kept === gone) return { state: null, used, isFresh: true }
      if (kept !== null && kept !== changed) {
        const state = JSON.parse(kept.slice(kept.indexOf('|') + 1)) as T
        if (!isOld(id, state.version)) return { state, used, isFresh: false }
      }
      if (!answer) {
        const mine = own.get(id)
        if (mine && !isOld(id, mine.version)) return { state: mine, used, isFresh: false }
      }
      return { state: await load(id, answer !== null), used, isFresh: true }
    },
    reread: (id) => load(id, true),
    bury: (ids) => tell(ids, gone, keptSeconds + 60),
    forget: (ids) => tell(ids, changed, markSeconds),
  }
}
