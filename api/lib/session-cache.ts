import { changedSessions, sessionState } from '../../db/auth/index.ts'
import type { SessionState } from '../../db/auth/index.ts'
import { remember } from './credential-cache.ts'

/** The state of live sessions: one read of Redis a request, PostgreSQL where it must be. */
export const sessions = remember<SessionState>({
  prefix: 'sess',
  read: async (knex, sessionId) => {
    const state = await sessionState(knex, sessionId)
    return state?.revoked ? null : state
  },
  changed: changedSessions,
})

/** After the commit: these sessions are over, everywhere and at once. */
export const buryOf = sessions.bury

/** After the commit: what is kept of this session is old. */
export const forgetSession = (sessionId: string): Promise<void> => sessions.forget([sessionId])
