import knex from 'knex'
import type { Knex } from 'knex'
import { knexSnakeCaseMappers } from 'objection'
import pg from 'pg'
import { settings } from '../../config/env.ts'
import { log } from '../../config/log.ts'
import { watchPool } from './pool-metrics.ts'

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

/** Rows as PostgreSQL names their columns, in camelCase. */
export const inCamelCase = <Row>(rows: unknown): Row[] => mappers.postProcessResponse(rows) as Row[]

const note = (message: unknown) => log.debug({ knex: String(message) }, 'knex')

/** A knex over one connection string, with the conversions that all code here relies on. */
export const makeKnex = (url: string, pool: number): Knex => {
  return knex({
    client: 'pg',
    connection: {
      connectionString: url,
      types: { getTypeParser: types.getTypeParser.bind(types) },
      application_name: 'pousada',
      connectionTimeoutMillis: 3_000,
      keepAlive: true,
    } as Knex.PgConnectionConfig,
    pool: {
      min: 0,
      max: pool,
      acquireTimeoutMillis: settings.databasePatienceMs,
      idleTimeoutMillis: 30_000,
      propagateCreateError: true,
    },
    // Its own way is plain text on standard output, in the middle of the JSON lines.
    log: { warn: note, error: note, deprecate: note, debug: note },
    wrapIdentifier: mappers.wrapIdentifier,
    postProcessResponse: (result: unknown) => {
      if (!isRawResult(result)) return mappers.postProcessResponse(result)
      result.rows = mappers.postProcessResponse(result.rows)
      return result
    },
  } as Knex.Config)
}

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
