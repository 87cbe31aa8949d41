import type { AnyTrx, OpenOptions, PlatformTrx, Trx } from '../../db/lib/connection.ts'
import type { ErrorCode } from '../../config/error-codes.ts'
import type { Schema, Static } from '../../config/schema.ts'
import type { Access } from './access/kinds.ts'
import type { Admission, Caller } from './caller.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type RateClass =
  | 'credential'
  | 'public_read'
  | 'public_write'
  | 'sign_in'
  | 'refresh'
  | 'guest_access'
  | 'callback'
  | 'none'

/** Facts of a request that a handler may use beside its validated input. */
export type RequestFacts = {
  readonly id: string
  readonly method: string
  readonly path: string
  /** As sent, without its `?`. */
  readonly query: string
  /** The client's address by the trusted proxies; IPv6 whole. */
  readonly address: string
  /** One header by its lower-case name; '' where it is missing. */
  readonly header: (name: string) => string
  /** Names and values as sent, to see what came twice. */
  readonly rawHeaders: readonly string[]
  readonly rawBody: Buffer
  readonly traceparent: string | null
  readonly receivedAt: Date
  /** The limiter has counted it already. */
  readonly isCounted: boolean
  /** The client went away; long waits end. */
  readonly gone: AbortSignal
}

type Common<P, Q, B> = { params: P; query: Q; body: B; caller: Caller; request: RequestFacts }
/** `expectedVersion`: of If-Match, for commands that lock their record themselves. */
type Scoped<T> = { trx: T; expectedVersion: number | null }
type Opening<T> = { open: <R>(work: (trx: T) => Promise<R>, options?: OpenOptions) => Promise<R> }
type Work<T, None> = None extends 'none' ? Opening<T> : Scoped<T>

type ByAccess<A extends Access, None> = A['kind'] extends 'tenant'
  ? Work<Trx, None> & { tenantId: string; admission: Admission }
  : A['kind'] extends 'property'
    ? Work<Trx, None> & { tenantId: string; propertyId: string }
    : A['kind'] extends 'guest'
      ? Work<Trx, None> & { tenantId: string; bookingId: string }
      : A['kind'] extends 'registration'
        ? Work<Trx, None> & { tenantId: string; guestRegistrationId: string }
        : A['kind'] extends 'superuser'
          ? Work<PlatformTrx, None> & { level: 'N1' | 'N2' }
          : Work<AnyTrx, None>

type Value<S> = S extends Schema ? Static<S> : Record<string, never>

/** A reply that is not the route's usual status, or that carries headers of its own. */
export class Reply<T> {
  readonly body: T
  readonly status: number | undefined
  readonly headers: Record<string, string>
  constructor(body: T, { status, headers = {} }: { status?: number; headers?: Record<string, string> } = {}) {
    this.body = body
    this.status = status
    this.headers = headers
  }
}

/** A value that fits a reply: dates are written as instants, and fields that `returns` does not name are dropped. */
export type Loose<T> = unknown extends T
  ? unknown
  : T extends Uint8Array
    ? T
    : T extends string
      ? T | Date
      : T extends readonly (infer E)[]
        ? Loose<E>[]
        : T extends object
          ? { [K in keyof T]: Loose<T[K]> }
          : T

type PathParams<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [K in Name]: string } & PathParams<Rest>
  : Path extends `${string}:${infer Name}`
    ? { [K in Name]: string }
    : Record<never, never>

/** A reply before it is written. */
export type Answer = {
  status: number
  headers: Record<string, string>
  /** A Buffer is sent as it is, all else as JSON. */
  body: unknown
  /** The reply is saved under this name. */
  fileName?: string
}

export type PublicCall = { caller: Caller; tenantId: string; request: RequestFacts }

/** Input of a handler: the checked path, query and body, and the caller as the kind of access presents it. */
export type Input<A extends Access, Path extends string, P, Q, B, None> = Common<
  PathParams<Path> & (P extends Schema ? Static<P> : unknown),
  Value<Q>,
  Value<B>
> &
  ByAccess<A, None>

/** A request that the service makes to an address of the tenant. */
export type Hook = { name: string; summary: string; body: Schema }

export type RouteOptions = {
  /** Once per module and verb, such as `reservations.list`; names the operation in OpenAPI and the act in the audit trail. */
  id: string
  summary: string
  description?: string
  /** Usual status of success. */
  status?: 200 | 201
  /** Description of a 200 beside the usual 201; without it 200 is not answered. */
  ok?: string
  /** The fields that `sort` of its query takes, for the document; a list of a resource says them by itself. */
  sorts?: readonly string[]
  rate?: RateClass
  /** `required` where money or stock moves; `off` where a reply must not be kept. POST takes a key by default. */
  idempotency?: 'accepted' | 'required' | 'off'
  /** Largest body in bytes, where it is not that of the kind of access (`body.ts`). */
  bodyLimit?: number
  /** `raw`: the handler reads `request.rawBody` itself (callbacks). */
  bodyFormat?: 'json' | 'raw'
  /** The record that the path names: it is locked, and If-Match is compared with its version. */
  record?: {
    table: string
    param: string
    /** The column that the path names, where it is not `id`. */
    column?: string
    /** The command locks it, after what comes earlier in the one order of locks, and compares `expectedVersion` then. */
    lockedBy?: 'command'
  }
  /** `Cache-Control`; no-store by default. */
  cache?: string
  /** Codes that this endpoint answers beside those of its kind, for the document. */
  errors?: readonly ErrorCode[]
  /** Writes no audit entry where nothing of the house changes, such as pricing a stay. */
  readOnly?: boolean
  /** Always hashes a password: 429 `hashing_busy`, before anything of it is done, while too many wait for that. */
  hashes?: true
  catalogue?: false
  /** The credential in the document, where that is not plain from the access. */
  security?: 'bearer'
  /** Never done by a support session, beside what its subject and action say already (`config/support.ts`). */
  support?: 'never'
  /** Requests that an address gets which this endpoint has written down, for the document. */
  hooks?: readonly Hook[]
  /** The resource that made the endpoint (`resource.ts`), as what, and of which command: the suites over all resources go by it. */
  part?: { resource: string; verb: string; sorts?: readonly string[]; command?: unknown }
}

/**
 * Sent in the document's example, and by the tests: a body, or a query where there is no body. Records in it are named by `sampleId`, days
 * to come by `sampleDay`; tests put records and days of theirs in their place.
 */
export type ExampleOf<B> = B extends Schema ? Static<B> : never

export type Route<
  A extends Access = Access,
  Path extends string = string,
  P extends Schema | undefined = Schema | undefined,
  Q extends Schema | undefined = Schema | undefined,
  B extends Schema | undefined = Schema | undefined,
  R extends Schema = Schema,
  None extends 'none' | undefined = 'none' | undefined,
> = RouteOptions & {
  method: Method
  path: Path
  access: A
  /** Path parameters that are not UUIDs. */
  params?: P
  query?: Q
  body?: B
  example?: B extends Schema ? ExampleOf<B> : Partial<ExampleOf<Q>>
  returns: R
  /** `none`: no transaction is open while the handler runs; it opens short ones by `open`. For waits and hashing. */
  transaction?: None
  /** Runs the transaction of a public call and what comes before and after it, such as a count that is no part of it. */
  around?: (call: PublicCall, run: () => Promise<Answer>) => Promise<Answer>
  handle: (input: Input<A, Path, P, Q, B, None>) => Promise<Loose<Static<R>> | Reply<Loose<Static<R>>>>
  /** Takes secrets out of a reply before it is kept for its Idempotency-Key, */
  keep?: (body: Loose<Static<R>>) => unknown
  /** and puts fresh ones in when it is replayed. */
  replay?: (body: never, input: { caller: Caller; trx: Trx }) => Promise<unknown>
}

/** A route without its types, for code that goes through all routes. */
export type AnyRoute = RouteOptions & {
  method: Method
  path: string
  access: Access
  params?: Schema | undefined
  query?: Schema | undefined
  body?: Schema | undefined
  example?: unknown
  returns: Schema
  transaction?: 'none' | undefined
  around?: ((call: PublicCall, run: () => Promise<Answer>) => Promise<Answer>) | undefined
  handle: (input: never) => Promise<unknown>
  keep?: ((body: never) => unknown) | undefined
  replay?: ((body: never, input: { caller: Caller; trx: Trx }) => Promise<unknown>) | undefined
}

/** An endpoint. What is not in the value does not exist. */
export const route = <
  const A extends Access,
  const Path extends string,
  R extends Schema,
  P extends Schema | undefined = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  const None extends 'none' | undefined = undefined,
>(
  value: Route<A, Path, P, Q, B, R, None>,
): AnyRoute => value
