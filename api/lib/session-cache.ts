import type { Knex } from 'knex'
import { changedSessions, keptSeconds, sessionState } from '../../db/auth/sessions.ts'
import type { SessionState } from '../../db/auth/sessions.ts'
import { database } from '../../db/connection.ts'
import { quickly } from './redis.ts'

const lookEveryMs = 500
const markSeconds = 10
const ownMs = 5_000
const most = 10_000
const gone = 'revoked'
const changed = 'changed'

/** What PostgreSQL says has changed lately: version by session. No cache is believed about an older version. */
let changes: { of: Knex; since: number; at: Date | null; lookedAt: number; versions: Map<string, number> } | null = null
let looking: Promise<void> | null = null

const look = async (knex: Knex): Promise<void> => {
  // What is older than any cache is forgotten by beginning anew.
  const goesOn = changes?.of === knex && Date.now() - changes.since < keptSeconds * 1_000
  const known =
    goesOn && changes
      ? changes
      : { of: knex, since: Date.now(), at: null, lookedAt: 0, versions: new Map<string, number>() }
  const { at, versions } = await changedSessions(knex, known.at)
  for (const [id, version] of versions) {
    known.versions.delete(id)
    known.versions.set(id, version)
  }
  changes = { ...known, at, lookedAt: Date.now() }
}

/**
 * Looks twice a second, when somebody asks, at which sessions have changed: so a revocation holds everywhere within a second even where Redis
 * was emptied, was down, or missed what it was told.
 */
const lookAtChanges = async (knex: Knex): Promise<void> => {
  if (changes?.of === knex && Date.now() - changes.lookedAt < lookEveryMs) return
  looking ??= look(knex).finally(() => {
    looking = null
  })
  await looking
}

const isOld = (sessionId: string, version: number) => version < (changes?.versions.get(sessionId) ?? 0)

// While Redis is away: this process alone, for seconds.
const own = new Map<string, { state: SessionState; until: number }>()

const keepOwn = (state: SessionState) => {
  if (own.size >= most) own.delete(own.keys().next().value ?? '')
  own.set(state.id, { state, until: Date.now() + ownMs })
}

// Neither a tombstone, nor a mark, nor a newer version gives way to what a slow reader brings.
const refill = `
local kept = redis.call('get', KEYS[1])
if kept == '${gone}' or kept == '${changed}' then return 0 end
if kept and tonumber(string.match(kept, '^(%d+)|') or '0') >= tonumber(ARGV[1]) then return 0 end
redis.call('set', KEYS[1], ARGV[1] .. '|' .. ARGV[2], 'EX', ARGV[3])
return 1`

/**
 * The state of a live session: one read of Redis, PostgreSQL where Redis knows nothing, something old, or is away. A tombstone says that it
 * was revoked; a mark says that it changed a moment ago.
 */
export const readSession = async (sessionId: string): Promise<SessionState | null> => {
  const knex = database()
  await lookAtChanges(knex)
  const key = `sess:${sessionId}`
  const kept = await quickly((redis) => redis.get(key).then((value) => ({ value })))
  if (kept?.value === gone) return null
  if (kept?.value && kept.value !== changed) {
    const state = JSON.parse(kept.value.slice(kept.value.indexOf('|') + 1)) as SessionState
    if (!isOld(sessionId, state.version)) return state
  }
  if (!kept) {
    const mine = own.get(sessionId)
    if (mine && mine.until > Date.now() && !isOld(sessionId, mine.state.version)) return mine.state
  }
  const state = await sessionState(knex, sessionId)
  if (!state || state.revoked) return null
  if (kept) await quickly((redis) => redis.eval(refill, 1, key, state.version, JSON.stringify(state), keptSeconds))
  else keepOwn(state)
  return state
}

/** After the commit: these sessions are over, everywhere and at once. */
export const buryOf = async (sessionIds: readonly string[]): Promise<void> => {
  if (sessionIds.length === 0) return
  for (const id of sessionIds) own.delete(id)
  if (changes) changes.lookedAt = 0
  await quickly(async (redis) => {
    const pipeline = redis.pipeline()
    for (const id of sessionIds) pipeline.set(`sess:${id}`, gone, 'EX', keptSeconds + 60)
    await pipeline.exec()
  })
}

/** After the commit: what is kept of this session is old. */
export const forgetSession = async (sessionId: string): Promise<void> => {
  own.delete(sessionId)
  if (changes) changes.lookedAt = 0
  await quickly((redis) => redis.set(`sess:${sessionId}`, changed, 'EX', markSeconds))
}
