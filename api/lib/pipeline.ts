import { crashPoint } from '../../config/crash.ts'
import { audit, hasAudited } from '../../db/lib/audit.ts'
import { hashingBusy, isHashingFull } from '../../db/auth/index.ts'
import { forbidden } from '../../config/errors.ts'
import { inTenant } from '../../db/lib/connection.ts'
import type { AnyTrx, Trx } from '../../db/lib/connection.ts'
import { assertSupport } from './access/admission.ts'
import { within } from './access/properties.ts'
import { answerer } from './answer.ts'
import { authenticate, authenticateGuest, authenticateRegistration } from './authenticate.ts'
import { actorOf } from './caller.ts'
import type { Admission, Caller, UserCaller } from './caller.ts'
import { changesLedger } from './codes.ts'
import type { Call, Entry } from './entry/entry.ts'
import { guestEntry } from './entry/guest.ts'
import { openEntry } from './entry/open.ts'
import { propertyEntry } from './entry/property.ts'
import { registrationEntry } from './entry/registration.ts'
import { superuserEntry } from './entry/superuser.ts'
import { tenantEntry } from './entry/tenant.ts'
import { inputReader, readOnce } from './input.ts'
import type { Input } from './input.ts'
import { metered } from './metering.ts'
import { limit, rateClassOf } from './rate-limit.ts'
import { assertVersion, expectedVersion, lockRecord } from './record.ts'
import { keepAnswer, takeReplyKey } from './reply-key.ts'
import type { Taken } from './reply-key.ts'
import type { AnyRoute, Answer, RequestFacts } from './route.ts'

type Loaded = {
  params: Record<string, string>
  search: URLSearchParams
  setHeader: (name: string, value: string) => void
}
/** A route with what is made from it once. */
type Endpoint = {
  route: AnyRoute
  handle: (input: unknown) => Promise<unknown>
  read: ReturnType<typeof inputReader>
  answer: (result: unknown) => Answer
}
/** A request that came in: its transaction is open and its caller admitted. */
type Admitted = {
  trx: AnyTrx
  call: Call
  context: Entry<AnyTrx>['context']
  admission: Admission | undefined
  input: Input
  /** Its Idempotency-Key, where that was asked for before. */
  taking: Promise<Taken> | undefined
}

/** Identifies the caller by what the endpoint takes: a guest's token or link, no credential at all, or a session or key. */
const identify = ({ access: { kind } }: AnyRoute, request: RequestFacts): Promise<Caller> =>
  kind === 'guest'
    ? authenticateGuest(request)
    : kind === 'registration'
      ? authenticateRegistration(request)
      : authenticate(request, { anonymous: kind === 'open' || kind === 'callback' || kind === 'property' })

/** Throws where the caller's role has a condition that the endpoint has not asked for. */
const settle = ({ access }: AnyRoute, admission: Admission | undefined): void => {
  if (access.kind === 'tenant') admission?.settled(access.action, access.subject)
}

const subjectIdOf = (input: Input, answer: Answer): string | null => {
  const { tenantId: _, ...named } = input.params
  const fromPath = Object.values(named).at(-1)
  if (fromPath) return fromPath
  const body = answer.body as Record<string, unknown> | null
  const id = body?.id ?? body?.bookingId ?? body?.paymentId
  return typeof id === 'string' ? id : null
}

const auditWrite = async (
  trx: AnyTrx,
  route: AnyRoute,
  input: Input,
  answer: Answer,
  caller: Caller,
): Promise<void> => {
  // All that a support session sees or does stands in the trail of its tenant.
  const isSupport = caller.kind === 'user' && caller.support !== null
  if (hasAudited(trx) || (!isSupport && (route.method === 'GET' || route.readOnly))) return
  await audit(trx, {
    action: route.id,
    subjectType: 'subject' in route.access ? route.access.subject : (route.id.split('.')[0] ?? ''),
    subjectId: subjectIdOf(input, answer),
  })
}

/** Record lock, Idempotency-Key, handler, audit and kept reply, in the transaction of the request. */
const work = async (
  { route, handle, answer: answerOf }: Endpoint,
  { trx, call: { caller, request }, context, admission, input, taking }: Admitted,
): Promise<Answer> => {
  const expected = expectedVersion(request)
  const version = await lockRecord(trx, route, input.params, admission)
  const { claim, kept } = await (taking ?? takeReplyKey(trx, route, request, caller, context.tenantId ?? null))
  if (kept) {
    const body = route.replay ? await route.replay(kept.body as never, { caller, trx: trx as Trx }) : kept.body
    return { status: kept.status, headers: { ...kept.headers, 'Idempotent-Replayed': 'true' }, body }
  }
  // A repeated request has changed the version itself: its kept reply comes first.
  assertVersion(version, expected)
  const result = await handle({ trx, expectedVersion: expected, caller, request, ...context, admission, ...input })
  const answer = answerOf(result)
  settle(route, admission)
  await auditWrite(trx, route, input, answer, caller)
  if (claim) keepAnswer(trx, route, claim, answer)
  if (route.method !== 'GET') crashPoint('api.writing', route.id)
  return answer
}

/** Serves a route that opens its own transactions: it is admitted in a short one before. */
const serveWaiting = async <T extends AnyTrx>(
  { route, handle, answer }: Endpoint,
  { caller, request }: Call,
  { context, enter, open }: Entry<T>,
  read: () => Input,
): Promise<Answer> => {
  const admission = enter ? await open(enter) : undefined
  const input = admission ? within(admission, read()) : read()
  const result = await handle({ open, caller, request, ...context, admission, ...input })
  settle(route, admission)
  const answered = answer(result)
  if (caller.kind === 'user' && caller.support)
    await open((trx) =>
      audit(trx, {
        action: route.id,
        subjectType: 'subject' in route.access ? route.access.subject : (route.id.split('.')[0] ?? ''),
        subjectId: subjectIdOf(input, answered),
      }),
    )
  return answered
}

/** Serves a request through its way in: one transaction for all, unless the route opens its own. */
const serve = async <T extends AnyTrx>(
  endpoint: Endpoint,
  call: Call,
  entry: Entry<T>,
  search: URLSearchParams,
): Promise<Answer> => {
  const { route } = endpoint
  const { caller, request } = call
  const { context, enter, open } = entry
  const { tenantId } = context
  const read = () => endpoint.read(call.params, search, request.rawBody, entry.body)
  if (route.transaction === 'none') return serveWaiting(endpoint, call, entry, read)
  const given = readOnce(read)
  const run = () =>
    open(
      async (trx) => {
        const entering = enter?.(trx)
        const taking = entry.keyAtOnce ? takeReplyKey(trx, route, request, caller, tenantId ?? null) : undefined
        const admission = await entering
        const input = admission ? within(admission, given.value()) : given.value()
        return work(endpoint, { trx, call, context, admission, input, taking })
      },
      changesLedger(route) ? { busy: 'ledger_busy' } : {},
    )
  // A request that cannot be read is refused in its turn, and does not concern `around`.
  return route.around && tenantId !== undefined && given.isReadable()
    ? route.around({ caller, tenantId, request }, run)
    : run()
}

/** Routes of a user's own account that a support session has. */
const ofSupport = new Set(['auth.signOut', 'announcements.list'])

/** Refuses what no support session does, and writes it to the trail of the tenant that it is in. */
const refuseSupport = async (caller: UserCaller, route: AnyRoute, context: Call['context']): Promise<void> => {
  try {
    assertSupport(caller, route)
    if (route.access.kind === 'session' && !ofSupport.has(route.id))
      throw forbidden('forbidden', 'Insufficient permissions: this is never done in a support session')
  } catch (error) {
    const { activeTenantId } = caller
    const subjectType = 'subject' in route.access ? route.access.subject : (route.id.split('.')[0] ?? '')
    if (activeTenantId !== null)
      await inTenant(
        activeTenantId,
        (trx) =>
          audit(trx, {
            action: 'support_session.refused',
            subjectType,
            subjectId: caller.support?.id ?? null,
            changes: [{ field: 'route', after: route.id }],
          }),
        context,
      )
    throw error
  }
}

/** Lets a request in by its route's kind of access. */
const dispatch = async (endpoint: Endpoint, call: Call, search: URLSearchParams): Promise<Answer> => {
  const { route } = endpoint
  const { access } = route
  if (call.caller.kind === 'user' && call.caller.support) await refuseSupport(call.caller, route, call.context)
  switch (access.kind) {
    case 'tenant':
      return serve(endpoint, call, await tenantEntry(access, call), search)
    case 'property':
      return serve(endpoint, call, await propertyEntry(access, route, call), search)
    case 'guest':
      return serve(endpoint, call, guestEntry(access, call), search)
    case 'registration':
      return serve(endpoint, call, registrationEntry(access, call), search)
    case 'superuser':
      return serve(endpoint, call, await superuserEntry(access, call), search)
    case 'session':
    case 'open':
    case 'callback':
      return serve(endpoint, call, openEntry(access.kind, call), search)
  }
}

/** One endpoint, from its value: authentication, rate, tenant, entitlement, role, validation, handler, in this order. */
export const endpoint = (route: AnyRoute) => {
  const prepared: Endpoint = {
    route,
    handle: route.handle as Endpoint['handle'],
    read: inputReader(route),
    answer: answerer(route),
  }
  const rateClass = rateClassOf(route)
  return async (request: RequestFacts, { params, search, setHeader }: Loaded): Promise<Answer> => {
    const caller = await identify(route, request)
    if (!request.isCounted) await limit(caller, rateClass, request, setHeader)
    if (route.hashes && isHashingFull()) throw hashingBusy()
    const context = {
      actor: actorOf(caller),
      requestId: request.id,
      traceparent: request.traceparent,
      address: request.address,
      supportSessionId: caller.kind === 'user' ? (caller.support?.id ?? null) : null,
    }
    if (context.supportSessionId !== null) setHeader('X-Support-Session', context.supportSessionId)
    return metered(caller, () => dispatch(prepared, { caller, request, params, context }, search))
  }
}
