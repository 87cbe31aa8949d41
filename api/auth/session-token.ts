import { accessSeconds } from '../../db/auth/sessions.ts'
import { signToken } from '../lib/tokens.ts'

type Facts = { sessionId: string; userId: string; jti: string; epoch: number }

/** The access token of a session: who, which session, which generation of it; no role, no tenant, nothing personal. */
export const accessToken = ({ sessionId, userId, jti, epoch }: Facts, expiresAt?: Date): Promise<string> => {
  const now = new Date()
  const seconds = expiresAt ? Math.max(1, Math.round((expiresAt.getTime() - now.getTime()) / 1000)) : accessSeconds
  return signToken('access', { sub: userId, sid: sessionId, jti, ep: epoch }, Math.min(seconds, accessSeconds), now)
}
