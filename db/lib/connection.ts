import type { Knex } from 'knex'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { settings } from '../../config/env.ts'
import { log } from '../../config/log.ts'
import { traceIdOf } from '../../config/tracing.ts'
import { ApiError, conflict, recoveryOf } from '../../config/errors.ts'
import { movedInKey, readMovedIn } from './moved-in.ts'
import type { Statement } from './prepared.ts'
import { database } from './pool.ts'
import { prepared } from './sql.ts'
import { outboxOf, transact } from './transaction.ts'
import { wakeRelay } from './wake.ts'

export type { Statement } from './prepared.ts'
export { closeDatabase, database, makeKnex, openDatabase } from './pool.ts'
export { gather, later, prepared, preparedOne, sql, sqlOne } from './sql.ts'
export { lastly } from './transaction.ts'

export type Actor = { type: 'user' | 'superuser' | 'support' | 'api_key' | 'guest' | 'system'; id: string | null }
export type Context = {
  tenantId: string | null
  actor: Actor
  requestId: string
  traceparent: string | null
  /** The event that led to this one. */
  causeId: string | null
  address: string | null
  /** The support session that causes this, and the job that does. */
  supportSessionId: string | null
  jobId: string | null
}

declare const scope: unique symbol
/** A transaction of one tenant. */
export type Trx = Knex.Transaction & { readonly [scope]: 'tenant' }
/** A transaction that sees the platform's tables, and no tenant's. */
export type PlatformTrx = Knex.Transaction & { readonly [scope]: 'platform' }
export type AnyTrx = Trx | PlatformTrx

const contexts = new WeakMap<object, Context>()
const afterCommit = new WeakMap<object, (() => void)[]>()

export const contextOf = (trx: AnyTrx): Context => {
  const context = contexts.get(trx)
  if (!context) throw new Error('this transaction was not opened by inTenant or inPlatform')
  return context
}

/** For lines written inside a transaction: they name the request and the trace that it belongs to. */
export const logOf = (trx: AnyTrx) => {
  const { requestId, traceparent } = contextOf(trx)
  return log.child({ requestId, traceId: traceIdOf(traceparent) })
}

/** Runs once the transaction has committed; for hints only, since a crash in between loses it. */
export const onCommit = (trx: AnyTrx, run: () => void) => {
  const list = afterCommit.get(trx)
  if (list) list.push(run)
  else afterCommit.set(trx, [run])
}

export const systemContext = (tenantId: string | null, given: Partial<Context> = {}): Context => ({
  actor: { type: 'system', id: null },
  traceparent: null,
  causeId: null,
  address: null,
  supportSessionId: null,
  jobId: null,
  ...given,
  requestId: given.requestId ?? randomUUID(),
  tenantId,
})

/** Unwraps PostgreSQL's error from one of Objection. */
export const nativeError = (error: unknown): unknown =>
  error instanceof Error && 'nativeError' in error ? error.nativeError : error

/** SQLSTATE of an error of PostgreSQL, else null. */
export const sqlState = (error: unknown) => {
  const native = nativeError(error)
  return native instanceof Error && 'code' in native && typeof native.code === 'string' ? native.code : null
}

const repeatable = new Set(['40001', '40P01'])
const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '08000',
  '08003',
  '08006',
  '08001',
  '53300',
])

/** Tells whether the error says that PostgreSQL cannot be reached, rather than that it refused something. */
export const isUnreachable = (error: unknown): boolean => {
  const code = sqlState(error)
  if (code !== null && unreachable.has(code)) return true
  if (!(error instanceof Error)) return false
  return (
    /Connection terminated|timeout expired|Timeout acquiring a connection|Client has encountered a connection error|the database system is/i.test(
      error.message,
    ) || isUnreachable(error.cause)
  )
}

export type OpenOptions = {
  repeats?: number
  isolation?: 'read committed' | 'repeatable read'
  readOnly?: boolean
  /** Goes with the beginning, where it can; `work` is given its rows. */
  first?: Statement | undefined
  /** More settings that hold until the end of the transaction, constants alone. */
  local?: Readonly<Record<string, string>>
  /** Enters a tenant that has moved to another installation as well: for what ends it here. */
  evenMoved?: boolean
  /** The code of a lock that is not had in time. */
  busy?: 'inventory_contended' | 'ledger_busy'
}
type Work<T> = (trx: never, rows: never[]) => Promise<T>

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The tenant has moved to another installation: nothing enters it here any more. */
export class TenantMoved extends ApiError {
  constructor(cause: unknown) {
    super('service_unavailable', 'The tenant moves to another installation; send the request there', {
      retryAfterSeconds: 60,
      cause,
    })
  }
}

/** Enters a tenant, unless it has moved away, or came from elsewhere and this process has yet to learn its index key. Constant texts: they stay planned. */
const entering = (evenMoved: boolean) => `set_config('app.tenant_id', :tenantId, true),
  (select refuse_entry(m.direction) from tenant_move m where m.tenant_id = nullif(:tenantId, '')::uuid
     and ${evenMoved ? '' : `(m.direction = 'out' or `}m.direction = 'in' and not :isKnown::boolean${evenMoved ? '' : ')'})`

const entryOf = (tenantId: string) => ({ tenantId, isKnown: movedInKey(database(), tenantId) !== undefined })

const openingOf = (
  tenantId: string | null,
  scope: string,
  { isolation, readOnly, local, evenMoved = false }: OpenOptions,
): Statement[] => {
  if (tenantId !== null && !uuid.test(tenantId)) throw new TypeError('a tenant is named by a uuid')
  const configs = [
    tenantId === null ? `set_config('app.tenant_id', '', true)` : entering(evenMoved),
    `set_config('app.scope', :scope, true)`,
    ...Object.entries({ lock_timeout: `${settings.lockPatienceMs}ms`, ...local }).map(
      ([name, value]) => `set_config('${name}', '${value}', true)`,
    ),
  ]
  return [
    {
      text: `begin${isolation === undefined ? '' : ` isolation level ${isolation}`}${readOnly ? ' read only' : ''}`,
      bindings: [],
    },
    { text: `select ${configs.join(', ')}`, bindings: { ...(tenantId === null ? {} : entryOf(tenantId)), scope } },
  ]
}

const run = async <T>(scope: '' | 'platform', context: Context, work: Work<T>, options: OpenOptions): Promise<T> => {
  const recovered = new Set<string>()
  for (let attempt = 1; ; attempt += 1) {
    let committed: (() => void)[] = []
    const opening = openingOf(context.tenantId, scope, options)
    try {
      const result = await transact(database(), opening, async (trx) => {
        contexts.set(trx, context)
        const { first } = options
        const rows = first ? await prepared(trx, first.text, first.bindings) : []
        const value = await work(trx as never, rows as never[])
        committed = afterCommit.get(trx) ?? []
        return value
      })
      for (const hook of committed) hook()
      return result
    } catch (error) {
      const recover = recoveryOf(error)
      const reason = error instanceof ApiError ? error.code : ''
      if (recover && !recovered.has(reason)) {
        recovered.add(reason)
        if (await recover()) continue
        throw error
      }
      const code = sqlState(error)
      if (code === 'PM001') throw new TenantMoved(error)
      if (code === 'PM002' && !recovered.has(code)) {
        recovered.add(code)
        await readMovedIn(database())
        continue
      }
      if (code !== null && repeatable.has(code)) {
        if (attempt > (options.repeats ?? 3)) throw busy(error)
        await wait(5 + Math.random() * 25 * attempt)
        continue
      }
      if (code === '55P03') throw busy(error, options.busy)
      throw error
    }
  }
}

const busy = (cause: unknown, code: NonNullable<OpenOptions['busy']> = 'inventory_contended') => {
  const error = conflict(code, 'Another change of the same records takes too long; repeat the request')
  return new ApiError(error.code, error.message, { cause, retryAfterSeconds: 1 })
}

/**
 * The only opener of tenant transactions. Deadlocks and serialisation failures repeat the work (up to 3 times); an error that
 * carries a recovery repeats it once for each code. A lock not had within LOCK_PATIENCE_MS is 409.
 */
export const inTenant = <T, Row = Record<string, unknown>>(
  tenantId: string,
  work: (trx: Trx, first: Row[]) => Promise<T>,
  context: Partial<Context> = {},
  options: OpenOptions = {},
): Promise<T> => run('', systemContext(tenantId, context), work as Work<T>, options)

/** For superuser handlers, the relay and sweeps: sees the platform's tables whole, and no row of a tenant's. */
export const inPlatform = <T, Row = Record<string, unknown>>(
  work: (trx: PlatformTrx, first: Row[]) => Promise<T>,
  context: Partial<Context> = {},
  options: OpenOptions = {},
): Promise<T> => run('platform', systemContext(null, context), work as Work<T>, options)

/** Rows of one statement in a platform transaction of its own, whose beginning and end go with it: one round trip. */
export const platformRows = async <Row = Record<string, unknown>>(
  { text, bindings }: Statement,
  options: OpenOptions = {},
): Promise<Row[]> => {
  let rows = Promise.resolve<Row[]>([])
  const ask = (trx: PlatformTrx) => {
    rows = prepared<Row>(trx, text, bindings)
    // Not waited for, so that the commit goes with it; which fails as it does.
    rows.catch(() => {})
    return Promise.resolve()
  }
  await inPlatform(ask, {}, options)
  return rows
}

/** For tables that belong to no tenant (users, sessions, the directory of properties): no tenant's rows and no platform rows. */
export const withoutTenant = <T>(
  work: (trx: AnyTrx) => Promise<T>,
  context: Partial<Context> = {},
  options: OpenOptions = {},
): Promise<T> => run('', systemContext(null, context), work as Work<T>, options)

/**
 * Enters a tenant inside an open platform transaction, for commands that make a tenant and fill it at once.
 * Everything after this sees that tenant alone, until the transaction ends. `actor` is set if it is known only now.
 */
export const enterTenant = async (
  trx: PlatformTrx,
  tenantId: string,
  actor?: Actor,
  { evenMoved = false }: Pick<OpenOptions, 'evenMoved'> = {},
): Promise<Trx> => {
  // Events and jobs from before belong to the tenant that was entered then.
  outboxOf(trx)?.release()
  await prepared(trx, `select ${entering(evenMoved)}`, entryOf(tenantId))
  contexts.set(trx, { ...contextOf(trx), tenantId, ...(actor ? { actor } : {}) })
  return trx as unknown as Trx
}

/** Tells the relay, after the commit, that there is work; it would find out by itself within 250 ms. */
export const wakeAfterCommit = (trx: AnyTrx) => onCommit(trx, wakeRelay)
