import { invalid } from '../../config/errors.ts'
import type { AnyTrx } from '../../db/lib/connection.ts'
import { keepReply, requestHash, takeKey } from '../../db/lib/idempotency.ts'
import type { KeptReply } from '../../db/lib/idempotency.ts'
import { mediaTypesOf } from './bytes.ts'
import { callerKey } from './caller.ts'
import type { Caller } from './caller.ts'
import type { AnyRoute, Answer, RequestFacts } from './route.ts'

const keyPattern = /^[\x21-\x7e]{1,255}$/

/** Tells whether a route takes an Idempotency-Key. Replies of bytes are never kept. */
export const keyModeOf = ({ method, idempotency, transaction, returns }: AnyRoute): 'accepted' | 'required' | 'off' =>
  transaction === 'none' || mediaTypesOf(returns) ? 'off' : (idempotency ?? (method === 'POST' ? 'accepted' : 'off'))

const keyOf = (route: AnyRoute, request: RequestFacts): string | null => {
  const mode = keyModeOf(route)
  const key = request.header('idempotency-key')
  if (mode === 'off') return null
  if (key === '') {
    if (mode !== 'required') return null
    throw invalid(
      [{ field: 'Idempotency-Key', message: 'is required here' }],
      'idempotency_key_required',
      'Send an Idempotency-Key with this request',
    )
  }
  if (!keyPattern.test(key))
    throw invalid([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }])
  return key
}

/** The Idempotency-Key of a request, bound to its caller and content. */
type Claim = { key: string; owner: string; hash: Buffer }

const claimOf = (route: AnyRoute, request: RequestFacts, caller: Caller, tenantId: string | null): Claim | null => {
  const key = keyOf(route, request)
  if (key === null) return null
  const hash = requestHash(request)
  return { key, hash, owner: callerKey(caller, tenantId, hash) }
}

export type Taken = { claim: Claim | null; kept: KeptReply | null }

/**
 * Takes the Idempotency-Key of a request, with the reply kept for it. It may be asked for before it is needed: an error is
 * thrown where the promise is awaited, and is no unhandled rejection until then.
 */
export const takeReplyKey = (
  trx: AnyTrx,
  route: AnyRoute,
  request: RequestFacts,
  caller: Caller,
  tenantId: string | null,
): Promise<Taken> => {
  const taking = (async () => {
    const claim = claimOf(route, request, caller, tenantId)
    return { claim, kept: claim && (await takeKey(trx, claim.owner, claim.key, claim.hash)) }
  })()
  taking.catch(() => {})
  return taking
}

/** Keeps the answer for its key, without what the route takes out of it. */
export const keepAnswer = (trx: AnyTrx, route: AnyRoute, { owner, key, hash }: Claim, answer: Answer): void =>
  keepReply(trx, owner, key, hash, {
    ...answer,
    body: route.keep ? route.keep(answer.body as never) : answer.body,
  })
