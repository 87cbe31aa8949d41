import { database } from '../../db/connection.ts'
import { sessionState } from '../../db/auth/sessions.ts'
import type { SessionState } from '../../db/auth/sessions.ts'
import { quickly } from './redis.ts'

const keptSeconds = 3_600
const changedSeconds = 10
const gone = 'revoked'
const changed = 'changed'

/**
 * The state of a session: one read of Redis, PostgreSQL where Redis knows nothing or is away. A tombstone says that it was revoked; a mark says
 * that it changed a moment ago, so that a reader that was slow cannot write back what it read before.
 */
export const readSession = async (sessionId: string): Promise<SessionState | null> => {
  const key = `sess:${sessionId}`
  const kept = await quickly((redis) => redis.get(key))
  if (kept === gone) return null
  if (kept !== null && kept !== changed) return JSON.parse(kept) as SessionState
  const state = await sessionState(database(), sessionId)
  if (!state || state.revoked) return null
  if (kept === null) await quickly((redis) => redis.set(key, JSON.stringify(state), 'EX', keptSeconds, 'NX'))
  return state
}

/** After the commit: these sessions are over, everywhere and at once. */
export const buryOf = async (sessionIds: readonly string[]): Promise<void> => {
  if (sessionIds.length === 0) return
  await quickly(async (redis) => {
    const pipeline = redis.pipeline()
    for (const id of sessionIds) pipeline.set(`sess:${id}`, gone, 'EX', keptSeconds + 60)
    await pipeline.exec()
  })
}

/** After the commit: what is kept of this session is old. */
export const forgetSession = async (sessionId: string): Promise<void> => {
  await quickly((redis) => redis.set(`sess:${sessionId}`, changed, 'EX', changedSeconds))
}
