import knex from 'knex'
import type { Knex } from 'knex'
import { knexSnakeCaseMappers } from 'objection'
import pg from 'pg'
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { settings } from '../config/env.ts'
import { log } from '../config/log.ts'
import { traceIdOf } from '../config/tracing.ts'
import { ApiError, conflict, recoveryOf } from '../config/errors.ts'
import { watchPool } from './pool-metrics.ts'
import { wakeRelay } from './wake.ts'

export type Actor = { type: 'user' | 'superuser' | 'support' | 'api_key' | 'guest' | 'system'; id: string | null }
export type Context = {
  tenantId: string | null
  actor: Actor
  requestId: string
  traceparent: string | null
  /** The event that led to this one. */
  causeId: string | null
  address: string | null
}

declare const scope: unique symbol
/** A transaction of one tenant. */
export type Trx = Knex.Transaction & { readonly [scope]: 'tenant' }
/** A transaction that sees the platform's tables, and no tenant's. */
export type PlatformTrx = Knex.Transaction & { readonly [scope]: 'platform' }
export type AnyTrx = Trx | PlatformTrx

const safeInteger = (value: string) => {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is beyond the safe integers`)
  return number
}
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, safeInteger)
types.setTypeParser(pg.types.builtins.DATE, (value: string) => value)
types.setTypeParser(1182, (value: string) => value.slice(1, -1).split(',').filter(Boolean))

// The mappers of Objection rename the columns of built queries alone; what trx.raw answers has its rows one level down.
const mappers = knexSnakeCaseMappers() as {
  wrapIdentifier: NonNullable<Knex.Config['wrapIdentifier']>
  postProcessResponse: (result: unknown) => unknown
}
const isRawResult = (result: unknown): result is { rows: unknown } =>
  typeof result === 'object' && result !== null && !Array.isArray(result) && 'rows' in result && 'command' in result

const note = (message: unknown) => log.debug({ knex: String(message) }, 'knex')

/** A knex over one connection string, with the conversions that all code here relies on. */
export const makeKnex = (url: string, pool: number): Knex =>
  knex({
    client: 'pg',
    connection: {
      connectionString: url,
      types: { getTypeParser: types.getTypeParser.bind(types) },
      application_name: 'pousada',
      connectionTimeoutMillis: 3_000,
      keepAlive: true,
    } as Knex.PgConnectionConfig,
    pool: { min: 0, max: pool, acquireTimeoutMillis: 5_000, idleTimeoutMillis: 30_000, propagateCreateError: true },
    // Its own way is plain text on standard output, in the middle of the JSON lines.
    log: { warn: note, error: note, deprecate: note, debug: note },
    wrapIdentifier: mappers.wrapIdentifier,
    postProcessResponse: (result: unknown) => {
      if (!isRawResult(result)) return mappers.postProcessResponse(result)
      result.rows = mappers.postProcessResponse(result.rows)
      return result
    },
  } as Knex.Config)

let open: Knex | null = null

/** Connects the process to its database; an open connection to another is closed first. */
export const openDatabase = async (url = settings.databaseUrl, pool = settings.databasePool) => {
  await closeDatabase()
  if (!url) throw new Error('DATABASE_URL is not set')
  open = makeKnex(url, pool)
  watchPool(open)
  return open
}

export const closeDatabase = async () => {
  const closing = open
  open = null
  await closing?.destroy()
}

/** The pool itself: for health checks and reads that belong to no transaction. */
export const database = (): Knex => {
  if (!open) throw new Error('openDatabase() was not called')
  return open
}

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
  requestId: randomUUID(),
  traceparent: null,
  causeId: null,
  address: null,
  ...given,
  tenantId,
})

/** What PostgreSQL itself said, where a model of Objection has wrapped it. */
export const nativeError = (error: unknown): unknown =>
  error instanceof Error && 'nativeError' in error ? error.nativeError : error

const sqlState = (error: unknown) => {
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

/** Whether the error says that PostgreSQL cannot be reached, rather than that it refused something. */
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

type Options = { repeats?: number; isolation?: 'read committed' | 'repeatable read'; readOnly?: boolean }

const run = async <T>(
  begin: string,
  bindings: string[],
  context: Context,
  work: (trx: never) => Promise<T>,
  options: Options,
): Promise<T> => {
  let recovered = false
  for (let attempt = 1; ; attempt += 1) {
    let committed: (() => void)[] = []
    try {
      const result = await database().transaction(
        async (trx) => {
          contexts.set(trx, context)
          const [own] = await prepared<{ pid: number }>(trx, begin, bindings)
          if (own) await planAnew(trx, own.pid)
          const value = await work(trx as never)
          committed = afterCommit.get(trx) ?? []
          return value
        },
        options.isolation === undefined && !options.readOnly
          ? {}
          : { isolationLevel: options.isolation ?? 'read committed', readOnly: options.readOnly ?? false },
      )
      for (const hook of committed) hook()
      return result
    } catch (error) {
      const recover = recovered ? undefined : recoveryOf(error)
      if (recover) {
        recovered = true
        if (await recover()) continue
        throw error
      }
      const code = sqlState(error)
      if (code !== null && repeatable.has(code)) {
        if (attempt > (options.repeats ?? 3)) throw busy(error)
        await wait(5 + Math.random() * 25 * attempt)
        continue
      }
      if (code === '55P03') throw busy(error)
      throw error
    }
  }
}

const busy = (cause: unknown) => {
  const error = conflict('inventory_contended', 'Another change of the same records takes too long; repeat the request')
  return new ApiError(error.status, error.code, error.message, { cause, retryAfterSeconds: 1 })
}

/**
 * The only opener of tenant transactions. Deadlocks and serialisation failures repeat the work (up to 3 times); an error that
 * carries a recovery repeats it once. A lock not had within 2 s is 409.
 */
export const inTenant = <T>(
  tenantId: string,
  work: (trx: Trx) => Promise<T>,
  context: Partial<Context> = {},
  options: Options = {},
): Promise<T> =>
  run(
    `select set_config('app.tenant_id', ?, true), set_config('app.scope', '', true), set_config('lock_timeout', '2s', true), pg_backend_pid() as pid`,
    [tenantId],
    systemContext(tenantId, context),
    work as (trx: never) => Promise<T>,
    options,
  )

/** For superuser handlers, the relay and sweeps: sees the platform's tables whole, and no row of a tenant's. */
export const inPlatform = <T>(
  work: (trx: PlatformTrx) => Promise<T>,
  context: Partial<Context> = {},
  options: Options = {},
): Promise<T> =>
  run(
    `select set_config('app.tenant_id', '', true), set_config('app.scope', 'platform', true), set_config('lock_timeout', '2s', true), pg_backend_pid() as pid`,
    [],
    systemContext(null, context),
    work as (trx: never) => Promise<T>,
    options,
  )

/** For tables that belong to no tenant (users, sessions, the directory of properties): no tenant's rows and no platform rows. */
export const withoutTenant = <T>(
  work: (trx: AnyTrx) => Promise<T>,
  context: Partial<Context> = {},
  options: Options = {},
): Promise<T> =>
  run(
    `select set_config('app.tenant_id', '', true), set_config('app.scope', '', true), set_config('lock_timeout', '2s', true), pg_backend_pid() as pid`,
    [],
    systemContext(null, context),
    work as (trx: never) => Promise<T>,
    options,
  )

/**
 * Enters a tenant inside an open platform transaction, for commands that make a tenant and fill it at once.
 * What follows sees that tenant alone, until the transaction ends. `actor`: who acts from now on, where he is known only now.
 */
export const enterTenant = async (trx: PlatformTrx, tenantId: string, actor?: Actor): Promise<Trx> => {
  await trx.raw(`select set_config('app.tenant_id', ?, true)`, [tenantId])
  contexts.set(trx, { ...contextOf(trx), tenantId, ...(actor ? { actor } : {}) })
  return trx as unknown as Trx
}

/** Rows of a statement, columns in camelCase. `?` binds; write `\\?` for the operator. */
export const sql = async <Row = Record<string, unknown>>(
  trx: Knex,
  text: string,
  bindings: readonly unknown[] | Record<string, unknown> = [],
): Promise<Row[]> => {
  // Among named bindings knex would take `:id::uuid` for an identifier, and `::date` for a binding of that name.
  const safe = Array.isArray(bindings) ? text : text.replace(/::(?=\w)/g, ' :\\:')
  const result = await trx.raw(safe, bindings as never)
  return (result as { rows: Row[] }).rows
}

// Names of statements that PostgreSQL keeps planned, per connection.
const planned = new Map<string, string>()

const planOf = (text: string): string => {
  const known = planned.get(text)
  if (known !== undefined) return known
  // Made of the text: behind a pooler that hands connections around, another's statement of the same name would be run in its place.
  const name = createHash('sha256').update(text).digest('base64url')
  planned.set(text, name)
  return name
}

const plansLastMs = 10_000
const plannedAt = new Map<number, number>()

/** What was planned while a table was empty would be run so until something analyses it, however full it is by then. */
const planAnew = async (trx: Knex, pid: number): Promise<void> => {
  const now = Date.now()
  const before = plannedAt.get(pid)
  if (before !== undefined && now - before < plansLastMs) return
  // Of connections that were closed long ago.
  if (plannedAt.size > 1_000) plannedAt.clear()
  plannedAt.set(pid, now)
  if (before !== undefined && settings.databasePrepare) await trx.raw(`discard plans`)
}

/**
 * The same, for what runs all the time: each connection plans the statement once in ten seconds, which for those of the jobs table is most of their cost.
 * For constant texts only, since none is ever forgotten; one text may not bind different types.
 */
export const prepared = async <Row = Record<string, unknown>>(
  trx: Knex,
  text: string,
  bindings: readonly unknown[] | Record<string, unknown> = [],
): Promise<Row[]> => {
  if (!settings.databasePrepare) return sql<Row>(trx, text, bindings)
  const safe = Array.isArray(bindings) ? text : text.replace(/::(?=\w)/g, ' :\\:')
  const result = await trx.raw(safe, bindings as never).options({ name: planOf(text) })
  return (result as { rows: Row[] }).rows
}

export const preparedOne = async <Row = Record<string, unknown>>(
  trx: Knex,
  text: string,
  bindings: readonly unknown[] | Record<string, unknown> = [],
): Promise<Row | null> => (await prepared<Row>(trx, text, bindings))[0] ?? null

/** The only row of a statement, or null. */
export const sqlOne = async <Row = Record<string, unknown>>(
  trx: Knex,
  text: string,
  bindings: readonly unknown[] | Record<string, unknown> = [],
): Promise<Row | null> => (await sql<Row>(trx, text, bindings))[0] ?? null

/** Tells the relay, after the commit, that there is work; it would find out by itself within 250 ms. */
export const wakeAfterCommit = (trx: AnyTrx, queue: string) => onCommit(trx, () => wakeRelay(queue))
