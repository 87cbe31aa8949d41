import type { CarriedOver } from '../../db/auth/index.ts'
import { buryOf, forgetSession } from '../lib/session-cache.ts'
import { accessToken } from './session-token.ts'

/** After the commit: the other sessions are out everywhere, and the present one has its new token. */
export const carriedOver = async ({ token, revoked }: CarriedOver): Promise<string> => {
  await Promise.all([buryOf(revoked), forgetSession(token.sessionId)])
  return accessToken(token)
}
