import { crashPoint } from '../../config/crash.ts'
import { invalid, notFound, unauthenticated } from '../../config/errors.ts'
import { isUuid } from '../../config/validator.ts'
import { audit, hasAudited } from '../../db/audit.ts'
import { hashingBusy, isHashingFull } from '../../db/auth/hashing.ts'
import { database, inPlatform, inTenant, sqlOne, withoutTenant } from '../../db/connection.ts'
import type { AnyTrx, Context, PlatformTrx, Trx } from '../../db/connection.ts'
import { keepReply, requestHash, takeKey } from '../../db/idempotency.ts'
import { admit, admitPublic, admitSuperuser, ownTenant, refuseKey, requireSession } from './access/admission.ts'
import { authenticate, authenticateGuest } from './authenticate.ts'
import type { Admission, Caller } from './caller.ts'
import { actorOf, callerKey } from './caller.ts'
import { inputReader, readOnce } from './input.ts'
import type { Input } from './input.ts'
import { parseBody } from './json.ts'
import { metered } from './metering.ts'
import { presenter } from './present.ts'
import { within } from './access/properties.ts'
import { limit, rateClassOf } from './rate-limit.ts'
import { lockRecord } from './record.ts'
import { Reply } from './route.ts'
import type { AnyRoute, Answer, RequestFacts } from './route.ts'

type Loaded = {
  params: Record<string, string>
  search: URLSearchParams
  setHeader: (name: string, value: string) => void
}
type Handler = (input: unknown) => Promise<unknown>

const keyPattern = /^[\x21-\x7e]{1,255}$/

/** Who calls, by what the endpoint takes: guests by their token, portals' own servers by key, all others by session or key. */
const identify = (route: AnyRoute, request: RequestFacts): Promise<Caller> => {
  switch (route.access.kind) {
    case 'guest':
      return authenticateGuest(request)
    case 'open':
    case 'callback':
    case 'property':
      return authenticate(request, { anonymous: true })
    default:
      return authenticate(request, { anonymous: false })
  }
}

const idempotencyKey = (route: AnyRoute, request: RequestFacts): string | null => {
  const mode = route.idempotency ?? (route.method === 'POST' ? 'accepted' : 'off')
  const key = request.header('idempotency-key')
  if (mode === 'off' || route.transaction === 'none') return null
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

/** What a key stands for: who sent it, and with which request. */
const claimOf = (key: string, { method, path, rawBody }: RequestFacts, caller: Caller, tenantId: string | null) => {
  const hash = requestHash(method, path, rawBody)
  return { key, hash, owner: callerKey(caller, tenantId, hash) }
}

/** The version that the caller read, from `If-Match: "<version>"`. */
const expectedVersion = (request: RequestFacts): number | null => {
  const header = request.header('if-match')
  if (header === '' || header === '*') return null
  const version = /^"(\d{1,15})"$/.exec(header)?.[1]
  if (version === undefined) throw invalid([{ field: 'If-Match', message: 'must be a version in quotes, such as "3"' }])
  return Number(version)
}

// A property never changes its tenant; whether it is still there is found out in the transaction of that.
const tenants = new Map<string, string>()
const mostTenants = 10_000

const directory = async (propertyId: string): Promise<string> => {
  const missing = notFound('There is no such property here', 'property_not_found')
  if (!isUuid(propertyId)) throw missing
  const known = tenants.get(propertyId)
  if (known !== undefined) return known
  const row = await sqlOne<{ tenantId: string }>(
    database(),
    `select tenant_id from property_directory where property_id = ?`,
    [propertyId],
  )
  if (!row) throw missing
  if (tenants.size >= mostTenants) tenants.clear()
  tenants.set(propertyId, row.tenantId)
  return row.tenantId
}

/** One endpoint, from its value: authentication, rate, tenant, entitlement, role, validation, handler, in this order. */
export const endpoint = (route: AnyRoute) => {
  const read = inputReader(route)
  const present = presenter(route.returns)
  const handle = route.handle as Handler
  const usual = route.status ?? 200
  const rateClass = rateClassOf(route)

  const reply = (result: unknown): Answer => {
    const wrapped = result instanceof Reply ? (result as Reply<unknown>) : new Reply(result)
    const status = wrapped.status ?? usual
    if (status !== usual && route.ok === undefined) throw new Error(`${route.id} does not say what a ${status} means`)
    const body = present(wrapped.body)
    const version =
      typeof body === 'object' && body !== null && 'version' in body && typeof body.version === 'number'
        ? body.version
        : null
    return {
      status,
      headers: {
        ...(route.cache ? { 'Cache-Control': route.cache } : {}),
        ...(version === null ? {} : { ETag: `"${version}"` }),
        ...wrapped.headers,
      },
      body,
    }
  }

  /** Takes the key of a request. It may be asked for before it is wanted; what speaks against it is heard then. */
  const askKey = (trx: AnyTrx, caller: Caller, request: RequestFacts, tenantId: string | null) => {
    const asking = (async () => {
      const key = idempotencyKey(route, request)
      const claim = key === null ? null : claimOf(key, request, caller, tenantId)
      return { claim, kept: claim && (await takeKey(trx, claim.owner, claim.key, claim.hash)) }
    })()
    asking.catch(() => {})
    return asking
  }

  /** What is the same for every kind of caller once the transaction is open and the caller admitted. */
  const inside = async (
    trx: AnyTrx,
    caller: Caller,
    request: RequestFacts,
    extra: { admission?: Admission; [given: string]: unknown },
    input: Input,
    tenantId: string | null,
    asked?: ReturnType<typeof askKey>,
  ): Promise<Answer> => {
    const expected = expectedVersion(request)
    await lockRecord(trx, route, input.params, expected, extra.admission)
    const { claim, kept } = await (asked ?? askKey(trx, caller, request, tenantId))
    if (kept) {
      const body = route.replay ? await route.replay(kept.body as never, { caller, trx: trx as Trx }) : kept.body
      return { status: kept.status, headers: { ...kept.headers, 'Idempotent-Replayed': 'true' }, body }
    }
    const answer = reply(await handle({ trx, expectedVersion: expected, caller, request, ...extra, ...input }))
    if (route.access.kind === 'tenant') extra.admission?.settled(route.access.action, route.access.subject)
    if (route.method !== 'GET' && !route.readOnly && !hasAudited(trx))
      await audit(trx, {
        action: route.id,
        subjectType: 'subject' in route.access ? route.access.subject : (route.id.split('.')[0] ?? ''),
        subjectId: subjectId(input, answer),
      })
    if (claim)
      keepReply(trx, claim.owner, claim.key, claim.hash, {
        ...answer,
        body: route.keep ? route.keep(answer.body as never) : answer.body,
      })
    if (route.method !== 'GET') crashPoint('api.writing', route.id)
    return answer
  }

  const serve = async (request: RequestFacts, { params, search }: Loaded, caller: Caller): Promise<Answer> => {
    const { access } = route
    const context: Partial<Context> = {
      actor: actorOf(caller),
      requestId: request.id,
      traceparent: request.traceparent,
      address: request.address,
    }
    const input = (parsed?: unknown) => read(params, search, request.rawBody, parsed)
    const waits = route.transaction === 'none'

    switch (access.kind) {
      case 'tenant': {
        const tenantId = (params.tenantId ?? '').toLowerCase()
        if (!isUuid(tenantId)) throw invalid([{ field: 'tenantId', message: 'must be a UUID version 4' }])
        await refuseForeign(caller, tenantId, context)
        const open = <T>(work: (trx: Trx) => Promise<T>) => inTenant(tenantId, work, context)
        if (waits) {
          const admission = await open((trx) => admit(trx, caller, access, tenantId))
          const result = await handle({ open, tenantId, admission, caller, request, ...within(admission, input()) })
          admission.settled(access.action, access.subject)
          return reply(result)
        }
        return open(async (trx) => {
          const admission = await admit(trx, caller, access, tenantId)
          return inside(trx, caller, request, { tenantId, admission }, within(admission, input()), tenantId)
        })
      }
      case 'property': {
        const body = route.body && request.rawBody.length > 0 ? parseBody(request.rawBody) : undefined
        const propertyId = (await access.property({ params, body: body ?? {} })).toLowerCase()
        const tenantId = await directory(propertyId)
        if (caller.kind === 'api_key') ownTenant(caller, tenantId)
        const open = <T>(work: (trx: Trx) => Promise<T>) => inTenant(tenantId, work, context)
        if (waits) {
          await open((trx) => admitPublic(trx, access.feature))
          return reply(await handle({ open, tenantId, propertyId, caller, request, ...input(body) }))
        }
        const given = readOnce(() => input(body))
        const run = () =>
          open(async (trx) => {
            const admitted = admitPublic(trx, access.feature)
            const asked = askKey(trx, caller, request, tenantId)
            await admitted
            return inside(trx, caller, request, { tenantId, propertyId }, given.value(), tenantId, asked)
          })
        // What cannot be read is refused in its turn, and is nothing that `around` should know of.
        return route.around && given.isReadable() ? route.around({ caller, tenantId, request }, run) : run()
      }
      case 'guest': {
        if (caller.kind !== 'guest')
          throw unauthenticated('guest_token_missing', 'Send the X-Guest-Token of the booking')
        const { tenantId, bookingId, issuedAt } = caller
        const open = <T>(work: (trx: Trx) => Promise<T>) => inTenant(tenantId, work, context)
        const enter = async (trx: Trx) => {
          await admitPublic(trx, access.feature)
          await liveToken(trx, bookingId, issuedAt)
        }
        if (waits) {
          await open(enter)
          return reply(await handle({ open, tenantId, bookingId, caller, request, ...input() }))
        }
        return open(async (trx) => {
          await enter(trx)
          return inside(trx, caller, request, { tenantId, bookingId }, input(), tenantId)
        })
      }
      case 'superuser': {
        const staff = await admitSuperuser(caller, access)
        const open = <T>(work: (trx: PlatformTrx) => Promise<T>) =>
          inPlatform(work, { ...context, actor: { type: 'superuser', id: staff.userId } })
        return waits
          ? reply(await handle({ open, caller, request, ...input() }))
          : open((trx) => inside(trx, caller, request, {}, input(), null))
      }
      default: {
        if (access.kind === 'session') requireSession(caller)
        if (access.kind === 'open') refuseKey(caller)
        const open = <T>(work: (trx: AnyTrx) => Promise<T>) => withoutTenant(work, context)
        return waits
          ? reply(await handle({ open, caller, request, ...input() }))
          : open((trx) => inside(trx, caller, request, {}, input(), null))
      }
    }
  }

  return async (request: RequestFacts, loaded: Loaded): Promise<Answer> => {
    const caller = await identify(route, request)
    if (!request.isCounted) await limit(caller, rateClass, request, loaded.setHeader)
    if (route.hashes && isHashingFull()) throw hashingBusy()
    return metered(caller, () => serve(request, loaded, caller))
  }
}

/** A call for another tenant is refused before anything of that tenant is read, and is written to the trail of the caller's own. */
const refuseForeign = async (caller: Caller, tenantId: string, context: Partial<Context>) => {
  try {
    ownTenant(caller, tenantId)
  } catch (error) {
    const own = caller.kind === 'user' ? caller.activeTenantId : caller.kind === 'api_key' ? caller.tenantId : null
    if (own !== null)
      await inTenant(
        own,
        (trx) => audit(trx, { action: 'tenant.refused', subjectType: 'Tenant', subjectId: tenantId }),
        context,
      )
    throw error
  }
}

/** A guest token is dead when the booker's e-mail changed, or the data were erased, after it was made. */
const liveToken = async (trx: Trx, bookingId: string, issuedAt: Date) => {
  const row = await sqlOne<{ live: boolean }>(
    trx,
    `select guest_tokens_valid_from is null or date_trunc('second', guest_tokens_valid_from) <= ?::timestamptz as live from booking where id = ?`,
    [issuedAt.toISOString(), bookingId],
  )
  if (!row?.live) throw unauthenticated('guest_token_invalid', 'The guest token is not valid any more')
}

const subjectId = (input: Input, answer: Answer): string | null => {
  const { tenantId: _, ...named } = input.params
  const fromPath = Object.values(named).at(-1)
  if (fromPath) return fromPath
  const body = answer.body as Record<string, unknown> | null
  const id = body?.id ?? body?.bookingId ?? body?.paymentId
  return typeof id === 'string' ? id : null
}
