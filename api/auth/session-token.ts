import { signToken } from '../../config/tokens.ts'

type Facts = { sessionId: string; userId: string; jti: string; epoch: number; issuedAt: Date; expiresAt: Date }

/**
 * The access token of a session names the user, the session and its epoch; no role, no tenant, nothing personal. Equal facts make
 * the same token, byte for byte.
 */
export const accessToken = ({ sessionId, userId, jti, epoch, issuedAt, expiresAt }: Facts): Promise<string> =>
  signToken(
    'access',
    { sub: userId, sid: sessionId, jti, ep: epoch },
    Math.max(1, Math.round((expiresAt.getTime() - issuedAt.getTime()) / 1000)),
    issuedAt,
  )
