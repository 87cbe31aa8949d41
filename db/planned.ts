import { createHash } from 'node:crypto'
import pg from 'pg'
import { settings } from '../config/env.ts'
import { log } from '../config/log.ts'

export type Bindings = readonly unknown[] | Record<string, unknown>

/** A statement of constant text, `:name` or `?` in it, and what they stand for. */
export type Statement = { text: string; bindings: Bindings }

/** What is read here of a connection of pg; its own types leave it out. */
export type Connection = {
  query: (text: string, done: (error: Error | null) => void) => void
  connection: { parsedStatements: Record<string, string | undefined> }
}

/** A text as PostgreSQL numbers its parameters, and under which name a connection keeps it planned. */
type Plan = { name: string; native: string; names: readonly string[] | null }

const plans = new Map<string, Plan>()

const numbered = (text: string, bindings: Bindings): Omit<Plan, 'name'> => {
  let count = 0
  const next = () => `$${(count += 1)}`
  if (Array.isArray(bindings))
    return { native: text.replace(/\\\?|\?/g, (found) => (found === '?' ? next() : '?')), names: null }
  const names: string[] = []
  const native = text.replace(/\\\?|::|:([a-z]\w*)/gi, (found, name: string | undefined) => {
    if (name === undefined || !(name in bindings)) return found === '\\?' ? '?' : found
    names.push(name)
    return next()
  })
  return { native, names }
}

const planOf = (text: string, bindings: Bindings): Plan => {
  const known = plans.get(text)
  if (known !== undefined) return known
  const made = numbered(text, bindings)
  // Made of the text: behind a pooler that hands connections around, another's statement of the same name would be run in its place.
  const plan = { ...made, name: createHash('sha256').update(made.native).digest('base64url') }
  plans.set(text, plan)
  return plan
}

const valuesOf = ({ names }: Plan, bindings: Bindings): readonly unknown[] => {
  if (names === null) return bindings as readonly unknown[]
  return names.map((name) => (bindings as Record<string, unknown>)[name])
}

/** The statement as the driver takes it, to be planned once per connection where statements are. */
export const plannedQuery = ({ text, bindings }: Statement) => {
  const plan = planOf(text, bindings)
  return {
    // knex numbers what question marks are left.
    sql: plan.native.replaceAll('?', '\\?'),
    bindings: valuesOf(plan, bindings),
    options: settings.databasePrepare ? { name: plan.name } : {},
  }
}

/** Stands in a list of PostgreSQL as it is; the word null would mean that nothing stands there. */
const isPlain = (item: unknown) =>
  Number.isFinite(item) || (typeof item === 'string' && /^(?!null$)[\w-]+$/i.test(item))

// PostgreSQL itself finds the type of what is quoted. What knex would take for a binding goes by parameters.
const literal = (value: unknown): string | null => {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return `'${value}'`
  if (Array.isArray(value)) return value.every(isPlain) ? `'{${value.join(',')}}'` : null
  return typeof value === 'string' && !/[?\\\0]/.test(value) ? pg.escapeLiteral(value) : null
}

let knowsNames = true

/**
 * True where PostgreSQL did not know a planned statement by our name for it: a pooler that hands connections around has given it one of
 * its own. From then on, statements go by themselves.
 */
export const isForeignName = (error: unknown): boolean => {
  if (!(error instanceof Error && 'code' in error && error.code === '26000')) return false
  if (knowsNames)
    log.info('statements are named by a pooler: none is joined with the beginning or the end of a transaction')
  knowsNames = false
  return true
}

/**
 * The statement as words of a longer text, where this connection has planned it before: so it needs no round trip of its own. Null
 * where it has not, or where its values do not stand for themselves (buffers, lists of more than ids).
 */
export const asWords = (connection: Connection, { text, bindings }: Statement): string | null => {
  if (!settings.databasePrepare || !knowsNames) return null
  const plan = planOf(text, bindings)
  if (connection.connection.parsedStatements[plan.name] !== plan.native) return null
  const literals = valuesOf(plan, bindings).map(literal)
  if (literals.includes(null)) return null
  return `execute "${plan.name}"${literals.length === 0 ? '' : `(${literals.join(', ')})`}`
}

/** Sends what no work waits for the outcome of: a connection that is broken says so to what follows. */
export const aside = (connection: Connection, text: string): Promise<void> =>
  new Promise((resolve) => connection.query(text, () => resolve()))

const plansLastMs = 10_000
const plannedAt = new WeakMap<Connection, number>()

/** What was planned while a table was empty would be run so until something analyses it, however full it is by then. */
export const planAnew = async (connection: Connection): Promise<void> => {
  if (!settings.databasePrepare) return
  const now = Date.now()
  const before = plannedAt.get(connection)
  if (before !== undefined && now - before < plansLastMs) return
  plannedAt.set(connection, now)
  if (before !== undefined) await aside(connection, 'discard plans')
}
